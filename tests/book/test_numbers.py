# SPDX-License-Identifier: Apache-2.0
"""run_numbers.py itself: what it takes for a result, and that wrong, missing and forgotten numbers are found."""
import sys
import unittest
import unittest.mock

import run_numbers


class Checks(unittest.TestCase):
    def page(self, text):
        page = run_numbers.Page.__new__(run_numbers.Page)
        page.name, page.text, page.covered, page.found = "page.md", text, [], []
        return page

    def test_right_number_is_accepted_across_lines_and_in_tables(self):
        page = self.page("The weight\nis 0.944 on\naverage.\n\n| 2 | 2.41 |\n")
        page.compute("weight is {:.3f} on average", lambda: [0.94431], False)
        page.compute("| 2 | {:.2f} |", lambda: [2.414], False)
        page.check_complete()
        self.assertEqual(page.found, [])

    def test_wrong_number_is_found(self):
        page = self.page("It is 0.944, and 69 % of the rows.")
        page.compute("and {:.0f} % of the rows", lambda: [69.99], False)
        self.assertIn("in the page 69", page.found[0])
        self.assertIn("computed    70", page.found[0])

    def test_update_writes_every_number_of_every_match(self):
        page = self.page("It is 1.0 to 2.0. Again: it is 3.0 to 4.0.")
        page.compute("is {:.2f} to {:.2f}.", lambda: [5, 16], True)
        self.assertEqual(page.text, "It is 5.00 to 16.00. Again: it is 5.00 to 16.00.")

    def test_number_without_an_entry_is_found(self):
        page = self.page("One, 2 and n = 64.\nBut 0.5, 1e-9, 4,096 and 94 % are results.\n")
        page.check_complete()
        self.assertEqual([line.split(" ")[1] for line in page.found], ["0.5", "1e-9", "4,096", "94"])
        self.assertTrue(page.found[0].startswith("page.md:2: "))

    def test_code_and_links_are_not_prose(self):
        page = self.page("`--scale 0.5`, [a](0.5.md)\n```\n0.25\n```\n")
        page.check_complete()
        self.assertEqual(page.found, [])

    def test_sentence_that_is_not_in_the_page_is_found(self):
        page = self.page("Nothing.")
        page.compute("is {:.1f}", lambda: [1], False)
        self.assertIn("not in the page", page.found[0])

    def test_quotation_must_be_what_the_document_states(self):
        claims = {"1": {"stated": "[.278, 4,000]"}}
        with unittest.mock.patch.object(run_numbers, "claims", lambda: claims):
            page = self.page("says 0.278 and 4,000, or 0.279")
            page.quote("says 0.278 and 4,000", ["1"])
            self.assertEqual(page.found, [])
            page.quote("or 0.279", ["1"])
        self.assertIn("0.279 is not what a document states", page.found[0])


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=[sys.argv[0]])
