"""wrk as the load of HTTP servers, and what it says as figures."""
import re

SECONDS = 1  # of the warm-up as well; wrk takes whole ones
COMPARED_SECONDS, TURN = 4, 0.05  # of both servers together, and how long each has its load at a time
UNITS = {"us": 1, "ms": 1e3, "s": 1e6}


def micros(text):
    if not (found := re.fullmatch(r"([\d.]+)(us|ms|s)", text)):
        raise ValueError(f"wrk says '{text}' where a time is wanted")
    return float(found[1]) * UNITS[found[2]]


def figures_of(text):
    """[(metric, unit, value)] and the number of requests. A request that failed fails the round."""
    if broken := re.search(r"Socket errors: .*|Non-2xx.*", text):
        raise ValueError(broken[0])
    requests = int(re.search(r"(\d+) requests in", text)[1])
    return [("requests_per_s", "1/s", float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])),
            ("p50_us", "us", micros(re.search(r"50%\s+(\S+)", text)[1])),
            ("p99_us", "us", micros(re.search(r"99%\s+(\S+)", text)[1]))], requests


def checked(tools, url, text):
    try:
        return figures_of(text)
    except ValueError as why:
        raise tools.Failed(f"{url}: {why}") from why


def words(tools, url, connections, seconds, script=None):
    wrk = tools.program("wrk", package="wrk")
    return [wrk, "-t1", f"-c{connections}", "--latency", f"-d{seconds}s"] + (["-s", script] if script else []) + [url]


def load(tools, server, url, connections, script=None):
    """One round against a server that is up."""
    command = words(tools, url, connections, SECONDS, script)
    tools.output(*command, core=1)
    before = server.cpu_seconds()
    text = tools.output(*command, core=1)
    took = server.cpu_seconds() - before
    figures, requests = checked(tools, url, text)
    return figures + [("cpu_us_per_request", "us", took / requests * 1e6)]


def compare(tools, servers, connections):
    """The processor seconds of a request, of each [(server, url)]; they have their load by turns."""
    commands = [words(tools, url, connections, COMPARED_SECONDS) for _, url in servers]
    before = [server.cpu_seconds() for server, _ in servers]
    texts = tools.outputs_by_turns(TURN, *commands, core=1)
    took = [server.cpu_seconds() - start for (server, _), start in zip(servers, before)]
    return [seconds / checked(tools, url, text)[1] for seconds, (_, url), text in zip(took, servers, texts)]
