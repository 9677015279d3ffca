# SPDX-License-Identifier: Apache-2.0
"""Packed inputs: .npz archives and .npy.gz files. Python's zipfile and gzip write them, struct breaks them."""
import gzip
import io
import struct
import zipfile
import zlib

from support import CliTest, attend, main, npy_bytes, randoms

Q, K, V = (randoms(5, 4, seed=seed) for seed in (1, 2, 3))
DEFLATED, STORED = zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED


def archive(members, method=DEFLATED, **how):
    """The bytes of a zip archive; members are (name, bytes) pairs."""
    text = io.BytesIO()
    with zipfile.ZipFile(text, "w", method) as z:
        for name, data in members:
            with z.open(name, "w", **how) as member:
                member.write(data)
    return text.getvalue()


def qkv(method=DEFLATED, **how):
    return archive([(name + ".npy", npy_bytes(a)) for name, a in (("q", Q), ("k", K), ("v", V))], method, **how)


def patched(data, at, form, value):
    size = struct.calcsize(form)
    return data[:at] + struct.pack(form, value) + data[at + size:]


class Npz(CliTest):
    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return name

    def attention(self, q, k, v, **how):
        self.run_attn("run", "--q", q, "--k", k, "--v", v, "--dtype", "f64", "--reference", "-o", "out.npy", **how)
        self.near(self.get("out.npy"), attend(Q, K, V)["out"])

    def refused(self, path, *says):
        out, err = self.run_attn("run", "--q", path, "--k", path, "--v", path, expect=3)
        self.assertEqual(out, "")
        for words in (path.split(":")[0], *says):
            self.assertIn(words, err)


class Reading(Npz):
    def test_arrays_are_chosen_by_name(self):
        for method in (DEFLATED, STORED):
            self.write("a.npz", qkv(method))
            self.attention("a.npz:q", "a.npz:k", "a.npz:v")
        self.attention("a.npz:q.npy", "a.npz:k", "a.npz:v.npy")

    def test_the_only_array_needs_no_name(self):
        for name, a in ("q", Q), ("k", K), ("v", V):
            self.write(name + ".npz", archive([("arr_0.npy", npy_bytes(a))]))
        self.attention("q.npz", "k.npz", "v.npz")
        self.write("q.npz", archive([("readme.txt", b"hello"), ("arr_0.npy", npy_bytes(Q))]))
        self.attention("q.npz", "k.npz", "v.npz")

    def test_zip64_as_numpy_writes_it(self):
        self.write("a.npz", qkv(force_zip64=True))
        self.attention("a.npz:q", "a.npz:k", "a.npz:v")

    def test_zip64_in_the_directory(self):
        """Sizes and offsets that stand in the zip64 fields, as in an archive of more than 4 GiB."""
        data = npy_bytes(Q)
        name = b"q.npy"
        local = struct.pack("<IHHHHHIIIHH", 0x04034b50, 45, 0, 0, 0, 0, zlib.crc32(data), 0xFFFFFFFF, 0xFFFFFFFF,
                            len(name), 0) + name + data
        extra = struct.pack("<HHQQQ", 1, 24, len(data), len(data), 0)
        entry = struct.pack("<IHHHHHHIIIHHHHHII", 0x02014b50, 45, 45, 0, 0, 0, 0, zlib.crc32(data), 0xFFFFFFFF,
                            0xFFFFFFFF, len(name), len(extra), 0, 0, 0, 0, 0xFFFFFFFF) + name + extra
        at = len(local)
        end64 = struct.pack("<IQHHIIQQQQ", 0x06064b50, 44, 45, 45, 0, 0, 1, 1, len(entry), at)
        locator = struct.pack("<IIQI", 0x07064b50, 0, at + len(entry), 1)
        end = struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
        whole = local + entry + end64 + locator + end
        with zipfile.ZipFile(io.BytesIO(whole)) as z:  # Python reads it too
            self.assertEqual(z.read("q.npy"), data)
        self.write("q.npz", whole)
        self.write("k.npz", archive([("k.npy", npy_bytes(K))]))
        self.write("v.npz", archive([("v.npy", npy_bytes(V))]))
        self.attention("q.npz", "k.npz", "v.npz")
        self.write("q.npz", patched(whole, at + len(entry) + 48, "<Q", 1 << 60))
        self.refused("q.npz", "damaged")

    def test_an_archive_with_a_comment(self):
        text = io.BytesIO(qkv())
        with zipfile.ZipFile(text, "a") as z:
            z.comment = b"PK\5\6 is not the end" * 3
        self.write("a.npz", text.getvalue())
        self.attention("a.npz:q", "a.npz:k", "a.npz:v")

    def test_a_large_array_arrives_whole(self):
        q = [[float(i % 97)] * 64 for i in range(6000)]  # 3 MB, more than is taken on trust
        self.write("a.npz", archive([("q.npy", npy_bytes(q))]))
        self.put("q.npy", q)
        for name in ("q.npy", "a.npz"):
            self.run_attn("run", "--q", name, "--k", name, "--v", name, "--window", "2,0", "-o", name + ".out.npy")
        self.assertEqual(self.get("q.npy.out.npy"), self.get("a.npz.out.npy"))

    def test_gzip(self):
        for name, a in ("q", Q), ("k", K), ("v", V):
            self.write(name + ".npy.gz", gzip.compress(npy_bytes(a)))
        self.attention("q.npy.gz", "k.npy.gz", "v.npy.gz")

    def test_lists_and_traces_come_from_archives_too(self):
        self.write("a.npz", archive([("q.npy", npy_bytes(Q)), ("n.npy", npy_bytes([3], "<i8"))]))
        self.put("q.npy", Q)
        lists = [self.run_attn("run", "--q", "q.npy", "--k", "q.npy", "--v", "q.npy", "--lengths", n)[0] for n in ("a.npz:n", "3")]
        self.assertEqual(*lists)
        steps = [self.run_json("trace", "--x", x)["steps"] for x in ("a.npz:q", "q.npy")]
        self.assertEqual(*steps)

    def test_a_file_whose_own_name_has_a_colon(self):
        self.write("x.npz:q", npy_bytes(Q))
        self.put("k.npy", K)
        self.put("v.npy", V)
        self.attention("x.npz:q", "k.npy", "v.npy")


