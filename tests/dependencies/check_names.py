#!/usr/bin/env python3
"""Fails when two files define a type of the same name in the same namespace: see README.md.

usage: check_names.py <source directory>

Linked into one program, the functions of one may be taken for those of the other, and nobody says so. Relies on the
project's format: what stands in a namespace is not indented.
"""

import pathlib
import re
import subprocess
import sys

NAMESPACE = re.compile(r"^(?:inline )?namespace ?([\w:]*) ?\{$")
END = re.compile(r"^\}  // namespace")
TYPE = re.compile(r"^(?:class|struct|union|enum class|enum) (\w[\w:]*)(?: final)?(?: :[^;]*)? \{")


def definitions(text):
    """The full names of the types that a file defines, those of its unnamed namespaces left out."""
    namespaces = []
    for line in text.splitlines():
        if found := NAMESPACE.match(line):
            namespaces.append(found[1])
        elif END.match(line) and namespaces:
            namespaces.pop()
        elif (found := TYPE.match(line)) and "" not in namespaces:
            yield "::".join([*namespaces, found[1]])


def clashes(texts):
    """Of {path: text}: what is defined in several files, sorted."""
    places = {}
    for path, text in texts.items():
        for name in definitions(text):
            places.setdefault(name, []).append(path)
    return sorted(f"{name} is defined in {' and '.join(sorted(paths))}" for name, paths in places.items() if len(paths) > 1)


def main(source):
    # A test's own .cc is a program of its own.
    files = subprocess.run(["git", "-C", source, "ls-files", "*.h", "*.cc"], check=True, capture_output=True, text=True)
    paths = [path for path in files.stdout.split() if path.endswith(".h") or not path.endswith("_test.cc")]
    found = clashes({path: (pathlib.Path(source) / path).read_text(encoding="utf-8") for path in paths})
    print("\n".join(found) or f"{len(paths)} files: each type is defined once")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
