#!/usr/bin/env python3
"""run_tests.py PRESET [--jobs N]: configures, builds and tests one preset of CMakePresets.json.

The last line is `N passed, N failed`, counted from ctest's own record, and where several tests share a process, from
what that one reports. What did not run counts as failed, and so does a build that breaks; a process that dies counts as
one failure, however many tests it had left. Exits with 0 only if something passed and nothing failed.
"""
import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARES = ".quarter_"  # in the name that tests/CMakeLists.txt gives to a process of many tests


def run(*command):
    print("+", *command, flush=True)
    return subprocess.run(command, cwd=ROOT).returncode == 0


def is_passed(case):
    return (case.get("status") == "run" and case.get("result", "completed") == "completed"
            and case.find("failure") is None and case.find("skipped") is None)


def cases_of(file):
    return list(xml.parse(file).getroot().iter("testcase"))


def count(record, shared):
    """Passed and failed of a JUnit file. A test that ctest skipped, disabled or could not start has not passed. The
    tests of a process that runs many are counted one by one; if it failed although they passed, that is a failure."""
    results = []
    of_program = {}  # how many tests each program that was shared out has reported
    for case in cases_of(record):
        report = shared / (case.get("name") + ".xml")
        if SHARES not in case.get("name"):
            results.append(is_passed(case))
            continue
        inner = [is_passed(test) for test in cases_of(report)] if report.exists() else [False]
        if not is_passed(case) and all(inner):
            inner.append(False)
        results += inner
        program = case.get("name").split(SHARES)[0]
        of_program[program] = of_program.get(program, 0) + len(inner)
    results += [False for tests in of_program.values() if tests == 0]
    return results.count(True), results.count(False)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("preset")
    arguments.add_argument("--jobs", default=str(os.cpu_count()))
    given = arguments.parse_args()

    # Some tests show that the stack stays bounded; they mean the 8 MiB that is usual, whatever this shell has.
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = 8 << 20
    resource.setrlimit(resource.RLIMIT_STACK, (wanted if hard < 0 else min(wanted, hard), hard))

    record = ROOT / "build" / given.preset / "tests.xml"
    shared = record.with_name("quarters")
    record.unlink(missing_ok=True)
    shutil.rmtree(shared, ignore_errors=True)
    built = (run("cmake", "--preset", given.preset, "--log-level=WARNING")
             and run("cmake", "--build", "--preset", given.preset, "-j", given.jobs))
    passed, failed, green = 0, 1, False
    if built:
        green = run("ctest", "--preset", given.preset, "-j", given.jobs, "--output-junit", str(record))
        if record.exists():
            passed, failed = count(record, shared)
    if not green and failed == 0:
        failed = 1
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(0 if green and passed > 0 and failed == 0 else 1)


main()
