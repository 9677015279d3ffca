# SPDX-License-Identifier: Apache-2.0
"""NumPy's own files: what numpy.save() writes attn reads, what attn writes numpy.load() reads."""
import io
import sys

try:
    import numpy
except ImportError:
    print("SKIP: no NumPy in this Python")
    sys.exit(77)

from support import CliTest, attend, main, randoms


class Numpy(CliTest):
    def setUp(self):
        super().setUp()
        self.a = numpy.array(randoms(4, 6, seed=1))
        self.expected = numpy.array(attend(*[self.a.tolist()] * 3)["out"])

    def output(self, array, *options):
        numpy.save(self.path("a.npy"), array)
        self.run_attn("run", "--q", "a.npy", "--k", "a.npy", "--v", "a.npy", "-o", "o.npy", *options)
        return numpy.load(self.path("o.npy"))

    def test_every_float_type_order_and_byte_order(self):
        for dtype, tolerance in (("<f8", 1e-13), (">f8", 1e-13), ("<f4", 2e-6), (">f4", 2e-6), ("<f2", 4e-3), (">f2", 4e-3)):
            for order in "CF":
                out = self.output(numpy.array(self.a, dtype=dtype, order=order))
                self.assertEqual(out.dtype, numpy.dtype(dtype).newbyteorder("<"))
                self.assertLessEqual(numpy.abs(out - self.expected).max(), tolerance)

    def test_versions_2_and_3(self):
        for version in ((2, 0), (3, 0)):
            with open(self.path("a.npy"), "wb") as f:
                numpy.lib.format.write_array(f, self.a, version=version)
            self.run_attn("run", "--q", "a.npy", "--k", "a.npy", "--v", "a.npy", "-o", "o.npy")
            self.assertLessEqual(numpy.abs(numpy.load(self.path("o.npy")) - self.expected).max(), 1e-13)

    def test_transposed_views(self):
        self.assertLessEqual(numpy.abs(self.output(numpy.asfortranarray(self.a)) - self.expected).max(), 1e-13)

    def test_every_integer_mask(self):
        allow = numpy.tril(numpy.ones((4, 4)))
        expected = attend(*[self.a.tolist()] * 3, causal=True)["out"]
        for dtype in ("bool", "i1", "i2", ">i4", "i8", "u1", ">u2", "u4", "u8"):
            numpy.save(self.path("m.npy"), allow.astype(dtype))
            self.assertLessEqual(numpy.abs(self.output(self.a, "--mask", "m.npy") - expected).max(), 1e-13)

    def test_pipes(self):
        data = io.BytesIO()
        for _ in range(3):
            numpy.save(data, self.a)
        out = self.run_attn("run", "--q", "-", "--k", "-", "--v", "-", "-o", "-", input=data.getvalue())[0]
        out = out.encode() if isinstance(out, str) else out
        self.assertLessEqual(numpy.abs(numpy.load(io.BytesIO(out)) - self.expected).max(), 1e-13)

    def test_objects_and_records_are_refused(self):
        numpy.save(self.path("o.npy"), numpy.array([{}], dtype=object), allow_pickle=True)
        numpy.save(self.path("r.npy"), numpy.zeros(3, dtype=[("x", "f4")]))
        numpy.save(self.path("a.npy"), self.a)
        for name in ("o.npy", "r.npy"):
            self.run_attn("run", "--q", name, "--k", "a.npy", "--v", "a.npy", expect=3)


if __name__ == "__main__":
    main()
