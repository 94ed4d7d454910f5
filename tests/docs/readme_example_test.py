#!/usr/bin/env python3
"""readme_example_test.py: every C++ snippet of the README and the guide is code that is compiled.

The README's program is, byte for byte, the first example. A snippet of docs/guide, a block marked `cpp`, stands in one
of the files below, in one piece; how far it is indented there does not matter, nor a mark of the lints' self-test.
"""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMPILED = ("examples", "tests/docs", "tools/lint/planted", "tests/unit", "tests/sim")


def snippets(page):
    return re.findall(r"^```cpp\n(.*?)^```$", page.read_text(), re.M | re.S)


def lines_of(code):
    """Its lines as they are compared: blank ones at both ends and the lints' marks do not count."""
    return [re.sub(r"\s*// lint: .*", "", line).rstrip() for line in code.strip("\n").splitlines()]


def stands_in(snippet, file):
    """Whether the snippet's lines follow each other in the file, all moved to the right by the same amount."""
    for at in range(len(file) - len(snippet) + 1):
        part = textwrap.dedent("\n".join(file[at:at + len(snippet)])).splitlines()
        if part == snippet:
            return True
    return False


failures = []
first_example = (ROOT / "examples/01_first_look.cpp").read_text()
if snippets(ROOT / "README.md")[:1] != [first_example]:
    failures.append("README.md: its program is not examples/01_first_look.cpp")

files = [lines_of(path.read_text()) for folder in COMPILED for path in sorted((ROOT / folder).rglob("*.cpp"))]
for page in sorted((ROOT / "docs/guide").glob("*.md")):
    for code in snippets(page):
        snippet = textwrap.dedent("\n".join(lines_of(code))).splitlines()
        if not any(stands_in(snippet, file) for file in files):
            failures.append(f"{page.relative_to(ROOT)}: nothing compiles this:\n{code}")

print("\n".join(failures) or "each snippet is compiled")
sys.exit(bool(failures))
