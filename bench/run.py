#!/usr/bin/env python3
"""run.py [NAME...]: runs the benchmarks of bench/NAME (all of them unless named), interleaved, beside their peers.

Prints a table and writes bench/out/NAME.json. Fails if a subject fails or if a ratio that the folder demands does not
hold. How a folder says what it measures stands in bench/README.md.
"""
import argparse
import contextlib
import importlib.util
import json
import os
import pathlib
import platform
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import time

BENCH = pathlib.Path(__file__).resolve().parent
ROOT = BENCH.parent
RELEASE = ROOT / "build/release"
CXX, CC = "clang++-19", "clang-19"

SLOW_SPIN, DEVIATIONS, DROPPED_AT_MOST = 1.10, 3, 3
RULE = (f"a round is noisy if the spin before it took more than {round(SLOW_SPIN * 100 - 100)} % longer than the "
        f"fastest spin of the run, or if its value is worse than the median by more than {DEVIATIONS} median absolute "
        f"deviations; the noisiest are dropped, at most one in {DROPPED_AT_MOST}")


# ---- What rounds become. Pure functions; run_test.py tests them.

def is_rate(unit):
    """Whether more is better."""
    return unit.endswith("/s")


def keep_quiet(rounds, unit, best_spin):
    """The values of the rounds [(spin seconds, value)] that RULE keeps, in order."""
    may_drop = len(rounds) // DROPPED_AT_MOST
    by_spin = sorted(range(len(rounds)), key=lambda i: rounds[i][0], reverse=True)
    dropped = {i for i in by_spin[:may_drop] if rounds[i][0] > SLOW_SPIN * best_spin}
    left = [i for i in range(len(rounds)) if i not in dropped]
    values = {i: rounds[i][1] for i in left}
    middle = statistics.median(values.values())
    deviation = statistics.median(abs(value - middle) for value in values.values())
    sign = -1 if is_rate(unit) else 1
    outside = [i for i in left if deviation > 0 and sign * (values[i] - middle) > DEVIATIONS * deviation]
    outside.sort(key=lambda i: sign * values[i], reverse=True)
    dropped.update(outside[:may_drop - len(dropped)])
    return [value for i, (_, value) in enumerate(rounds) if i not in dropped]


def summarise(measured):
    """{(subject, case, metric, unit): [(spin, value)]} -> the objects of the file, in the order of measurement."""
    best_spin = min((spin for rounds in measured.values() for spin, _ in rounds), default=0)
    results = []
    for (subject, case, metric, unit), rounds in measured.items():
        kept = keep_quiet(rounds, unit, best_spin)
        results.append({"subject": subject, "case": case, "metric": metric, "unit": unit,
                        "median": statistics.median(kept), "min": min(kept), "max": max(kept), "rounds": len(kept)})
    return results


def medians(results):
    """What a folder's demands are made of: (subject, case, metric) -> the median; None of what was not measured."""
    known = {(r["subject"], r["case"], r["metric"]): r["median"] for r in results}
    return lambda subject, case, metric: known.get((subject, case, metric))


def reference_of(results, row):
    """Our median for the row's case and metric: that of the first subject whose name begins with pitsaw."""
    ours = (r["median"] for r in results if r["subject"].startswith("pitsaw")
            and (r["case"], r["metric"]) == (row["case"], row["metric"]))
    return next(ours, None)


def table(results):
    """The table's lines: each case and metric together, every subject below the other."""
    rows = [("case", "metric", "subject", "median", "min", "max", "unit", "rounds", "to pitsaw")]
    groups = list(dict.fromkeys((r["case"], r["metric"]) for r in results))
    for row in sorted(results, key=lambda r: groups.index((r["case"], r["metric"]))):
        ours = None if row["unit"] == "times" else reference_of(results, row)
        ratio = f"{row['median'] / ours:.2f}" if ours else "-"
        rows.append((row["case"], row["metric"], row["subject"], f"{row['median']:.4g}", f"{row['min']:.4g}",
                     f"{row['max']:.4g}", row["unit"], str(row["rounds"]), ratio))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.rjust(width) if 3 <= i <= 5 or i >= 7 else cell.ljust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))).rstrip()


def parse_figures(text):
    """`METRIC UNIT VALUE` lines -> [(metric, unit, value)]; other lines are an error."""
    figures = []
    for line in text.splitlines():
        metric, unit, value = line.split()
        figures.append((metric, unit, float(value)))
    return figures


# ---- What a folder's bench.py is given.

class Absent(Exception):
    """A peer that this machine cannot have; says why."""


