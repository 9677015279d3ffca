#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Text in pictures: whole, inside its area, and apart from other text.

Draws the gallery as SVG, where every letter is a glyph with an outline and a place, and computes
from these what each run of text covers. GALLERY names the program plot_gallery.
"""
import os
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from itertools import combinations
from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
MARGIN = 10  # of the gallery's pages, in points
TOUCH = 0.35  # points that boxes may share: rounding of outlines
NUMBER = re.compile(r"-?[0-9.]+(?:e-?[0-9]+)?")


def outline_box(path):
    """(left, top, right, bottom) of an outline, or None if it is blank."""
    values = [float(x) for x in NUMBER.findall(path)]
    if not values:
        return None
    return min(values[::2]), min(values[1::2]), max(values[::2]), max(values[1::2])


def union(boxes):
    return (min(b[0] for b in boxes), min(b[1] for b in boxes),
            max(b[2] for b in boxes), max(b[3] for b in boxes))


def runs_of_text(root):
    """The box of every run of glyphs."""
    outline = {}
    for symbol in root.iter(SVG + "symbol"):
        outline["#" + symbol.get("id")] = outline_box(symbol.find(SVG + "path").get("d"))
    for group in root.iter(SVG + "g"):
        boxes = []
        for use in group.findall(SVG + "use"):
            box, x, y = outline.get(use.get(HREF)), float(use.get("x")), float(use.get("y"))
            if box:
                boxes.append((box[0] + x, box[1] + y, box[2] + x, box[3] + y))
        if boxes:
            yield union(boxes)


def overlap(a, b):
    return (min(a[2], b[2]) - max(a[0], b[0]) > TOUCH and
            min(a[3], b[3]) - max(a[1], b[1]) > TOUCH)


class TextInPictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.pictures = {}
        for scale in ("1", "0.6", "0.3"):
            folder = Path(cls.folder.name) / scale
            folder.mkdir()
            subprocess.run([os.environ["GALLERY"], folder, "svg", scale], check=True)
            for path in sorted(folder.iterdir()):
                cls.pictures[path.stem, scale] = ElementTree.parse(path).getroot()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check_each(self, check):
        """check(root) on all but the page of free text, whose formula sets its letters close."""
        for (name, scale), root in self.pictures.items():
            if name != "text_page":
                with self.subTest(picture=name, scale=scale):
                    check(root)

    def check_apart(self, root):
        for a, b in combinations(runs_of_text(root), 2):
            self.assertFalse(overlap(a, b), f"text at {a} and at {b}")

    def check_inside(self, root):
        _, _, width, height = (float(x) for x in root.get("viewBox").split())
        for left, top, right, bottom in runs_of_text(root):
            self.assertGreaterEqual(min(left, top), MARGIN - TOUCH)
            self.assertLessEqual(right, width - MARGIN + TOUCH)
            self.assertLessEqual(bottom, height - MARGIN + TOUCH)

    def test_every_picture_is_well_formed_xml(self):
        self.assertGreaterEqual(len(self.pictures), 3 * 20)
        for root in self.pictures.values():
            self.assertEqual(root.tag, SVG + "svg")

    def test_no_text_overlaps_other_text(self):
        self.check_each(self.check_apart)

    def test_no_text_leaves_its_area(self):
        self.check_each(self.check_inside)

    def test_full_size_pictures_have_title_and_labels(self):
        for (name, scale), root in self.pictures.items():
            if scale == "1":
                self.assertGreaterEqual(len(list(runs_of_text(root))), 4, name)


if __name__ == "__main__":
    unittest.main()
