#!/usr/bin/env python3
"""Compiles one case of tests/compile_fail with its real flags and judges what the compiler said.

    check.py COMPILE_COMMANDS CASE.cpp compiles      the case as it stands must compile
    check.py COMPILE_COMMANDS CASE.cpp is_refused    with PITSAW_COMPILE_FAIL defined it must not

A case looks like this; both compilers must match the expression, so it names our words and not theirs:

    // expect: a task is awaited as an rvalue|use of deleted function
    #include <pitsaw/task/task.hpp>
    pitsaw::task<> await_it(pitsaw::task<> child) {
    #ifdef PITSAW_COMPILE_FAIL
        co_await child;
    #else
        co_await std::move(child);
    #endif
    }
"""
import json
import re
import shlex
import subprocess
import sys


def command_for(case, compile_commands):
    with open(compile_commands, encoding="utf-8") as file:
        entries = [entry for entry in json.load(file) if entry["file"] == case]
    if not entries:
        sys.exit(f"{case}: not in {compile_commands}; configure again")
    words = shlex.split(entries[0]["command"])
    if words[0].endswith("ccache"):
        words = words[1:]
    # Everything but where the object would go: nothing is written.
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word == "-o":
            skip = True
        elif word != "-c":
            kept.append(word)
    return kept + ["-fsyntax-only"], entries[0]["directory"]


def main():
    compile_commands, case, half = sys.argv[1:]
    with open(case, encoding="utf-8") as file:
        text = file.read()
    expectation = re.match(r"// expect: (.+)\n", text)
    if not expectation:
        sys.exit(f"{case}:1: the first line must be `// expect: REGEX of the compiler's error`")
    if "PITSAW_COMPILE_FAIL" not in text:
        sys.exit(f"{case}: nothing depends on PITSAW_COMPILE_FAIL; put the offending lines under it")

    command, directory = command_for(case, compile_commands)
    if half == "is_refused":
        command.append("-DPITSAW_COMPILE_FAIL")
    run = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    said = run.stdout + run.stderr
    print(shlex.join(command), said, sep="\n")

    if half == "compiles":
        sys.exit(0 if run.returncode == 0 else f"{case}: must compile without PITSAW_COMPILE_FAIL")
    # Only error lines count: a note or a quoted source line may hold the words by accident.
    errors = [line for line in said.splitlines() if re.search(r"\berror: ", line)]
    if run.returncode == 0:
        sys.exit(f"{case}: compiles although it must not")
    if not any(re.search(expectation[1], error) for error in errors):
        sys.exit(f"{case}: refused, but no error matches `{expectation[1]}`")


main()
