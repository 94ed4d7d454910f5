"""The HTTP servers that bench/http and bench/idle compare; see echo/servers.py, which has what they share."""
from echo.servers import PORT, cargo_package, compiled, go_program, listening, ours


def nginx(tools):
    tools.program("nginx", package="nginx-light")
    return ["sh", tools.folder / "peers/nginx.sh", PORT]


HTTP_SERVERS = [
    ("pitsaw-io_uring", ours("io_uring", "pitsaw_http_server")),
    ("pitsaw-epoll", ours("epoll", "pitsaw_http_server")),
    ("nginx", nginx),
    ("beast", compiled("beast.cpp", header="boost/beast.hpp", package="libboost-dev")),
    ("hyper", listening(cargo_package("hyper_http", "hyper", "librust-hyper-dev"))),
    ("go", listening(go_program("go_http"))),
]
