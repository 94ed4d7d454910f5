"""Plain answers over HTTP/1.1: a server on one core, its load on the other."""
import itertools

from echo.servers import TURN, TURNS, put_to_work_by_turns, serving
from http_servers import HTTP_SERVERS
from wrk import load

QUESTION = "What does an HTTP request cost that is answered from memory?"
ROUNDS = 5
ONE_CORE = False

CONNECTIONS = 50
CASES = {"keepalive50": 1, "pipeline16": 16}  # requests in one write
SECONDS = 1  # measured in a round of pipeline16


def counting_load(program, server, port, case, seconds):
    """The command of a load that counts bytes."""
    return [program, port, CONNECTIONS, CASES[case], seconds, server.process.pid]


def measured(build):
    def prepare(tools):
        command, program = build(tools), tools.peer("pipeline_load.c")
        tools.program("wrk", package="wrk")

        def run(case):
            with serving(tools, command) as (server, port):
                if case == "pipeline16":
                    return tools.figures(*counting_load(program, server, port, case, SECONDS), core=1)
                return load(tools, server, f"http://127.0.0.1:{port}/", CONNECTIONS)
        return run
    return prepare


def by_turns(build, build_peer):
    """As in bench/echo: both are up and have their load by turns."""
    def prepare(tools):
        command, peer, program = build(tools), build_peer(tools), tools.peer("pipeline_load.c")
        peer_first = itertools.cycle([False, True])

        def load_of(case):
            return lambda server, port: counting_load(program, server, port, case, TURNS * TURN)

        def run(case):
            own, others = put_to_work_by_turns(tools, command, peer, load_of(case), next(peer_first))
            return [("cpu_ratio", "times", own["cpu_us_per_request"] / others["cpu_us_per_request"])]
        return run
    return prepare


SUBJECTS = [(subject, list(CASES), measured(build)) for subject, build in HTTP_SERVERS]
SUBJECTS += [("pitsaw-io_uring:nginx", list(CASES),
              by_turns(dict(HTTP_SERVERS)["pitsaw-io_uring"], dict(HTTP_SERVERS)["nginx"]))]


def broken_demands(median):
    """Of a peer that is absent nothing is demanded."""
    ratio = median("pitsaw-io_uring:nginx", "keepalive50", "cpu_ratio")
    if ratio and ratio > 1:
        yield f"keepalive50: a request takes {ratio:.3f} times nginx's time with pitsaw-io_uring; at most 1"
    own, peer = (median(who, "pipeline16", "requests_per_s") for who in ("pitsaw-io_uring", "nginx"))
    if own and peer and own < 4 * peer:
        yield f"pipeline16: {own:.0f} requests a second with pitsaw-io_uring, {peer:.0f} with nginx; at least 4 times"