class Failed(Exception):
    """A subject that should have run and did not."""


def run_command(words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise Failed(f"{' '.join(str(w) for w in words)}: exit {done.returncode}\n{done.stdout}{done.stderr}".strip())
    return done.stdout


class Server:
    """A child process that is measured while something else puts it to work."""

    def __init__(self, process):
        self.process = process

    def cpu_seconds(self):
        """User and system time of all its threads so far, also of those that have ended, to the nanosecond."""
        return time.clock_gettime((~self.process.pid << 3) | 2)  # clock_getcpuclockid(3), which Python does not have

    def memory_bytes(self):
        """Resident memory that no other process shares."""
        rollup = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        pages = re.findall(r"^(?:Private_Clean|Private_Dirty):\s+(\d+) kB", rollup, re.M)
        return sum(int(size) for size in pages) << 10


class Tools:
    """How a folder builds and runs its subjects. `Absent` from here marks a subject as absent."""

    Absent, Failed = Absent, Failed

    def __init__(self, folder):
        self.folder, self.built = folder, BENCH.parent / "build/bench" / folder.name
        self.lacking = {}  # what else could not be had, and why: reported beside the absent subjects

    def of(self, name):
        """The tools of another folder, whose peers this one measures as well."""
        other = Tools(BENCH / name)
        other.lacking = self.lacking
        return other

    def target(self, name, folder="bench"):
        """Builds a program of ours, one of bench/CMakeLists.txt's unless it is said, in the release preset."""
        if not (RELEASE / "build.ninja").exists():
            run_command(["cmake", "--preset", "release"], cwd=ROOT)
        run_command(["cmake", "--build", "--preset", "release", "--target", name, "-j", str(os.cpu_count())], cwd=ROOT)
        return RELEASE / folder / name

    def peer(self, source, *flags, header=None, package=None):
        """Compiles peers/SOURCE as our own code is: Clang, -O2. Without `header` the peer is absent."""
        compiler, standard = (CC, "-std=gnu17") if source.endswith(".c") else (CXX, "-std=c++23")
        if header and subprocess.run([compiler, "-E", "-x", "c++" if compiler == CXX else "c", "-", "-o", os.devnull],
                                     input=f"#include <{header}>\n", text=True, capture_output=True).returncode != 0:
            raise Absent(f"no <{header}>" + (f" (Debian package {package})" if package else ""))
        self.built.mkdir(parents=True, exist_ok=True)
        program = self.built / pathlib.Path(source).stem
        run_command([compiler, standard, "-O2", "-g1", "-DNDEBUG", "-fno-omit-frame-pointer", "-w",
                     self.folder / "peers" / source, "-o", program, "-pthread", *flags])
        return program

    def program(self, name, package=None):
        """A program of the machine, by its name."""
        found = shutil.which(name)
        if not found:
            raise Absent(f"no program '{name}'" + (f" (Debian package {package})" if package else ""))
        return found

    def figures(self, *command, core=None):
        """Runs a program that prints `METRIC UNIT VALUE` lines."""
        return parse_figures(self.output(*command, core=core))

    def figures_by_turns(self, turn, *commands, core=None):
        """The figures of programs that run at the same time, but of which only one at a time may go on."""
        running = [subprocess.Popen(self.on_core(core, command), stdout=subprocess.PIPE, text=True)
                   for command in commands]
        try:
            while all(each.poll() is None for each in running):
                for chosen in running:
                    for each in running:
                        each.send_signal(signal.SIGCONT if each is chosen else signal.SIGSTOP)
                    time.sleep(turn)
        finally:
            for each in running:
                each.send_signal(signal.SIGCONT)
        texts = [each.communicate()[0] for each in running]
        if any(each.returncode for each in running):
            raise Failed(f"one of these failed: {commands}")
        return [parse_figures(text) for text in texts]

    def output(self, *command, core=None):
        """What a program prints."""
        return run_command(self.on_core(core, command))

    def child_cpu_seconds(self, *command):
        """Runs a program; the processor time that it and its children took."""
        def used():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime
        before = used()
        run_command(command)
        return used() - before

    @contextlib.contextmanager
    def server(self, *command, core=None, ready=None):
        """Starts a server and stops it at the end; `ready()` is asked until it is true, for 5 seconds at most."""
        process = subprocess.Popen(self.on_core(core, command), stdout=subprocess.DEVNULL)
        try:
            patience = time.monotonic() + 5
            while ready is not None and not ready():
                if process.poll() is not None or time.monotonic() > patience:
                    raise Failed(f"{command[0]} does not serve")
                time.sleep(0.01)
            yield Server(process)
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def on_core(self, core, command):
        words = [str(word) for word in command]
        return words if core is None or not shutil.which("taskset") else ["taskset", "-c", str(core), *words]


# ---- One folder.

def spin_seconds():
    """The same work each time: how fast the machine is just now."""
    begun = time.perf_counter()
    for _ in range(300_000):
        pass
    return time.perf_counter() - begun


def version_of(program):
    if not shutil.which(program):
        return None
    return run_command([program, "--version"]).splitlines()[0]


def machine():
    info = pathlib.Path("/proc/cpuinfo")
    model = re.search(r"model name\s*:\s*(.*)", info.read_text()) if info.exists() else None
    return {"machine": f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores",
            "kernel": platform.release(), "versions": {CXX: version_of(CXX), "python": platform.python_version()}}


def prepare(manifest, tools):
    """[(subject, cases, run)] of those that can be built, {subject: why not}."""
    ready, absent = [], {}
    for subject, cases, build in manifest.SUBJECTS:
        try:
            ready.append((subject, cases, build(tools)))
        except Absent as why:
            absent[subject] = str(why)
    return ready, absent


def measure(ready, rounds, report):
    """Interleaved: each subject of each case has its first round before any has its second."""
    measured = {}
    cases = list(dict.fromkeys(case for _, cases, _ in ready for case in cases))
    for number in range(rounds):
        report(f"round {number + 1} of {rounds}")
        for case in cases:
            for subject, own_cases, run in ready:
                if case not in own_cases:
                    continue
                spin = spin_seconds()
                for metric, unit, value in run(case):
                    measured.setdefault((subject, case, metric, unit), []).append((spin, value))
    return measured


def load(folder):
    spec = importlib.util.spec_from_file_location(f"bench_{folder.name}", folder / "bench.py")
    manifest = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(manifest)
    return manifest


def run_folder(folder, rounds, case_filter):
    manifest = load(folder)
    print(f"\n== bench/{folder.name}: {manifest.QUESTION}", flush=True)
    tools = Tools(folder)
    ready, absent = prepare(manifest, tools)
    ready = [(subject, [case for case in cases if re.search(case_filter, case)], run) for subject, cases, run in ready]
    everywhere = os.sched_getaffinity(0)
    if getattr(manifest, "ONE_CORE", True):
        os.sched_setaffinity(0, {max(everywhere)})  # the children inherit it; core 0 has the interrupts
    try:
        measured = measure(ready, rounds or manifest.ROUNDS, lambda line: print(line, file=sys.stderr, flush=True))
    finally:
        os.sched_setaffinity(0, everywhere)
    results = summarise(measured)
    absent.update(tools.lacking)
    broken = [] if case_filter else list(manifest.broken_demands(medians(results)))
    first = {**machine(), "question": manifest.QUESTION, "rule": RULE, "absent": absent, "broken_demands": broken}
    (BENCH / "out").mkdir(exist_ok=True)
    (BENCH / "out" / f"{folder.name}.json").write_text(json.dumps([first, *results], indent=1) + "\n")
    print(*table(results), sep="\n")
    for subject, why in absent.items():
        print(f"absent: {subject}: {why}")
    for demand in broken:
        print(f"FAILED: {demand}")
    print(f"rule: {RULE}\nbench/out/{folder.name}.json", flush=True)
    return not broken


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("names", nargs="*", metavar="NAME")
    arguments.add_argument("--rounds", type=int, help="instead of what the folder says")
    arguments.add_argument("--case", default="", metavar="REGEX", help="only these cases; no demand is checked")
    arguments.add_argument("--list", action="store_true", help="says what there is")
    chosen = arguments.parse_args()
    folders = {path.parent.name: path.parent for path in sorted(BENCH.glob("*/bench.py"))}
    if unknown := [name for name in chosen.names if name not in folders]:
        sys.exit(f"there is no bench/{unknown[0]}/bench.py; there are: {', '.join(folders)}")
    if chosen.list:
        for name, folder in folders.items():
            manifest = load(folder)
            print(f"{name}: {manifest.QUESTION}")
            for subject, cases, _ in manifest.SUBJECTS:
                print(f"    {subject}: {' '.join(cases)}")
        return
    good = True
    for name in chosen.names or folders:
        try:
            good &= run_folder(folders[name], chosen.rounds, chosen.case)
        except Failed as why:
            print(f"FAILED: bench/{name}: {why}", flush=True)
            good = False
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
