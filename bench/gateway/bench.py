"""A call of OpenAI's kind through a proxy: the proxy on one core, its upstream and wrk on the other."""
import contextlib

from echo.servers import PORT, ours, serving
from wrk import load

QUESTION = "What does a call cost on its way through a gateway, whole or as a stream of 20 events?"
ROUNDS = 5
ONE_CORE = False

CASES = {"plain50": 50, "stream100": 100}
UPSTREAM = "UPSTREAM"


def gateway(driver):
    def build(tools):
        variable = ours(driver, "pitsaw_http_server")(tools)[1]
        tools.built.mkdir(parents=True, exist_ok=True)
        return ["sh", tools.folder / "gateway.sh", variable, tools.target("gateway", "apps/gateway"),
                tools.built / "gateway.toml", PORT, UPSTREAM]
    return build


def proxy(name, package):
    def build(tools):
        tools.program(name, package=package)
        return ["sh", tools.folder / f"peers/{name}.sh", PORT, UPSTREAM]
    return build


SERVERS = [
    ("pitsaw-io_uring", gateway("io_uring")),
    ("pitsaw-epoll", gateway("epoll")),
    ("nginx", proxy("nginx", "nginx-light")),
    ("haproxy", proxy("haproxy", "haproxy")),
]


@contextlib.contextmanager
def proxied(tools, command, upstream):
    """The proxy before an upstream, which shares the load's core."""
    with serving(tools, upstream, core=1) as (_, port):
        with serving(tools, [port if word == UPSTREAM else word for word in command]) as served:
            yield served


def measured(build):
    def prepare(tools):
        command, upstream = build(tools), ours("epoll", "pitsaw_http_server")(tools)
        tools.program("wrk", package="wrk")

        def run(case):
            with proxied(tools, command, upstream) as (server, port):
                url = f"http://127.0.0.1:{port}/v1/chat/completions"
                return load(tools, server, url, CASES[case], tools.folder / f"{case}.lua")
        return run
    return prepare


SUBJECTS = [(subject, list(CASES), measured(build)) for subject, build in SERVERS]


def broken_demands(median):
    """Of a peer that is absent nothing is demanded."""
    own, peer = (median(who, "plain50", "cpu_us_per_request") for who in ("pitsaw-io_uring", "haproxy"))
    if own and peer and own > 1.3 * peer:
        yield f"plain50: a call takes {own:.2f} us with pitsaw-io_uring and {peer:.2f} with haproxy; at most 1.3 times"
