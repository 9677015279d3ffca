# SPDX-License-Identifier: Apache-2.0
"""attn run and its files: what is refused and how it is said, standard streams, outputs that appear
complete or not at all."""
import os
import resource
import signal
import stat
import subprocess
import unittest

from support import ATTN, WINDOWS, CliTest, attend, main, npy_bytes, posix_only, randoms, read_npy


class Files(CliTest):
    def setUp(self):
        super().setUp()
        self.a = randoms(4, 3, seed=1)
        self.put("a.npy", self.a)
        self.inputs = ["run", "--q", "a.npy", "--k", "a.npy", "--v", "a.npy"]

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return name

    def refused(self, *args, says, code=3, **how):
        """attn must refuse with this code, say all of these and leave no new file."""
        before = self.files()
        out, err = self.run_attn(*args, expect=code, **how)
        self.assertEqual(out, "")
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, err)
        self.assertEqual(self.files(), before)


class BadInputs(Files):
    def test_a_missing_file(self):
        self.refused("run", "--q", "no.npy", "--k", "a.npy", "--v", "a.npy", "-o", "o.npy",
                     says=["no.npy", "No such file"])

    def test_a_folder(self):
        os.mkdir(self.path("folder.npy"))
        self.refused("run", "--q", "folder.npy", "--k", "a.npy", "--v", "a.npy", says=["folder.npy", "directory"])

    def test_no_npy_at_all(self):
        self.write("text.npy", b"hello, world")
        self.refused("run", "--q", "text.npy", "--k", "a.npy", "--v", "a.npy", says=["text.npy", "not a .npy file"])
        self.write("empty.npy", b"")
        self.refused("run", "--q", "a.npy", "--k", "empty.npy", "--v", "a.npy", says=["empty.npy", "not a .npy file"])

    def test_a_truncated_file(self):
        self.write("t.npy", npy_bytes(self.a)[:-8])
        self.refused("run", "--q", "a.npy", "--k", "t.npy", "--v", "a.npy",
                     says=["t.npy", "promises 96 bytes", "88 are present"])

    def test_a_file_with_more(self):
        self.write("m.npy", npy_bytes(self.a) + b"x")
        self.refused("run", "--q", "a.npy", "--k", "m.npy", "--v", "a.npy", says=["m.npy", "1 bytes follow"])

    def test_a_header_that_promises_everything(self):
        data = npy_bytes([0.0] * 4).replace(b"(4,), }      ", b"(9999999999,)")
        self.write("h.npy", data)
        self.refused("run", "--q", "a.npy", "--k", "h.npy", "--v", "a.npy", says=["h.npy"])

    def test_ranks(self):
        self.put("r1.npy", [1.0, 2.0])
        self.put("r5.npy", [[[[[1.0]]]]])
        for name in ("r1.npy", "r5.npy"):
            self.refused("run", "--q", name, "--k", "a.npy", "--v", "a.npy", says=[name, "expected rank 2 to 4"])
        self.put("m5.npy", [[[[[1]]]]], "|b1")
        self.refused(*self.inputs, "--mask", "m5.npy", says=["m5.npy", "expected rank 1 to 4"])

    def test_shapes_that_do_not_fit(self):
        self.put("d.npy", randoms(4, 5))
        self.refused("run", "--q", "a.npy", "--k", "d.npy", "--v", "a.npy",
                     says=["d.npy: f8 (4, 5) has head size 5, expected 3 as in a.npy: f8 (4, 3)"])
        self.put("n.npy", randoms(6, 3))
        self.refused("run", "--q", "a.npy", "--k", "a.npy", "--v", "n.npy",
                     says=["n.npy: f8 (6, 3) has row count 6, expected 4 as in a.npy"])
        self.put("h3.npy", randoms(3, 4, 3))
        self.put("h2.npy", randoms(2, 4, 3))
        self.refused("run", "--q", "h3.npy", "--k", "h2.npy", "--v", "h2.npy",
                     says=["h2.npy: 2 key heads", "do not divide the 3 query heads"])
        self.put("b2.npy", randoms(2, 1, 4, 3))
        self.refused("run", "--q", "b2.npy", "--k", "a.npy", "--v", "a.npy", says=["a.npy", "batch size 1, expected 2"])

    def test_types_that_do_not_fit(self):
        self.put("f.npy", [[0.0] * 4] * 4)
        self.refused(*self.inputs, "--mask", "f.npy", says=["f.npy", "belong to --bias"])
        self.put("i.npy", [[0] * 4] * 4, "<i4")
        self.refused(*self.inputs, "--bias", "i.npy", says=["i.npy", "belongs to --mask"])
        self.put("two.npy", [0, 1, 2, 1], "<i4")
        self.refused(*self.inputs, "--mask", "two.npy", says=["two.npy: value 2 at element 2, expected 0 or 1"])
        self.put("s.npy", [0.0, 0.0])
        self.refused(*self.inputs, "--sinks", "s.npy", says=["s.npy", "expected floats (1,)"])
        self.refused(*self.inputs, "--lengths", "s.npy", says=["s.npy", "expected integers of rank 1"])

    def test_masks_that_do_not_broadcast(self):
        self.put("m.npy", [[1] * 4] * 3, "|b1")
        self.refused(*self.inputs, "--mask", "m.npy", says=["mask", "m.npy: b1 (3, 4)"])
        self.put("m.npy", [1] * 5, "|b1")
        self.refused(*self.inputs, "--mask", "m.npy", says=["mask", "m.npy: b1 (5,)"])

    def test_square_patterns(self):
        self.put("q.npy", randoms(2, 3))
        self.refused("run", "--q", "q.npy", "--k", "a.npy", "--v", "a.npy", "--pattern", "longformer:1,1",
                     says="needs n_q = n_k")

    def test_lengths_out_of_range(self):
        self.refused(*self.inputs, "--lengths", "5", says="len_k", code=2)
        self.refused(*self.inputs, "--lengths-q", "-1", says="len_q", code=2)

    def test_results_larger_than_memory(self):
        self.put("h.npy", [0.5] * 4096 * 16, shape=(4096, 16, 1))  # times 10^9 numbers of 8 bytes: 500 TB
        self.refused("run", "--q", "h.npy", "--k", "h.npy", "--v", "h.npy", "--topk", "999999999:t.npy",
                     says=["more than this machine's memory"], code=1)


