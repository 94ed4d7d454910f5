"""Choices of the library, measured again: what it does, beside the other way, in one run and by turns."""
import itertools
import shutil

from echo.servers import PORT, TURN, TURNS, load_program, need_io_uring, put_to_work_by_turns, serving

QUESTION = "Of two ways to do the same, is the one that the library takes the cheaper one?"
ROUNDS = 7
ONE_CORE = False

COUNTED_ROUNDS, COUNTED_SECONDS = 2, 0.4  # in which the servers' system calls are counted, one after the other
ECHOES = {"c1": 1, "c50": 50, "c500": 500}  # connections of bench/echo's load
MIB = 1 << 20
TRANSFERS = {  # connections, bytes sent and received by each
    "upload": (1, MIB, 64), "upload_own": (1, MIB, 64), "download": (1, 64, MIB),
    "upload16": (16, MIB, 64), "upload_own16": (16, MIB, 64), "download16": (16, 64, MIB),
}


def command_of(target, *words, driver="io_uring"):
    def build(tools):
        if driver == "io_uring":
            need_io_uring(tools)
        return ["env", f"PITSAW_DRIVER={driver}", tools.target(target), *words]
    return build


def compared(build, build_peer, shape_of=None):
    """The first beside the second. `shape_of(case)` is the servers' last word before the port, if they have one."""
    def prepare(tools):
        own, peer = build(tools), build_peer(tools)
        echoes, transfers = load_program(tools.of("echo")), tools.peer("bulk_load.c")
        peer_first, counted = itertools.cycle([False, True]), dict.fromkeys(ECHOES, 0)

        def words(command, case):
            return [*command, *([shape_of(case)] if shape_of else []), PORT]

        def load(server, port, case):
            if case in ECHOES:
                return [echoes, port, ECHOES[case], TURNS * TURN, server.process.pid]
            connections, *sizes = TRANSFERS[case]
            return [transfers, port, connections, TURNS * TURN, server.process.pid, *sizes]

        def calls_of(command, case):
            with serving(tools, command) as (server, port):
                count = [echoes, port, ECHOES[case], COUNTED_SECONDS, server.process.pid, "count"]
                return dict((metric, value) for metric, _, value in tools.figures(*count, core=1))

        def run(case):
            commands = [words(own, case), words(peer, case)]
            ours, others = put_to_work_by_turns(tools, *commands, lambda *serves: load(*serves, case),
                                                next(peer_first))
            cost, peer_cost = (each["cpu_us_per_request"] for each in (ours, others))
            figures = [("cpu_ratio", "times", cost / peer_cost), ("cpu_us_per_request", "us", cost),
                       ("peer_cpu_us_per_request", "us", peer_cost), ("server_busy", "%", ours["server_busy"]),
                       ("peer_busy", "%", others["server_busy"])]
            if counted.get(case, COUNTED_ROUNDS) < COUNTED_ROUNDS:
                counted[case] += 1
                for name, command in zip(("syscalls_per_request", "peer_syscalls_per_request"), commands):
                    if calls := calls_of(command, case):
                        figures.append((name, "count", calls["syscalls_per_request"]))
                    else:
                        tools.lacking["syscalls_per_request"] = "the system lets only root count them"
            return figures
        return run
    return prepare


def attempts(policy):
    return compared(command_of("pitsaw_attempts", policy), command_of("pitsaw_attempts", "nothing"),
                    lambda case: "echo" if case in ECHOES else case.removesuffix("16"))


def receives(form, other):
    return compared(command_of("pitsaw_receives", form), command_of("pitsaw_receives", other))


def recorder(driver):
    return compared(command_of("pitsaw_recorder", "on", driver=driver),
                    command_of("pitsaw_recorder", "off", driver=driver))


def instructions(tools, program, way, awaits):
    """Of a whole run."""
    out, plain = tools.built / f"stop_slot.{way}.callgrind", tools.built / "stop_slot"
    tools.built.mkdir(parents=True, exist_ok=True)
    tools.output("strip", "--strip-debug", "-o", plain, program)  # valgrind 3.19 gives up on DWARF 5
    tools.output("env", "PITSAW_DRIVER=epoll", "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", plain,
                 way, awaits)
    return next(int(line.split()[1]) for line in out.read_text().splitlines() if line.startswith("summary:"))


WAYS = ["none", "slot", "callback"]


def stop_slot(tools):
    """Its program takes the ways by turns itself. Instructions are counted once: they are the same each time."""
    program = tools.target("pitsaw_stop_slot")
    is_counted = itertools.chain([False], itertools.repeat(True))

    def run(_):
        figures = tools.figures("env", "PITSAW_DRIVER=epoll", program, core=1)
        if next(is_counted):
            return figures
        if not shutil.which("valgrind"):
            tools.lacking["instructions"] = "no program 'valgrind' (Debian package valgrind)"
            return figures
        few, many = 50_000, 100_000
        return figures + [(f"{way}_instructions", "count/await",
                           (instructions(tools, program, way, many) - instructions(tools, program, way, few)) / few)
                          for way in WAYS]
    return run


UPLOADS = ["upload", "upload16", "upload_own", "upload_own16"]
ATTEMPTS = {"everything": [*ECHOES, "upload", "upload16"], "sends": [*ECHOES, "download", "download16"],
            "full": ["c50", *UPLOADS]}
FORMS = [("multishot", "once"), ("multishot", "once_answered")]

SUBJECTS = [(f"attempts-{policy}:none", cases, attempts(policy)) for policy, cases in ATTEMPTS.items()]
SUBJECTS += [(f"{form}:{other}", list(ECHOES), receives(form, other)) for form, other in FORMS]
SUBJECTS += [(f"recorder-{driver}:none", ["c50", "c500"], recorder(driver)) for driver in ("io_uring", "epoll")]
SUBJECTS += [("pitsaw", ["stop_slot"], stop_slot)]

LEAST = 0.9  # of what we do a request may take with the other way, before the choice is to be thought over
RECORDER_MAX = 1.03  # of the processor time of an echo that nobody records
SLOT_MAX = 0.5  # of what a callback costs an await


def broken_demands(median):
    """The reasons of the choices; docs/design/0017 has the figures."""
    for policy, cases in ATTEMPTS.items():
        for case in set(cases) & {"c50", "c500"}:
            ratio = median(f"attempts-{policy}:none", case, "cpu_ratio")
            if ratio and ratio < LEAST:
                yield f"{case}: attempting {policy} takes {ratio:.3f} times the processor time of attempting nothing"
    for driver, case in itertools.product(("io_uring", "epoll"), ("c50", "c500")):
        ratio = median(f"recorder-{driver}:none", case, "cpu_ratio")
        if ratio and ratio > RECORDER_MAX:
            yield f"{case}: {driver}: an echo that is recorded takes {ratio:.3f} times, at most {RECORDER_MAX}"
    slot, callback = (median("pitsaw", "stop_slot", f"{way}_alone") for way in ("slot", "callback"))
    if slot > SLOT_MAX * callback:
        yield f"stop_slot: a slot takes {slot:.2f} ns an await, a callback {callback:.2f}; at most {SLOT_MAX} of it"
