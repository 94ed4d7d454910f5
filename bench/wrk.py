"""wrk as the load of HTTP servers, and what it says as figures."""
import re

SECONDS = 1  # of the warm-up as well; wrk takes whole ones
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
            ("p50_us", "us", micros(re.search(r"^\s+50%\s+(\S+)", text, re.M)[1])),
            ("p99_us", "us", micros(re.search(r"^\s+99%\s+(\S+)", text, re.M)[1]))], requests


def load(tools, server, url, connections, script=None):
    """One round against a server that is up."""
    wrk = tools.program("wrk", package="wrk")
    words = [wrk, "-t1", f"-c{connections}", "--latency"] + (["-s", script] if script else [])
    tools.output(*words, f"-d{SECONDS}s", url, core=1)
    before = server.cpu_seconds()
    text = tools.output(*words, f"-d{SECONDS}s", url, core=1)
    took = server.cpu_seconds() - before
    try:
        figures, requests = figures_of(text)
    except ValueError as why:
        raise tools.Failed(f"{url}: {why}") from why
    return figures + [("cpu_us_per_request", "us", took / requests * 1e6)]
