#!/usr/bin/env python3
"""The checker finds names that clash, and only those."""

import unittest

from check_names import clashes

TABLE = "namespace tidemark {\n\nclass Table {\n};\n\n}  // namespace tidemark\n"


class ClashesTest(unittest.TestCase):
    def test_one_name_in_two_files(self):
        derived = TABLE.replace("class Table", "struct Table final : public Base")
        self.assertEqual(clashes({"a.h": TABLE, "b.h": derived}), ["tidemark::Table is defined in a.h and b.h"])

    def test_after_a_namespace_has_ended(self):
        later = "namespace tidemark {\nnamespace {\nint x;\n}  // namespace\nclass Table {\n};\n"
        self.assertEqual(len(clashes({"a.h": TABLE, "b.cc": later})), 1)

    def test_other_namespaces_do_not_clash(self):
        inner = TABLE.replace("namespace tidemark", "namespace tidemark::sim")
        unnamed = "namespace tidemark {\nnamespace {\nclass Table {\n};\n}  // namespace\n}  // namespace tidemark\n"
        self.assertEqual(clashes({"a.h": TABLE, "b.h": inner, "c.cc": unnamed}), [])

    def test_declarations_and_inner_types_do_not_clash(self):
        other = "namespace tidemark {\nclass Table;\nstruct Region {\n  class Table {\n  };\n};\n}  // namespace tidemark\n"
        self.assertEqual(clashes({"a.h": TABLE, "b.h": other}), [])


if __name__ == "__main__":
    unittest.main()