class Choosing(Npz):
    def test_several_arrays_need_a_name_and_are_listed(self):
        self.write("a.npz", qkv())
        self.refused("a.npz", "3 arrays", "FILE.npz:NAME", "q, k, v")

    def test_an_unknown_name(self):
        self.write("a.npz", qkv())
        self.refused("a.npz:w", "no array named w", "q, k, v")
        self.refused("a.npz:", "no array named")

    def test_many_names_are_cut_with_dots(self):
        self.write("a.npz", archive([("%s%03d.npy" % ("n" * 20, i), npy_bytes(Q)) for i in range(200)]))
        self.refused("a.npz", "200 arrays", "n000, ", ", ...")

    def test_a_name_twice(self):
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.write("a.npz", archive([("q.npy", npy_bytes(Q)), ("q.npy", npy_bytes(K))]))
        self.refused("a.npz:q", "2 arrays named q")

    def test_a_name_cannot_colour_the_terminal(self):
        self.write("a.npz", archive([("a\033[31m.npy", npy_bytes(Q)), ("b.npy", npy_bytes(Q))]))
        out, err = self.run_attn("run", "--q", "a.npz", "--k", "a.npz", "--v", "a.npz", expect=3)
        self.assertNotIn("\033", err)
        self.assertIn("a?[31m, b", err)

    def test_no_array_inside(self):
        self.write("a.npz", archive([("notes.txt", b"hello")]))
        self.refused("a.npz", "no array")
        self.write("b.npz", archive([]))
        self.refused("b.npz", "no array")

    def test_a_name_in_a_file_that_is_no_archive(self):
        self.write("a.npz", npy_bytes(Q))
        self.refused("a.npz:q", "not a .npz archive")

    def test_a_member_that_is_no_array(self):
        self.write("a.npz", archive([("q.npy", b"hello, I am a text")]))
        self.refused("a.npz", "not a .npy file")


