# SPDX-License-Identifier: Apache-2.0
"""The figures of the book (docs/book/img): each chapter shows one, in a light and a dark form, and the committed files are
what `attn learn --figures DIR` draws now."""
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from pages import ATTN, BOOK, has_fused_multiply_add, pages

IMG = BOOK / "img"
PICTURE = re.compile(r'<picture>\n  <source media="\(prefers-color-scheme: dark\)" srcset="img/([\w-]+)-dark\.svg">\n'
                     r'  <img src="img/([\w-]+)\.svg" width="560" alt="([^"]+)">\n</picture>\n')
NOT_CHAPTERS = {"12-quiz.md", "glossary.md"}
# Letters are outlines and every coordinate depends on their widths: the same bytes need the same libraries and fonts.
DRAWN_WITH = {"libcairo.so.2": "1.16.0", "libpango-1.0.so.0": "1.50.12", "Inter": "Inter-Regular.otf"}


def draw(*args, expect=0):
    done = subprocess.run([ATTN, "learn", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, NO_COLOR="1"), timeout=300)
    assert done.returncode == expect, "exit status %d: %s" % (done.returncode, done.stderr.decode())
    return done.stdout.decode() + done.stderr.decode()


def version(library):
    name = "cairo_version_string" if "cairo" in library else "pango_version_string"
    function = getattr(ctypes.CDLL(library), name)
    function.restype = ctypes.c_char_p
    return function().decode()


def drawn_with():
    """The libraries and the font of this machine, in the form of DRAWN_WITH."""
    found = {}
    for name in DRAWN_WITH:
        try:
            if name.startswith("lib"):
                found[name] = version(name)
            else:
                font = subprocess.run(["fc-match", "--format=%{file}", name], stdout=subprocess.PIPE, check=True).stdout
                found[name] = Path(font.decode()).name
        except (OSError, AttributeError, subprocess.CalledProcessError):
            found[name] = None
    return found


def pictures(path):
    """(name, description) of the pictures of a page."""
    return [(light, alt) for dark, light, alt in PICTURE.findall(path.read_text(encoding="utf-8")) if dark == light]


def has_pictures():
    info = subprocess.run([ATTN, "info", "--json"], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(info)["pictures"]


class InThePages(unittest.TestCase):
    def test_every_chapter_has_a_figure(self):
        for path in pages():
            if path.name not in NOT_CHAPTERS:
                self.assertTrue(pictures(path), path.name)

    def test_every_picture_has_both_forms_and_a_description(self):
        for path in pages():
            text = path.read_text(encoding="utf-8")
            self.assertEqual(text.count("<picture>"), len(pictures(path)), path.name)
            for name, alt in pictures(path):
                self.assertTrue((IMG / (name + ".svg")).is_file(), name)
                self.assertTrue((IMG / (name + "-dark.svg")).is_file(), name)
                self.assertGreater(len(alt), 60, name)

    def test_every_file_is_shown_on_one_page(self):
        shown = [name for path in pages() for name, _ in pictures(path)]
        files = {path.name for path in IMG.iterdir()}
        self.assertEqual(files, {name + form for name in shown for form in (".svg", "-dark.svg")})
        self.assertEqual(len(shown), len(set(shown)))


@unittest.skipUnless(has_pictures(), "this build draws no pictures")
class Drawn(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_committed_files_are_what_is_drawn_now(self):
        figures = json.loads(draw("--figures", self.path("img"), "--json"))["figures"]
        fresh = {path.name: path.read_bytes() for path in Path(self.path("img")).iterdir()}
        self.assertEqual(set(fresh), {name + form for name in figures for form in (".svg", "-dark.svg")})
        self.assertEqual(set(fresh), {path.name for path in IMG.iterdir()})
        if drawn_with() != DRAWN_WITH or not has_fused_multiply_add():
            self.skipTest("drawn with %s; the files were drawn with %s, with fused multiply-add" %
                          (drawn_with(), DRAWN_WITH))
        for name, now in sorted(fresh.items()):
            self.assertTrue(now == (IMG / name).read_bytes(),
                            "%s: run attn learn --figures docs/book/img, and look at it" % name)

    def test_light_and_dark_differ_and_hold_no_bitmap(self):
        draw("--figures", self.path("img"))
        for path in Path(self.path("img")).glob("*-dark.svg"):
            light = path.with_name(path.name.replace("-dark", ""))
            self.assertNotEqual(path.read_bytes(), light.read_bytes())
            self.assertNotIn(b"<image", light.read_bytes())

    def test_folder_that_cannot_be_made_is_named(self):
        folder = self.path("a/b")
        self.assertIn(folder, draw("--figures", folder, expect=1))

    def test_figures_of_one_topic_are_refused(self):
        self.assertIn("masks", draw("masks", "--figures", self.path("img"), expect=2))
        self.assertEqual(os.listdir(self.folder.name), [])


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=[sys.argv[0]])
