"""Plain answers over HTTP/1.1: a server on one core, its load on the other."""
import itertools

from echo.servers import serving
from http_servers import HTTP_SERVERS
from wrk import compare, load

QUESTION = "What does an HTTP request cost that is answered from memory?"
ROUNDS = 5
ONE_CORE = False

CONNECTIONS, DEPTH = 50, 16
CASES = ["keepalive50", "pipeline16"]
SECONDS = 1  # measured in a round of pipeline16
TURNS, TURN = 40, 0.05  # of a server that is compared by turns: how many it has in a round, and their seconds


def url_of(port):
    return f"http://127.0.0.1:{port}/"


def pipeline(program, server, port, seconds):
    """The command of its load."""
    return [program, port, CONNECTIONS, DEPTH, seconds, server.process.pid]


def measured(build):
    def prepare(tools):
        command, program = build(tools), tools.peer("pipeline_load.c")
        tools.program("wrk", package="wrk")

        def run(case):
            with serving(tools, command) as (server, port):
                if case == "pipeline16":
                    return tools.figures(*pipeline(program, server, port, SECONDS), core=1)
                return load(tools, server, url_of(port), CONNECTIONS)
        return run
    return prepare


def costs_of(tools, program, case, servers):
    """The processor time of a request, of servers that have their load by turns."""
    if case == "keepalive50":
        return compare(tools, [(server, url_of(port)) for server, port in servers], CONNECTIONS)
    loads = [pipeline(program, server, port, TURNS * TURN) for server, port in servers]
    return [next(value for metric, _, value in figures if metric == "cpu_us_per_request")
            for figures in tools.figures_by_turns(TURN, *loads, core=1)]


def by_turns(build, build_peer):
    """As in bench/echo: both are up and have their load by turns."""
    def prepare(tools):
        command, peer, program = build(tools), build_peer(tools), tools.peer("pipeline_load.c")
        tools.program("wrk", package="wrk")
        peer_first = itertools.cycle([False, True])

        def run(case):
            order = [peer, command] if next(peer_first) else [command, peer]
            with serving(tools, order[0]) as first, serving(tools, order[1]) as second:
                costs = costs_of(tools, program, case, [first, second])
            own, others = costs[::-1] if order[0] is peer else costs
            return [("cpu_ratio", "times", own / others)]
        return run
    return prepare


SUBJECTS = [(subject, CASES, measured(build)) for subject, build in HTTP_SERVERS]
SUBJECTS += [("pitsaw-io_uring:nginx", CASES,
              by_turns(dict(HTTP_SERVERS)["pitsaw-io_uring"], dict(HTTP_SERVERS)["nginx"]))]


def broken_demands(median):
    """Of a peer that is absent nothing is demanded."""
    ratio = median("pitsaw-io_uring:nginx", "keepalive50", "cpu_ratio")
    if ratio and ratio > 1:
        yield f"keepalive50: a request takes {ratio:.3f} times nginx's time with pitsaw-io_uring; at most 1"
    own, peer = (median(who, "pipeline16", "requests_per_s") for who in ("pitsaw-io_uring", "nginx"))
    if own and peer and own < 4 * peer:
        yield f"pipeline16: {own:.0f} requests a second with pitsaw-io_uring, {peer:.0f} with nginx; at least 4 times"