class Hostile(Npz):
    def test_truncated_archives(self):
        data = qkv()
        for n in (1, 4, 30, len(data) // 2, len(data) - 23, len(data) - 1):
            self.write("a.npz", data[:n])
            self.refused("a.npz", "truncated")

    def test_every_broken_byte_is_an_error_or_harmless(self):
        """A flipped byte gives the same array (it stands where nothing depends on it) or an error, no wrong numbers."""
        data = archive([("q.npy", npy_bytes([[1.5, 2.5]]))])
        self.put("k.npy", [[1.0, 0.0]])
        harmless = 0
        for at in range(0, len(data), 3):
            self.write("a.npz", data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1:])
            try:
                self.run_attn("run", "--q", "a.npz", "--k", "k.npy", "--v", "a.npz", "--dtype", "f64", "-o", "o.npy")
            except AssertionError:
                self.run_attn("run", "--q", "a.npz", "--k", "k.npy", "--v", "a.npz", expect=3)
            else:
                harmless += 1
                self.near(self.get("o.npy"), [[1.5, 2.5]])
        self.assertLess(harmless, len(data) / 3 / 2)

    def test_a_wrong_checksum(self):
        data = qkv(STORED)
        at = data.index(npy_bytes(Q)) + len(npy_bytes(Q)) - 1
        self.write("a.npz", data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
        self.refused("a.npz:q", "checksum", "q.npy")

    def directory(self, data, name):
        """Where the entry of a member begins in the directory."""
        return data.rindex(b"PK\1\2", 0, data.rindex(name.encode()))

    def test_sizes_that_lie(self):
        data = qkv()
        at = self.directory(data, "v.npy")
        for field, form, value, says in ((24, "<I", 1 << 31, "cannot have"), (24, "<I", 40, ""), (20, "<I", 1 << 30, "beyond the end"),
                                         (20, "<I", 20, "ends early"), (42, "<I", 5, "not where"), (42, "<I", 1 << 30, "not where")):
            self.write("a.npz", patched(data, at + field, form, value))
            self.refused("a.npz:v", says)

    def test_more_bytes_than_promised(self):
        """The packed data goes on after the size in the directory: it is not unpacked."""
        array, bomb = npy_bytes(Q), npy_bytes(Q) + bytes(50_000_000)
        data = archive([("q.npy", bomb)])
        self.write("a.npz", patched(data, self.directory(data, "q.npy") + 24, "<I", len(array)))
        self.refused("a.npz", "more bytes than the array has")

    def test_fewer_bytes_than_promised(self):
        array = npy_bytes(Q)
        data = archive([("q.npy", array[:-8])])
        self.write("a.npz", patched(data, self.directory(data, "q.npy") + 24, "<I", len(array)))
        self.refused("a.npz", "truncated")

    def test_an_array_larger_than_memory(self):
        header = npy_bytes([], shape=(1 << 50,))
        self.write("a.npz", archive([("q.npy", header)]))
        self.refused("a.npz", "truncated: the header promises")
        self.write("q.npy.gz", gzip.compress(header))
        self.refused("q.npy.gz", "more than the memory of this machine")

    def test_methods_that_are_not_known(self):
        self.write("a.npz", qkv(zipfile.ZIP_BZIP2))
        self.refused("a.npz:q", "method 12", "savez_compressed")

    def test_encrypted_members(self):
        data = qkv()
        self.write("a.npz", patched(data, self.directory(data, "q.npy") + 8, "<H", 1))
        self.refused("a.npz:q", "encrypted")

    def test_several_parts(self):
        data = qkv()
        self.write("a.npz", patched(data, len(data) - 22 + 4, "<H", 3))
        self.refused("a.npz:q", "several parts")

    def test_broken_gzip_files(self):
        data = gzip.compress(npy_bytes(Q))
        for broken, says in ((data[:20], "truncated"), (data[:-3], "truncated"), (data + b"more", "other bytes follow"),
                             (data[:-8] + b"\0\0\0\0" + data[-4:], "damaged"), (gzip.compress(npy_bytes(Q) + b"x"), "more bytes"),
                             (gzip.compress(b"hello"), "not a .npy file"), (b"\x1f\x8b", "truncated"), (b"\x1fzzzzzzzzzzzz", "damaged")):
            self.write("q.npy.gz", broken)
            self.refused("q.npy.gz", says)

    def test_standard_input_is_not_unpacked(self):
        for data, says in ((qkv(), "must be a file"), (gzip.compress(npy_bytes(Q)), "gzip -dc")):
            err = self.run_attn("run", "--q", "-", "--k", "-", "--v", "-", input=data, expect=3)[1]
            self.assertIn(says, err)


if __name__ == "__main__":
    main()