class Outputs(Files):
    def test_folders_that_do_not_exist(self):
        self.refused(*self.inputs, "-o", "no/o.npy", says=["no/o.npy", "No such file", "folder"])

    def test_a_folder_as_output(self):
        os.mkdir(self.path("d"))
        self.refused(*self.inputs, "-o", "d", says=["d: cannot be written", "directory"])

    def test_all_or_nothing(self):
        self.refused(*self.inputs, "--lse", "l.npy", "-o", "o.npy", "--weights", "no/w.npy", says="no/w.npy")

    def test_the_old_file_stays_when_a_run_fails(self):
        self.write("o.npy", b"precious")
        self.refused(*self.inputs, "-o", "o.npy", "--temperature", "-1", says="temperature", code=2)
        with open(self.path("o.npy"), "rb") as f:
            self.assertEqual(f.read(), b"precious")

    def test_the_output_may_replace_an_input(self):
        self.run_attn(*self.inputs, "-o", "a.npy")
        self.near(self.get("a.npy"), attend(self.a, self.a, self.a)["out"])
        self.assertEqual(self.files(), ["a.npy"])

    def test_names_are_utf_8(self):
        self.run_attn(*self.inputs, "-o", "größe→.npy")
        self.near(self.get("größe→.npy"), attend(self.a, self.a, self.a)["out"])
        self.refused(*self.inputs, "-o", "fehlt/ü.npy", says="fehlt/ü.npy")

    @unittest.skipUnless(WINDOWS, "Windows only")
    def test_paths_of_windows(self):
        os.mkdir(self.path("d"))
        drive = "Z:" + self.path("a.npy").replace("/", "\\")
        self.run_attn("run", "--q", drive, "--k", ".\\a.npy", "--v", "a.npy", "-o", "d\\o.npy")
        self.near(self.get("d/o.npy"), attend(self.a, self.a, self.a)["out"])

    @posix_only
    def test_links_are_followed(self):
        self.write("real.npy", b"old")
        os.symlink("real.npy", self.path("link.npy"))
        self.run_attn(*self.inputs, "-o", "link.npy")
        self.assertTrue(os.path.islink(self.path("link.npy")))
        self.near(self.get("real.npy"), attend(self.a, self.a, self.a)["out"])

    @posix_only
    def test_permissions(self):
        old = os.umask(0o027)
        try:
            self.run_attn(*self.inputs, "-o", "new.npy")
        finally:
            os.umask(old)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("new.npy")).st_mode), 0o640)
        os.chmod(self.path("new.npy"), 0o600)
        self.run_attn(*self.inputs, "-o", "new.npy")
        self.assertEqual(stat.S_IMODE(os.stat(self.path("new.npy")).st_mode), 0o600)

    @posix_only
    def test_devices_stay_devices(self):
        os.mkfifo(self.path("pipe"))
        reader = subprocess.Popen(["cat", "pipe"], cwd=self.folder.name, stdout=subprocess.PIPE)
        self.addCleanup(reader.wait)
        self.addCleanup(reader.kill)
        self.run_attn(*self.inputs, "-o", "pipe")
        data = reader.communicate(timeout=20)[0]
        self.near(read_npy(data)[1], attend(self.a, self.a, self.a)["out"])
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))

    @posix_only
    def test_a_file_that_may_not_grow_is_refused_and_nothing_is_left(self):
        # a limit on file sizes stands for a full disk: /dev/full would be at risk if the test ever failed as root
        def no_growth():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
        done = subprocess.run([ATTN, *self.inputs, "-o", "out.npy"], cwd=self.folder.name, preexec_fn=no_growth,
                              stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 3)
        self.assertIn("out.npy", done.stderr.decode())
        self.assertEqual(self.files(), ["a.npy"])

    def test_topk_names_its_keys(self):
        self.run_attn(*self.inputs, "--topk", "2:t")
        self.assertEqual(self.files(), ["a.npy", "t", "t.keys.npy"])


