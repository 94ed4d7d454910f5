"""Echoes of 64 bytes over loopback TCP: a server on one core, a closed loop of requests on the other."""
import itertools

from echo.servers import ON_TWO_THREADS, SERVERS, TURN, TURNS, load_program, put_to_work_by_turns, serving

QUESTION = "What does a request cost that comes in, is read, is answered and goes out?"
ROUNDS = 7
ONE_CORE = False

SECONDS = 0.4  # measured in a round, after a warm-up of a quarter of it
COUNTED_ROUNDS = 3  # in which the server's system calls are counted too, in a run of their own
CASES = {"c1": 1, "c50": 50, "c500": 500}
CASES_ON_TWO = {"c50x2": 50, "c500x2": 500}  # the server on both cores, the load on the second


def measured(build, cases, core):
    def prepare(tools):
        command, load = build(tools), load_program(tools)
        counted = dict.fromkeys(cases, 0)

        def run(case):
            with serving(tools, command, core) as (server, port):
                words = [load, port, cases[case], SECONDS, server.process.pid]
                figures = tools.figures(*words, core=1)
                if counted[case] < COUNTED_ROUNDS:
                    counted[case] += 1
                    calls = tools.figures(*words, "count", core=1)
                    if not calls:
                        tools.lacking["syscalls_per_request"] = "the system lets only root count them"
                    figures += calls
                return figures
        return run
    return prepare


def by_turns(build, build_peer):
    """Two servers that are put to work by turns, so that whatever else the machine does hits both alike."""
    def prepare(tools):
        command, peer, load = build(tools), build_peer(tools), load_program(tools)
        peer_first = itertools.cycle([False, True])

        def load_of(case):
            return lambda server, port: [load, port, CASES[case], TURNS * TURN, server.process.pid]

        def run(case):
            own, others = put_to_work_by_turns(tools, command, peer, load_of(case), next(peer_first))
            return [("cpu_ratio", "times", own["cpu_us_per_request"] / others["cpu_us_per_request"])]
        return run
    return prepare


# Subject, its peer, the cases, and how many times the peer's processor time a request may take.
DEMANDS = [
    ("pitsaw-io_uring", "raw-io_uring", ["c50", "c500"], 1.15),
    ("pitsaw-io_uring", "asio-coroutines", ["c50", "c500"], 0.85),
    ("pitsaw-epoll", "raw-epoll", ["c50", "c500"], 1.12),
]
SYSCALLS_MAX = 0.06  # on a machine that others use the load falls behind and turns are small, for all servers

SUBJECTS = [(subject, list(CASES), measured(build, CASES, core=0)) for subject, build in SERVERS]
SUBJECTS += [(subject, list(CASES_ON_TWO), measured(build, CASES_ON_TWO, core=None))
             for subject, build in ON_TWO_THREADS]
SUBJECTS += [(f"{own}:{peer}", cases, by_turns(dict(SERVERS)[own], dict(SERVERS)[peer]))
             for own, peer, cases, _ in DEMANDS]


def broken_demands(median):
    """Of a peer that is absent nothing is demanded."""
    for own, peer, cases, most in DEMANDS:
        for case in cases:
            ratio = median(f"{own}:{peer}", case, "cpu_ratio")
            if ratio and ratio > most:
                yield f"{case}: a request takes {ratio:.3f} times {peer}'s time with {own}; at most {most}"
    calls = median("pitsaw-io_uring", "c50", "syscalls_per_request")
    if calls and calls > SYSCALLS_MAX:
        yield f"c50: pitsaw-io_uring makes {calls:.4f} system calls a request; at most {SYSCALLS_MAX}"
