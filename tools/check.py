#!/usr/bin/env python3
"""check.py [--jobs N]: what `make check` does, once the release build is configured. All steps run; any failure fails.

The last line is `N passed, N failed`, one for each step.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

import compile_flags

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("include", "src", "tests", "examples", "bench", "apps", "tools")


def command(*words):
    return lambda jobs: subprocess.run(words, cwd=ROOT).returncode == 0


def files_of(*patterns):
    return sorted(path for folder in FOLDERS for pattern in patterns for path in (ROOT / folder).rglob(pattern))


def format_is_right(jobs):
    files = [str(path.relative_to(ROOT)) for path in files_of("*.hpp", "*.cpp", "*.h")]
    right = subprocess.run(["clang-format-19", "--dry-run", "-Werror"] + files, cwd=ROOT).returncode == 0
    if not right:
        print("mend with: clang-format-19 -i FILE")
    return right


def headers_stand_alone(jobs):
    """Each header compiles with nothing before it, and twice; a public one also without sight of src/."""
    commands = compile_flags.commands()
    beside = {pathlib.Path(file).parent: words for file, words in commands.items()}
    flags = beside[ROOT / "tests/unit/base"]  # which sees include/, src/ and tests/
    public_flags = [flag for flag in flags if flag not in (f"-I{ROOT}/src", f"-I{ROOT}/tests")]

    def stands(header):
        chosen = public_flags if header.is_relative_to(ROOT / "include") else beside.get(header.parent, flags)
        return subprocess.run(chosen + ["-fsyntax-only", "-xc++", "-"], cwd=header.parent, text=True,
                              input=f'#include "{header}"\n#include "{header}"\n').returncode == 0

    headers = files_of("*.hpp", "*.h")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        bad = [header for header, good in zip(headers, pool.map(stands, headers)) if not good]
    for header in bad:
        print(f"{header.relative_to(ROOT)}:1: does not compile alone")
    print(f"{len(headers)} headers, {len(bad)} do not compile alone")
    return not bad


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    jobs = arguments.parse_args().jobs
    steps = {
        "tidy": command("tools/tidy.py"),
        "tidy finds what is planted": command("tools/tidy_test.py"),
        "format": format_is_right,
        "headers stand alone": headers_stand_alone,
        "benchmarks count right": command("bench/run_test.py"),
        "lint": command("tools/lint/run.py", "--jobs", str(jobs)),
        "lint finds what is planted": command("tools/lint/run.py", "--self-test", "--jobs", str(jobs)),
    }
    failed = []
    for name, step in steps.items():
        print(f"== {name}", flush=True)
        if not step(jobs):
            failed.append(name)
    if failed:
        print("== failed:", ", ".join(failed))
    print(f"{len(steps) - len(failed)} passed, {len(failed)} failed", flush=True)
    sys.exit(1 if failed else 0)


main()