class Streams(Files):
    def test_arrays_come_from_standard_input_one_after_another(self):
        q, k, v = randoms(2, 3, seed=4), randoms(5, 3, seed=5), randoms(5, 2, seed=6)
        out = self.run_attn("run", "--q", "-", "--k", "-", "--v", "-", "-o", "-",
                            input=npy_bytes(q) + npy_bytes(k, version=2) + npy_bytes(v, fortran=True))[0]
        self.near(read_npy(self.as_bytes(out))[1], attend(q, k, v)["out"])

    def test_one_array_from_standard_input(self):
        out = self.run_attn("run", "--q", "a.npy", "--k", "-", "--v", "a.npy", "-o", "-", input=npy_bytes(self.a))[0]
        self.near(read_npy(self.as_bytes(out))[1], attend(self.a, self.a, self.a)["out"])

    def test_a_file_as_standard_input(self):
        with open(self.path("a.npy"), "rb") as f:
            done = subprocess.run([ATTN, "run", "--q", "-", "--k", "a.npy", "--v", "a.npy", "-o", "-"], stdin=f,
                                  cwd=self.folder.name, stdout=subprocess.PIPE, check=True)
        self.near(read_npy(done.stdout)[1], attend(self.a, self.a, self.a)["out"])

    def test_other_results_to_standard_output(self):
        out = self.run_attn(*self.inputs, "--lse", "-")[0]
        self.near(read_npy(self.as_bytes(out))[1], attend(self.a, self.a, self.a)["lse"])

    def test_standard_input_that_ends_early(self):
        self.refused("run", "--q", "-", "--k", "a.npy", "--v", "a.npy", input=npy_bytes(self.a)[:-1],
                     says=["standard input", "promises 96 bytes", "95 are present"])
        self.refused("run", "--q", "-", "--k", "-", "--v", "a.npy", input=npy_bytes(self.a),
                     says=["standard input", "not a .npy file"])

    def test_a_reader_that_leaves(self):
        self.put("b.npy", [[0.5] * 64] * 4000)
        process = subprocess.Popen([ATTN, "run", "--q", "b.npy", "--k", "b.npy", "--v", "b.npy", "--window", "1,1",
                                    "-o", "-", "--lse", "l.npy"], cwd=self.folder.name, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdout.close()
        process.stderr.read()
        process.stderr.close()
        self.assertNotEqual(process.wait(timeout=60), 0)
        self.assertEqual(self.files(), ["a.npy", "b.npy"])

    def as_bytes(self, out):
        return out.encode() if isinstance(out, str) else out


class Degenerate(Files):
    def test_no_queries(self):
        self.put("none.npy", [], shape=(0, 3))
        self.run_attn("run", "--q", "none.npy", "--k", "a.npy", "--v", "a.npy", "-o", "o.npy", "--weights", "w.npy")
        with open(self.path("o.npy"), "rb") as f:
            self.assertEqual(read_npy(f.read())[2], (0, 3))
        self.assertIn("empty", self.run_attn("run", "--q", "none.npy", "--k", "a.npy", "--v", "a.npy")[0])

    def test_no_keys_give_zeros(self):
        self.put("none.npy", [], shape=(0, 3))
        self.run_attn("run", "--q", "a.npy", "--k", "none.npy", "--v", "none.npy", "-o", "o.npy", "--lse", "l.npy")
        self.assertEqual(self.get("o.npy"), [[0.0] * 3] * 4)
        self.assertEqual(self.get("l.npy"), [float("-inf")] * 4)

    def test_no_columns(self):
        self.put("flat.npy", [], shape=(4, 0))
        self.refused("run", "--q", "flat.npy", "--k", "flat.npy", "--v", "a.npy", says="flat.npy: f8 (4, 0)")

    def test_poison_behind_a_mask_does_not_leak(self):
        poisoned = [row[:] for row in self.a]
        poisoned[3] = [float("nan"), float("inf"), float("-inf")]
        self.put("p.npy", poisoned)
        self.run_attn("run", "--q", "a.npy", "--k", "p.npy", "--v", "p.npy", "--lengths", "3", "-o", "o.npy")
        self.near(self.get("o.npy"), attend(self.a, self.a[:3], self.a[:3])["out"])


if __name__ == "__main__":
    main()
