#!/usr/bin/env python3
"""Keeps docs/placement.md true: each console block holds a command and what it prints.

usage: update_placement.py <tidemark binary>           writes the page and its drawings anew
       update_placement.py --check <tidemark binary>   fails if what does not depend on the clock differs
"""

import pathlib
import re
import subprocess
import sys
import tempfile

PAGE = pathlib.Path(__file__).resolve().parent / "placement.md"
BLOCK = re.compile(r"```console\n((?:\$ [^\n]*\n)+)(.*?)```", re.DOTALL)
MEASURED = {"array ns", "slices ns", "change ms"}


def run(commands, binary, directory):
    output = ""
    for command in commands.splitlines():
        arguments = command.removeprefix("$ tidemark ").split()
        done = subprocess.run([binary, *arguments], cwd=directory, check=True, capture_output=True, text=True)
        output = done.stdout
    return output


def without_measurements(text):
    """Rows of tables as lists of cells, without the columns that a clock filled."""
    rows, dropped = [], set()
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and MEASURED & set(cells):
            dropped = {i for i, cell in enumerate(cells) if cell in MEASURED}
        if not line.startswith("|"):
            dropped = set()
        if not set(line) <= set("|-: "):
            rows.append([cell for i, cell in enumerate(cells) if i not in dropped])
    return rows


def main(arguments):
    check = arguments[:1] == ["--check"]
    binary = str(pathlib.Path(arguments[-1]).resolve())
    page = PAGE.read_text()
    failures = []
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(scratch) if check else PAGE.parent
        (directory / "placement").mkdir(exist_ok=True)

        def replaced(block):
            commands, old = block.groups()
            new = run(commands, binary, directory)
            if without_measurements(old) != without_measurements(new):
                failures.append(commands)
            return f"```console\n{commands}{new}```"

        page = BLOCK.sub(replaced, page)
        for drawing in sorted((PAGE.parent / "placement").glob("*.svg")) if check else []:
            if (directory / "placement" / drawing.name).read_bytes() != drawing.read_bytes():
                failures.append(drawing.name)
    for path in (PAGE.parent / "placement").glob("*.json"):
        path.unlink()
    if not check:
        PAGE.write_text(page)
    elif failures:
        sys.exit("docs/placement.md is out of date; run docs/update_placement.py:\n" + "\n".join(failures))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1:])
