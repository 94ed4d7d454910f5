#!/usr/bin/env python3
"""example_output_test.py PROGRAM SOURCE: the program ends with 0 and prints what the end of its source says it does.

The expected lines stand after a line `// prints:`, each behind `// `.
"""
import difflib
import pathlib
import subprocess
import sys

program, source = sys.argv[1:]
code, mark, promised = pathlib.Path(source).read_text().partition("\n// prints:\n")
if not mark:
    sys.exit(f"{source}: no `// prints:` at its end")
expected = [line.removeprefix("//").removeprefix(" ").rstrip() for line in promised.splitlines()]

run = subprocess.run([program], stdout=subprocess.PIPE, text=True, timeout=60)
printed = [line.rstrip() for line in run.stdout.splitlines()]
for line in difflib.unified_diff(expected, printed, source, "printed", lineterm=""):
    print(line)
if run.returncode != 0:
    print(f"{source}: ended with {run.returncode}")
sys.exit(run.returncode != 0 or printed != expected)
