#!/usr/bin/env python3
"""fault_rows.py denied|few_files [--jobs N]: the suite in a poorer system.

denied     io_uring is refused by a real filter of system calls (without_io_uring.py). Whatever does not ask for
           io_uring by name passes on epoll, and each program says in one line why it is there.
few_files  a process has 64 descriptors (RLIMIT_NOFILE). Everything passes but what holds more on purpose, and that says
           what is missing, and ends.

Builds release, or finds it built. A failure prints the line that runs it again. The last line is `N passed, N failed`;
a process that dies or hangs is one failure.
"""
import argparse
import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import threading

from gtest_output import tests_passed

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILT = ROOT / "build/release"
DENY = [str(ROOT / "tools/without_io_uring.py")]
FEW = ["bash", "-c", 'ulimit -S -n 64 && exec "$@"', "bash"]
SECONDS_MAX = 300
CLIENTS = 100
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PITSAW_DRIVER"}
SIMULATED = {"PITSAW_DRIVER": "sim"}
SHORTAGE = "Too many open files"
FALLBACK = "pitsaw: the system refuses io_uring (Operation not permitted), so the driver is epoll"

# In an executable a runtime takes the driver that the system gives, but for the tests that ask for io_uring by name;
# choose_driver_test.cpp says what becomes of those. A new one is in, unless it is named here with a reason.
EXCLUDED = {
    "driver_laws": "makes each driver by name, and epoll's tests are the same in every row",
    "faults": "makes each driver by name, with system calls that fail",
    "guide": "sleeps for hours in virtual time",
    "unit_sim": "has a driver of its own in each world, and records runs of virtual hours",
    "unit_loop": "records minutes of virtual time",
    "unit_task": "runs where there is no descriptor, and counts the simulated driver's allocations",
}
BY_NAME = "*io_uring*"
# What counts on virtual time, and is not told to have the simulated driver.
VIRTUAL_TIME = {"unit_executor": ":runtime.many_lost_errors_are_counted*"}
# What makes descriptors. The simulated driver is the one that ctest gives, where a test does not force another.
WITH_DESCRIPTORS = ["unit_io", "unit_net", "unit_http", "unit_executor", "driver_laws", "stress", "app_gateway", "cli"]
# What holds more than 64 descriptors at a time on purpose: in the kernel's world, the simulated one has no limit.
HOLD_MANY = {
    "driver_laws": "*cancelled_accepts_lose_no_connection/*:*errors_are_translated/*",
    "stress": "*destroyed_while_peers_send*:*/shutdown.*",
    "unit_http": "*clients_that_do_not_read_hold_up*",
}


class Row:
    """What has been counted so far."""

    def __init__(self, around):
        self.around = around
        self.passed = self.failed = 0
        self.counting = threading.Lock()

    def run(self, command, given=None):
        """Exit code and output; the code is "timeout" for what hangs."""
        environment = {**ENVIRONMENT, **(given or {})}
        try:
            done = subprocess.run([*self.around, *map(str, command)], cwd=ROOT, env=environment, text=True,
                                  errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=SECONDS_MAX, check=False)
            return done.returncode, done.stdout
        except subprocess.TimeoutExpired as late:
            return "timeout", (late.stdout or b"").decode(errors="replace")

    def count(self, passed, failed):
        with self.counting:
            self.passed += passed
            self.failed += failed

    def expect(self, holds, what, command, text, given=None):
        self.count(bool(holds), not holds)
        if holds:
            return
        before = [f"{key}={value}" for key, value in (given or {}).items()]
        again = shlex.join([*self.around, *map(str, command)])
        print(f"[  FAILED  ] {what}\nagain: {' '.join(before + [again])}\n{text[-4000:]}", flush=True)

    def tests(self, name, without, given):
        """Every test of a program but some."""
        command = [BUILT / "tests" / name, f"--gtest_filter=-{without}"]
        code, text = self.run(command, given)
        passed = len(re.findall(r"^\[       OK \]", text, re.M))
        broken = re.findall(r"^\[  FAILED  \] (.*) \(\d+ ms\)$", text, re.M)
        self.count(passed, 0)
        for each in broken:
            at = text.find(f"[ RUN      ] {each.split(',')[0]}")
            self.expect(False, each, command, text[at:at + 3000], given)
        if not broken and (code != 0 or passed == 0 or tests_passed(text) != passed):
            self.expect(False, f"{name} ended with {code}", command, text, given)
        print(f"{name}: {passed} passed, {len(broken)} failed", flush=True)

    def says_what_is_missing(self, name, filters):
        """Tests that cannot pass: each failure names the shortage, and the process goes on to its end."""
        command = [BUILT / "tests" / name, f"--gtest_filter={filters}:-*/sim*"]
        code, text = self.run(command, SIMULATED)
        parts = text.split("[ RUN      ] ")[1:]
        unclear = [part for part in parts if "[  FAILED  ]" in part and SHORTAGE not in part]
        ended_well = code == 1 and SHORTAGE in text and not unclear
        self.expect(ended_well, f"{name} without descriptors", command, "".join(unclear) or text, SIMULATED)

    def examples(self, says):
        """Each program of examples/ that has connections prints what its source promises, and on the other channel
        what `says` wants."""
        for source in sorted((ROOT / "examples").glob("*.cpp")):
            code = source.read_text()
            if "tcp_listener" not in code or "pitsaw/sim" in code:
                continue  # it may sleep for hours, which cost nothing on the simulated driver alone
            command = [sys.executable, ROOT / "tests/docs/example_output_test.py", BUILT / "examples" / source.stem,
                       source]
            code, text = self.run(command)
            self.expect(code == 0 and says(text), f"example {source.stem}", command, text)

    def gateway(self, says):
        """As many clients at once as no 64 descriptors hold are each answered, and SIGTERM ends the program."""
        command = [BUILT / "apps/gateway/gateway", "--listen", "127.0.0.1:0"]
        told, answers, code = "", [], None
        with subprocess.Popen([*self.around, *map(str, command)], env=ENVIRONMENT, text=True, stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL) as process:
            watchdog = threading.Timer(SECONDS_MAX, process.kill)
            watchdog.start()
            try:
                while not (listens := re.search(r"http://127\.0\.0\.1:(\d+)", told)) and (
                        line := process.stderr.readline()):
                    told += line
                if listens:
                    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
                        answers = list(pool.map(ask, [int(listens[1])] * CLIENTS))
                process.send_signal(signal.SIGTERM)
                told += process.stderr.read()
                code = process.wait()
            finally:
                watchdog.cancel()
                process.kill()
        well = code == 0 and answers == [200] * CLIENTS and says(told)
        self.expect(well, "the gateway and a hundred clients", command, f"{told}\nexit {code}, answers {answers}")


