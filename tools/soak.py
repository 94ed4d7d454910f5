#!/usr/bin/env python3
"""soak.py SECONDS|--seeds N [--jobs N]: fresh seeds for what is random, and the fuzzers.

For so long, rounds of SIMULATIONS and of what is random on the real drivers, each round with a seed that no round had
(PITSAW_SIM_SEED); after them, for a quarter of the time, the fuzzers. With --seeds, that many seeds of each simulation
and nothing else. What fails is kept in build/soak: the output, with the line that runs it again. The last line is
`N passed, N failed`, of runs; the exit code is not 0 if any failed.
"""
import argparse
import concurrent.futures
import os
import pathlib
import secrets
import shlex
import subprocess
import sys
import time

from gtest_output import tests_passed

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "build/soak"
# What takes its seed from the environment, and nothing else: (program, which of its tests). A new simulation belongs
# here. network and node have seeds of their own and cost little.
SIMULATIONS = [
    ("sim_laws", "http_nodes.orders*:http_nodes.whatever*:network.*:node.*"),
    ("stress", "*reader.*/sim"),
    ("unit_sim", "*every_awaitable*:disk_property.what_*:disk_property.a_*:disk_log.what_*"),
    ("app_gateway", "gateway_nodes.*:gateway_stream.leaves*:gateway_client.that_closes*:gateway_client.that_breaks*"),
]
ON_REAL_DRIVERS = [("stress", "-*reader.*/sim")]
RUN_SECONDS_MAX = 600


def run(name, tests, seed):
    """Whether it passed; its output is kept if not."""
    program = ROOT / "build/release/tests" / name
    words = [str(program), f"--gtest_filter={tests}"]
    given = {"PITSAW_SIM_SEED": str(seed), "PITSAW_SIM_SEEDS": "1", "PITSAW_DRIVER": "sim"}
    try:
        done = subprocess.run(words, env={**os.environ, **given}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=RUN_SECONDS_MAX, check=False)
        code, text = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        code, text = "timeout", (late.stdout or b"").decode(errors="replace")
    if code == 0 and tests_passed(text) > 0:
        return True
    if code == 0:
        code = "0, and no test has passed"
    KEPT.mkdir(parents=True, exist_ok=True)
    again = " ".join(f"{key}={value}" for key, value in given.items()) + " " + shlex.join(words)
    (KEPT / f"{name}-{seed}.log").write_text(f"{again}\nexit code: {code}\n\n{text}")
    print(f"broken, kept in build/soak/{name}-{seed}.log: {again}", flush=True)
    return False


def run_seeds(count, jobs):
    """So many seeds of each simulation: passed and failed."""
    runs = [(*which, secrets.randbits(63)) for _ in range(count) for which in SIMULATIONS]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda which: run(*which), runs))
    return results.count(True), results.count(False)


def run_for(seconds, jobs):
    """Seeds and fuzzers for that time: passed and failed."""
    until = time.monotonic() + seconds * 3 / 4
    results = []
    rounds = 0
    while rounds == 0 or time.monotonic() < until:
        seed = secrets.randbits(63)
        results += [run(name, tests, seed) for name, tests in SIMULATIONS + ON_REAL_DRIVERS]
        rounds += 1
    print(f"{rounds} seeds", flush=True)
    fuzzers = len(list((ROOT / "tests/fuzz/corpus").iterdir()))
    each = max(1, seconds // 4 * jobs // fuzzers)
    fuzz = [ROOT / "tools/fuzz.py", str(each), "--jobs", str(jobs)]
    results.append(subprocess.run(fuzz, check=False).returncode == 0)
    return results.count(True), results.count(False)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    how_much = arguments.add_mutually_exclusive_group(required=True)
    how_much.add_argument("seconds", type=int, nargs="?")
    how_much.add_argument("--seeds", type=int)
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    given = arguments.parse_args()

    programs = sorted({name for name, _ in SIMULATIONS + ON_REAL_DRIVERS})
    build = ["cmake", "--build", "--preset", "release", "--target", *programs, "-j", str(given.jobs)]
    if subprocess.run(["cmake", "--preset", "release", "--log-level=WARNING"], cwd=ROOT).returncode != 0 \
            or subprocess.run(build, cwd=ROOT).returncode != 0:
        sys.exit("0 passed, 1 failed")
    passed, failed = run_seeds(given.seeds, given.jobs) if given.seeds else run_for(given.seconds, given.jobs)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
