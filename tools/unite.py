#!/usr/bin/env python3
"""unite.py OUTPUT SOURCE...: writes one source that compiles them all, each header once instead of once a file.

Each file stands in a namespace of its own, so that what two of them name alike stays apart; what it includes comes
before all of them, outside. A file that opens a namespace of a library of ours has to stay outside as well.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r"^#include .*$", re.M)
OPENS_OURS = re.compile(r"^namespace (?:pitsaw|gateway)\b.*\{$", re.M)


def united(files):
    texts = {file: pathlib.Path(file).read_text() for file in files}
    lines = list(dict.fromkeys(line for text in texts.values() for line in INCLUDE.findall(text)))
    for file, text in texts.items():
        include = f'#include "{file}"'
        if not OPENS_OURS.search(text):
            include = f"namespace file_{re.sub(r'[^a-z0-9]', '_', pathlib.Path(file).stem)} {{\n{include}\n}}"
        lines.append(include)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(united(sys.argv[2:]))