def ask(port):
    """The status of an answer, or what went wrong. The clients have descriptors enough."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        body = json.dumps({"model": "mock", "messages": [{"role": "user", "content": "hello"}]})
        connection.request("POST", "/v1/chat/completions", body, {"Connection": "close"})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except OSError as error:
        return str(error)
    finally:
        connection.close()


def test_programs():
    """Every executable of tests that this build has."""
    programs = [at.name for at in (BUILT / "tests").iterdir() if at.is_file() and os.access(at, os.X_OK)]
    missing = EXCLUDED.keys() - set(programs)
    if missing:
        sys.exit(f"fault_rows.py: EXCLUDED names what is no test: {', '.join(sorted(missing))}")
    return sorted(programs)


def denied(row):
    doctor, example = BUILT / "tools/cli/pitsaw", BUILT / "examples/17_echo"
    code, text = row.run([doctor, "doctor"])
    holds = code == 0 and re.search(r"^io_uring +no: Operation not permitted$", text, re.M)
    row.expect(holds and re.search(r"^driver +epoll: ", text, re.M), "doctor sees the filter", [doctor, "doctor"], text)
    code, text = row.run([example], {"PITSAW_DRIVER": "io_uring"})
    row.expect(code == 1 and "no driver: io_uring: Operation not permitted" in text, "io_uring by name is refused",
               [example], text, {"PITSAW_DRIVER": "io_uring"})
    for name in test_programs():
        if name in EXCLUDED:
            continue
        yield lambda name=name: row.tests(name, BY_NAME + VIRTUAL_TIME.get(name, ""), {})
    yield lambda: row.examples(lambda text: text.count(FALLBACK) == 1)
    yield lambda: row.gateway(lambda text: text.count(FALLBACK) == 1)


def few_files(row):
    for name in WITH_DESCRIPTORS:
        yield lambda name=name: row.tests(name, HOLD_MANY.get(name, "nothing"), SIMULATED)
    for name, filters in HOLD_MANY.items():
        yield lambda name=name, filters=filters: row.says_what_is_missing(name, filters)
    yield lambda: row.examples(lambda text: "pitsaw:" not in text)
    yield lambda: row.gateway(lambda text: "pitsaw:" not in text)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("row", choices=["denied", "few_files"])
    arguments.add_argument("--jobs", default=str(os.cpu_count()))
    given = arguments.parse_args()
    for words in (["--preset", "release", "--log-level=WARNING"], ["--build", "--preset", "release", "-j", given.jobs]):
        if subprocess.run(["cmake", *words], cwd=ROOT, check=False).returncode != 0:
            sys.exit("0 passed, 1 failed")
    row = Row(DENY if given.row == "denied" else FEW)
    steps = denied(row) if given.row == "denied" else few_files(row)
    with concurrent.futures.ThreadPoolExecutor(int(given.jobs)) as pool:
        for done in [pool.submit(step) for step in steps]:
            done.result()
    print(f"{row.passed} passed, {row.failed} failed")
    sys.exit(0 if row.passed > 0 and row.failed == 0 else 1)


main()
