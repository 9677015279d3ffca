# SPDX-License-Identifier: Apache-2.0
"""The documents of the repository's root and of docs/: their links resolve, and they agree on version and licence."""
import re
import unittest

from pages import LINK, ROOT, prose

ADDRESS = re.compile(r"[a-z]+:")


def documents():
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def anchors(path):
    """The fragments that the headings of a page can be linked by."""
    headings = re.findall(r"(?m)^#+ (.+)$", path.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Documents(unittest.TestCase):
    def test_links_resolve(self):
        seen = 0
        for path in documents():
            lines = path.read_text(encoding="utf-8").splitlines()
            for title, target in LINK.findall("\n".join(prose(lines))):
                if ADDRESS.match(target):
                    continue
                name, _, fragment = target.partition("#")
                place = (path.parent / name) if name else path
                where = "%s: [%s](%s)" % (path.name, title, target)
                self.assertTrue(place.exists(), where)
                self.assertTrue(not fragment or fragment in anchors(place), where)
                seen += 1
        self.assertGreater(seen, 30)

    def test_the_citation_has_the_version_of_the_header_and_the_licence_of_the_sources(self):
        citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
        header = (ROOT / "include" / "attn" / "attn.h").read_text(encoding="utf-8")
        version = ".".join(re.findall(r"#define ATTN_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
        self.assertRegex(citation, r"(?m)^version: %s$" % re.escape(version))
        self.assertIn("\nlicense: Apache-2.0\n", citation)
        self.assertIn("SPDX-License-Identifier: Apache-2.0", header)

    def test_security_names_the_minor_version_that_gets_fixes(self):
        header = (ROOT / "include" / "attn" / "attn.h").read_text(encoding="utf-8")
        minor = ".".join(re.findall(r"#define ATTN_VERSION_(?:MAJOR|MINOR) (\d+)", header))
        self.assertIn("the latest minor version, which is %s." % minor, (ROOT / "SECURITY.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
