#!/usr/bin/env python3
"""The checker finds what is planted, and only that."""

import pathlib
import tempfile
import unittest

from check_dependencies import Checker, parse_ninja_deps


class CheckerTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.source = pathlib.Path(self.directory.name)
        self.build = self.source / "build" / "release"
        self.build.mkdir(parents=True)
        self.write("base/types.h", "#include <cstdint>\n")
        self.write("hashring/ring.h", "#include <vector>\n")

    def write(self, path, text):
        (self.source / path).parent.mkdir(exist_ok=True)
        (self.source / path).write_text(text)

    def violations(self, obj, *dependencies):
        deps = {obj: [d if d.startswith("/") else str(self.source / d) for d in dependencies]}
        return Checker(self.source, self.build).violations(deps, [obj])

    def test_clean_core_passes(self):
        self.assertEqual(self.violations("node/region.cc.o", "base/types.h", "/usr/include/c++/12/mutex"), [])

    def test_hashring_that_includes_the_project_fails(self):
        found = self.violations("hashring/ring.cc.o", "hashring/ring.h", "base/types.h")
        self.assertEqual(len(found), 1)
        self.assertIn("base/types.h", found[0])

    def test_hashring_that_includes_generated_code_fails(self):
        self.assertEqual(len(self.violations("hashring/ring.cc.o", str(self.build / "proto/log.pb.h"))), 1)

    def test_verify_may_include_base_and_nothing_else_of_the_project(self):
        self.write("verify/decimal.h", "#pragma once\n")
        self.write("sql/numeric.h", "#pragma once\n")
        self.assertEqual(self.violations("verify/decimal.cc.o", "verify/decimal.h", "base/types.h"), [])
        self.assertEqual(len(self.violations("verify/decimal.cc.o", "sql/numeric.h")), 1)

    def test_core_that_includes_a_library_of_drivers_fails_however_deep(self):
        for header in ("asio.hpp", "asio/post.hpp", "zookeeper/zookeeper.h", "librdkafka/rdkafka.h", "rocksdb/db.h"):
            with self.subTest(header):
                self.assertEqual(len(self.violations("node/region.cc.o", "/usr/include/" + header)), 1)

    def test_core_that_names_a_clock_thread_socket_or_file_fails(self):
        for header in ("chrono", "thread", "atomic", "sys/socket.h", "fstream"):
            with self.subTest(header):
                self.write("node/region.h", f"#pragma once\n# include  <{header}>\n")
                found = self.violations("node/region.cc.o", "node/region.h")
                self.assertEqual(len(found), 1)
                self.assertIn(f"<{header}>", found[0])

    def test_core_that_was_not_built_fails(self):
        found = Checker(self.source, self.build).violations({}, ["node/region.cc.o"])
        self.assertIn("not built", found[0])

    def test_only_valid_entries_of_ninja_count(self):
        text = ("a.o: #deps 2, deps mtime 1 (VALID)\n    x.cc\n    y.h\n\n"
                "b.o: #deps 1, deps mtime 1 (STALE)\n    z.h\n\n")
        self.assertEqual(parse_ninja_deps(text), {"a.o": ["x.cc", "y.h"]})


if __name__ == "__main__":
    unittest.main()
