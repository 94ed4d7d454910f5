"""Plain answers over HTTP/1.1: a server on one core, wrk on the other."""
from echo.servers import PORT, cargo_package, compiled, go_program, ours, serving
from wrk import load

QUESTION = "What does an HTTP request cost that is answered from memory?"
ROUNDS = 5
ONE_CORE = False

CONNECTIONS = 50
CASES = ["keepalive50", "pipeline16"]


def nginx(tools):
    tools.program("nginx", package="nginx-light")
    return ["sh", tools.folder / "peers/nginx.sh", PORT]


SERVERS = [
    ("pitsaw-io_uring", ours("io_uring", "pitsaw_http_server")),
    ("pitsaw-epoll", ours("epoll", "pitsaw_http_server")),
    ("nginx", nginx),
    ("beast", compiled("beast.cpp", header="boost/beast.hpp", package="libboost-dev")),
    ("hyper", cargo_package("hyper_http", "hyper", "librust-hyper-dev")),
    ("go", go_program("go_http")),
]


def measured(build):
    def prepare(tools):
        command = build(tools)
        tools.program("wrk", package="wrk")

        def run(case):
            script = tools.folder / "pipeline.lua" if case == "pipeline16" else None
            with serving(tools, command) as (server, port):
                return load(tools, server, f"http://127.0.0.1:{port}/", CONNECTIONS, script)
        return run
    return prepare


SUBJECTS = [(subject, CASES, measured(build)) for subject, build in SERVERS]


def broken_demands(median):
    """Of a peer that is absent nothing is demanded."""
    own, peer = (median(who, "keepalive50", "cpu_us_per_request") for who in ("pitsaw-io_uring", "nginx"))
    if own and peer and own > peer:
        yield f"keepalive50: a request takes {own:.2f} us with pitsaw-io_uring and {peer:.2f} with nginx"
    own, peer = (median(who, "pipeline16", "requests_per_s") for who in ("pitsaw-io_uring", "nginx"))
    if own and peer and own < 4 * peer:
        yield f"pipeline16: {own:.0f} requests a second with pitsaw-io_uring, {peer:.0f} with nginx; at least 4 times"
