#!/usr/bin/python3
"""A page whose output is wrong fails; one whose output is right does not."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import unittest

path = pathlib.Path(__file__).with_name("run")
loader = importlib.machinery.SourceFileLoader("run", str(path))
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
loader.exec_module(run)


def console(*lines):
    return "\n".join(["text", "```console", *lines, "```", ""])


def outcome(page, program="/bin/echo", seconds=20):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        good = run.run_page(page, program, seconds)
    return good, said.getvalue()


class RunTest(unittest.TestCase):
    def assert_good(self, page, **options):
        good, said = outcome(page, **options)
        self.assertTrue(good, said)

    def assert_bad(self, page, why, **options):
        good, said = outcome(page, **options)
        self.assertFalse(good, page)
        self.assertIn(why, said)

    def test_output_is_compared(self):
        self.assert_good(console("$ echo one; echo two", "one", "two", "$ true"))
        self.assert_bad(console("$ echo one", "two"), "line 3: $ echo one\nthe page says:\ntwo")
        self.assert_bad(console("$ echo one; echo two", "one"), "two")
        self.assert_bad(console("$ echo one", "one", "two"), "two")
        self.assert_bad(console("$ echo one"), "one")

    def test_dots_stand_for_anything_but_the_rest_counts(self):
        self.assert_good(console("$ echo took 17 ms; echo more; echo end", "took ... ms", "...", "end"))
        self.assert_bad(console("$ echo took 17 s", "took ... ms"), "took 17 s")

    def test_a_command_that_fails_or_hangs_is_told(self):
        self.assert_bad(console("$ false"), "exit code 1")
        self.assert_bad(console("$ sleep 600"), "does not end", seconds=1)

    def test_commands_share_one_shell(self):
        self.assert_good(console("$ x=5", "$ cat <<END", "> a", "> b", "> END", "a", "b", "$ echo $x", "5"))

    def test_what_runs_in_the_background_is_waited_for(self):
        self.assert_good(console("$ (sleep 0.3; echo ready) &", "ready", "$ echo next", "next"))
        self.assert_bad(console("$ echo other &", "ready"), "other", seconds=1)

    def test_eventually_is_asked_again(self):
        count = console("$ echo x >> f; wc -l < f", "3")
        self.assert_good("<!-- eventually -->\n" + count.removeprefix("text\n"))
        self.assert_bad(count, "it printed")

    def test_sql_goes_to_the_program_with_free_ports(self):
        sql = "```sql\nselect 1;\n```\n"
        self.assert_good(sql + "```text\nsql --connect 127.0.0.1:7432\n```\n")
        self.assert_bad(sql + "```text\nsql --connect 127.0.0.1:7400\n```\n", "127.0.0.1:7432")
        self.assert_good(console("$ tidemark admin &", "admin --connect 127.0.0.1:7400"))

    def test_blocks_that_nothing_runs_are_refused(self):
        for page in ["```sh\nls\n```\n", "```text\nx\n```\n", "```console\nx\n```\n", "no commands", "```sql\n"]:
            with self.assertRaises(SystemExit):
                outcome(page)


if __name__ == "__main__":
    unittest.main()
