#!/usr/bin/env python3
"""fuzz.py SECONDS [--jobs N]: builds the fuzzers of tests/fuzz and runs each for so long, from its corpus on.

What breaks one is kept in build/asan/fuzz/NAME-crash-*; a copy of it in tests/fuzz/corpus/NAME makes it a test. New
inputs stay in build/asan/fuzz/NAME for the next run. The last line is `N passed, N failed`.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS, BUILT = ROOT / "tests/fuzz/corpus", ROOT / "build/asan"
LENGTH_MAX = 1024


def fuzz(name, seconds):
    """What it printed, if it broke; else None."""
    kept = BUILT / "fuzz" / name
    kept.mkdir(parents=True, exist_ok=True)
    command = [BUILT / f"tests/fuzz/fuzz_{name}", f"-max_total_time={seconds}", f"-max_len={LENGTH_MAX}", "-timeout=20",
               "-print_final_stats=1", f"-artifact_prefix={kept}-", kept, CORPUS / name]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=seconds * 2 + 300, check=False)
    inputs = [line.split()[-1] for line in done.stdout.splitlines() if "number_of_executed_units" in line]
    print(f"{name}: {inputs[0] if inputs else 'no'} inputs, {'broken' if done.returncode else 'held'}", flush=True)
    return done.stdout if done.returncode else None


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("seconds", type=int)
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    given = arguments.parse_args()

    for words in (["--preset", "asan", "--log-level=WARNING"],
                  ["--build", "--preset", "asan", "--target", "fuzzers", "-j", str(given.jobs)]):
        if subprocess.run(["cmake", *words], cwd=ROOT).returncode != 0:
            sys.exit("0 passed, 1 failed")
    names = sorted(folder.name for folder in CORPUS.iterdir())
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        broken = [text for text in pool.map(lambda name: fuzz(name, given.seconds), names) if text]
    for text in broken:
        print(text[-4000:])
    print(f"{len(names) - len(broken)} passed, {len(broken)} failed")
    sys.exit(1 if broken or not names else 0)


main()
