#!/usr/bin/env python3
"""Finds coroutine code that compiles and must not be written. Needs clang-query-19 and a configured release build.

    run.py [--jobs N] [FILE...]     lints every file of ours that contains a co_await, or only the given ones
    run.py --self-test              lints planted/*.cpp: exactly the lines that say `// lint: RULE` must be reported

A template is seen through its instantiations, hence through the tests that use it.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import compile_flags  # noqa: E402, found only from here on
import unite  # noqa: E402
FOLDERS = ("include", "src", "tests", "examples", "bench", "apps")

RULES = {
    "R1": "GCC 12.2 never runs this body: declare a local first, or write `if (auto r = co_await x; r)`",
    "R2": "GCC 12.2 destroys this temporary twice: name the aggregate or the lambda first, or give its class a "
          "constructor",
    "R3": "GCC 12.2 refuses an initializer_list beside a co_await: name the list or the container first",
    "R4": "GCC 12.2 miscompiles a class-typed ?: with a co_await inside: use if and else",
    "R5": "GCC 12.2 destroys these elements twice: await into named variables first",
    "binding": "GCC 15 and 16 leak this structured binding when the frame is destroyed: name the object first, then "
               "bind by reference",
    "guard": "a std lock is held across the suspension at line {line}: close its block before, or use a lock that is "
             "awaited",
    "named_task": "the task named before this guard is awaited under it at line {line}; when it stops, its locals "
                  "outlive the guard: start the task after the guard, or await it without naming it",
}
PLANTED_GUARDS = 20  # the least number of cases that the self-test must hold for the rule with the most shapes

Place = collections.namedtuple("Place", "file line column")


def query(files, flags, ours):
    """Runs clang-query over some files as one, for most of the time goes into what they all include, or one by one
    where they do not compile together; yields each match as {bound name: place}."""
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as all_of_them:
        all_of_them.write(unite.united(files))
        all_of_them.flush()
        beside = [f"-iquote{folder}" for folder in sorted({file.parent for file in files})]
        matches = list(query_one(all_of_them.name, flags + beside, ours))
    if len(files) > 1 and any("parse" in match for match in matches):
        return [match for file in files for match in query_one(file, flags, ours)]
    return matches


def query_one(file, flags, ours):
    script = (HERE / "matchers.cq").read_text().replace("@OURS@", ours)
    run = subprocess.run(["clang-query-19", "-f", "/dev/stdin", str(file), "--"] + flags, input=script,
                         capture_output=True, text=True, cwd=ROOT)
    if re.search(r"^\d+:\d+: Error ", run.stdout + run.stderr, re.M):
        sys.exit(f"matchers.cq: clang-query does not understand it\n{run.stdout}{run.stderr}")
    if error := re.search(r"^.*\berror: .*$", run.stdout + run.stderr, re.M):
        yield {"parse": Place(str(file), 1, 1), "error": error[0]}
        return
    match = {}
    for line in run.stdout.splitlines():
        if re.match(r"Match #\d+:", line) or re.match(r"\d+ match(es)?\.", line):
            if match:
                yield match
            match = {}
        if bound := re.match(r'(.+?):(\d+):(\d+): note: "(\w+)" binds here', line):
            match[bound[4]] = Place(bound[1], int(bound[2]), int(bound[3]))


def judge(match):
    """(rule, place, message) of a match, or None where the order of the places shows that it is harmless."""
    if "parse" in match:
        return "parse", match["parse"], "not linted, for it does not compile: " + match["error"]
    for rule, message in RULES.items():
        if rule not in match:
            continue
        place, later = match[rule], match.get("await", match[rule])
        # What is awaited before the guard exists, and a task that starts under it, are as they should be. A
        # temporary, a parameter and a capture have no `await`: they live through whatever there is.
        if "await" in match and later <= place:
            return None
        if "task" in match and match["task"] >= place:
            return None
        return rule, place, message.format(line=later.line)
    return None


def lint(jobs, ours):
    """All findings of [(files, flags)], each once however many translation units see it."""
    found = {}

    def one(job):
        return [finding for match in query(*job, ours) if (finding := judge(match))]

    with concurrent.futures.ThreadPoolExecutor(lint.jobs) as pool:
        for findings in pool.map(one, jobs):
            for rule, place, message in findings:
                found.setdefault((rule, place.file, place.line), message)
    return found


def self_test():
    planted = sorted((HERE / "planted").glob("*.cpp"))
    found = lint(together([(file, ["-std=c++23"]) for file in planted]), "/tools/lint/planted/")
    marked = set()
    for file in planted:
        for number, line in enumerate(file.read_text().splitlines(), 1):
            for rule in (re.search(r"// lint: ([\w ]+)$", line) or ["", ""])[1].split():
                marked.add((rule, str(file), number))
    wrong = [f"{file}:{line}: {rule}: planted, not found" for rule, file, line in marked - set(found)]
    wrong += [f"{file}:{line}: {rule}: found, not planted" for rule, file, line in set(found) - marked]
    each = collections.Counter(rule for rule, _, _ in marked)
    wrong += [f"planted/: no case of {rule}" for rule in RULES if not each[rule]]
    if each["guard"] < PLANTED_GUARDS:
        wrong.append(f"planted/: {each['guard']} cases of guard, {PLANTED_GUARDS} are promised")
    print(*sorted(wrong), sep="\n", end="\n" if wrong else "")
    print(f"lint self-test: {len(marked & set(found))} of {len(marked)} planted lines found, "
          f"{len(set(found) - marked)} false alarms ({', '.join(f'{rule} {n}' for rule, n in sorted(each.items()))})")
    return not wrong


def together(jobs):
    """[(files, flags)] of [(file, flags)]: up to twelve files that have the same flags in each."""
    groups = collections.defaultdict(list)
    for file, flags in jobs:
        groups[tuple(flags)].append(file)
    return [(files[i:i + 12], list(flags)) for flags, files in groups.items() for i in range(0, len(files), 12)]


def own_jobs(only):
    """The translation units to look at: each that has a co_await, and for a header with one that none of them names,
    the header by itself."""
    if not compile_flags.DATABASE.exists():
        sys.exit(f"{compile_flags.DATABASE}: missing; run `cmake --preset release`")
    commands = compile_flags.commands()
    units = [pathlib.Path(file) for file in sorted(commands)]
    units = [unit for unit in units if unit.is_relative_to(ROOT) and unit.relative_to(ROOT).parts[0] in FOLDERS]
    if gone := [unit for unit in units if not unit.exists()]:
        sys.exit(f"{gone[0]}: gone, but still in {compile_flags.DATABASE}; run `cmake --preset release`")
    awaits = re.compile(r"^(?!\s*//).*\bco_(await|yield)\b", re.M)
    texts = {unit: unit.read_text() for unit in units}
    jobs = [(unit, commands[str(unit)][1:] + ["-w"]) for unit in units if awaits.search(texts[unit])]
    named = "\n".join(texts[unit] for unit, _ in jobs)
    for header in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.hpp")):
        inner = str(header.relative_to(ROOT)).split("/", 1)[1]
        if awaits.search(header.read_text()) and inner not in named:
            jobs.append((header, ["-xc++", "-std=c++23", "-Wno-pragma-once-outside-header",
                                  f"-I{ROOT}/include", f"-I{ROOT}/src", f"-I{ROOT}/tests", f"-I{ROOT}/apps"]))
    if only:
        jobs = [job for job in jobs if any(job[0].samefile(file) for file in only)]
    return jobs


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--self-test", action="store_true")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("files", nargs="*")
    given = arguments.parse_args()
    lint.jobs = given.jobs
    if given.self_test:
        sys.exit(0 if self_test() else 1)

    jobs = own_jobs(given.files)
    found = lint(together(jobs), f"^{re.escape(str(ROOT))}/({'|'.join(FOLDERS)})/")
    for (rule, file, line), message in sorted(found.items(), key=lambda item: item[0][1:]):
        print(f"{os.path.relpath(file, ROOT)}:{line}: {rule}: {message}")
    print(f"lint: {len(jobs)} files, {len(found)} findings")
    sys.exit(1 if found else 0)


main()
