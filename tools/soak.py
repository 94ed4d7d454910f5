#!/usr/bin/env python3
"""soak.py SECONDS [--jobs N]: for so long, fresh seeds for what is random, and the fuzzers.

Rounds of the programs in PROGRAMS, each round with a seed that no round had (PITSAW_SIM_SEED); after them, for a
quarter of the time, the fuzzers. What fails is kept in build/soak: the output, with the line that runs it again.
The last line is `N passed, N failed`, of runs; the exit code is not 0 if any failed.
"""
import argparse
import os
import pathlib
import secrets
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "build/soak"
# Which take their seed from the environment, and what of them does.
PROGRAMS = {"stress": "*", "app_gateway": "*leaves*:*closes*:*breaks*"}
RUN_SECONDS_MAX = 600


def run(name, seed):
    """Whether it passed; its output is kept if not."""
    program = ROOT / "build/release/tests" / name
    words = [str(program), f"--gtest_filter={PROGRAMS[name]}"]
    given = {"PITSAW_SIM_SEED": str(seed), "PITSAW_DRIVER": "sim"}
    try:
        done = subprocess.run(words, env={**os.environ, **given}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=RUN_SECONDS_MAX, check=False)
        code, text = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        code, text = "timeout", (late.stdout or b"").decode(errors="replace")
    if code == 0:
        return True
    KEPT.mkdir(parents=True, exist_ok=True)
    again = " ".join(f"{key}={value}" for key, value in given.items()) + " " + " ".join(words)
    (KEPT / f"{name}-{seed}.log").write_text(f"{again}\nexit code: {code}\n\n{text}")
    print(f"broken, kept in build/soak/{name}-{seed}.log: {again}", flush=True)
    return False


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("seconds", type=int)
    arguments.add_argument("--jobs", default=str(os.cpu_count()))
    given = arguments.parse_args()

    build = ["cmake", "--build", "--preset", "release", "--target", *PROGRAMS, "-j", given.jobs]
    if subprocess.run(["cmake", "--preset", "release", "--log-level=WARNING"], cwd=ROOT).returncode != 0 \
            or subprocess.run(build, cwd=ROOT).returncode != 0:
        sys.exit("0 passed, 1 failed")
    until = time.monotonic() + given.seconds * 3 / 4
    passed = failed = rounds = 0
    while rounds == 0 or time.monotonic() < until:
        seed = secrets.randbits(63)
        for name in PROGRAMS:
            if run(name, seed):
                passed += 1
            else:
                failed += 1
        rounds += 1
    print(f"{rounds} seeds", flush=True)
    fuzzers = len(list((ROOT / "tests/fuzz/corpus").iterdir()))
    each = max(1, given.seconds // 4 * int(given.jobs) // fuzzers)
    fuzzed = subprocess.run([ROOT / "tools/fuzz.py", str(each), "--jobs", given.jobs], check=False).returncode == 0
    passed, failed = passed + fuzzed, failed + (not fuzzed)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
