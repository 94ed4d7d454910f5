"""The echo servers that bench/echo and bench/idle compare, each as a good user of its library would write it.

`SERVERS` is a list of (subject, build); `build(tools)` gives the command line that serves on port PORT of 127.0.0.1.
"""
import contextlib
import ctypes
import errno
import os
import pathlib
import shutil
import socket

PORT = "PORT"


IO_URING_SETUP = 425  # the number of the system call, the same on every architecture


def need_io_uring(tools):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(IO_URING_SETUP, 0, None)  # a ring without entries: EINVAL or EFAULT where there are rings at all
    if ctypes.get_errno() in (errno.ENOSYS, errno.EPERM):
        raise tools.Absent("the system refuses io_uring")


def ours(driver, program="pitsaw_echo", *words):
    def build(tools):
        if driver == "io_uring":
            need_io_uring(tools)
        return ["env", f"PITSAW_DRIVER={driver}", tools.target(program), PORT, *words]
    return build


def raw_io_uring(tools):
    need_io_uring(tools)
    return compiled("raw_io_uring.c", "-luring", header="liburing.h", package="liburing-dev")(tools)


def compiled(source, *flags, **needs):
    def build(tools):
        return [tools.peer(source, *flags, **needs), "127.0.0.1", PORT]
    return build


# Boost 1.74 does not know that Clang has coroutines.
ASIO = compiled("asio_coroutines.cpp", "-DBOOST_ASIO_HAS_CO_AWAIT", "-DBOOST_ASIO_HAS_STD_COROUTINE",
                header="boost/asio.hpp", package="libboost-dev")


def cargo_package(name, crate, package):
    """A folder of peers/, with the distribution's crates: nothing is fetched."""
    def build(tools):
        crates = pathlib.Path("/usr/share/cargo/registry")
        cargo = shutil.which("cargo", path=f"{os.environ['PATH']}:{pathlib.Path.home()}/.cargo/bin")
        if not cargo or not list(crates.glob(f"{crate}-[0-9]*")):
            raise tools.Absent(f"no cargo or no crate {crate} (Debian packages cargo and {package})")
        copy = tools.built / name  # because cargo writes beside its sources
        shutil.copytree(tools.folder / "peers" / name, copy, dirs_exist_ok=True)
        tools.output(cargo, "build", "--release", "--offline", "--quiet", "--manifest-path", copy / "Cargo.toml",
                     "--config", "source.crates-io.replace-with='system'", "--config",
                     f"source.system.directory='{crates}'", "--config", f"build.target-dir='{copy / 'target'}'")
        return [copy / "target/release" / name]
    return build


def go_program(name):
    def build(tools):
        tools.built.mkdir(parents=True, exist_ok=True)
        program = tools.built / name
        compiler = tools.program("go", package="golang-go")
        tools.output(compiler, "build", "-o", program, tools.folder / f"peers/{name}.go")
        return [program]
    return build


def listening(build):
    return lambda tools: [*build(tools), "127.0.0.1", PORT]


SERVERS = [
    ("pitsaw-io_uring", ours("io_uring")),
    ("raw-io_uring", raw_io_uring),
    ("pitsaw-epoll", ours("epoll")),
    ("raw-epoll", compiled("raw_epoll.c")),
    ("asio-callbacks", compiled("asio_callbacks.cpp", header="boost/asio.hpp", package="libboost-dev")),
    ("asio-coroutines", ASIO),
    ("libuv", compiled("libuv.c", "-luv", header="uv.h", package="libuv1-dev")),
    ("tokio", listening(cargo_package("tokio_echo", "tokio", "librust-tokio-dev"))),
    ("go", listening(go_program("go_echo"))),
]


def with_words(build, *words):
    return lambda tools: [*build(tools), *words]


# The same where two threads serve. Go takes as many as it has processors in any case.
ON_TWO_THREADS = [
    *((f"pitsaw-{driver}-{how}", ours(driver, "pitsaw_echo", how, 2))
      for driver in ("io_uring", "epoll") for how in ("per_core", "stealing")),
    *((name, with_words(dict(SERVERS)[name], 2)) for name in ("asio-coroutines", "tokio")),
    ("go", dict(SERVERS)["go"]),
]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def accepts(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def serving(tools, command, core=0):
    """The server and the port on which it serves."""
    port = free_port()
    words = [port if word == PORT else word for word in command]
    with tools.server(*words, core=core, ready=lambda: accepts(port)) as server:
        yield server, port


def load_program(tools):
    """Prefers io_uring, which leaves more of its core; without its library the load is made by epoll."""
    try:
        return tools.peer("load.c", "-luring", header="liburing.h", package="liburing-dev")
    except tools.Absent as why:
        tools.lacking["load by io_uring"] = f"{why}; it is made by epoll"
        return tools.peer("load.c")


TURNS, TURN = 40, 0.05  # of a server that is compared by turns: how many it has in a round, and their seconds


def put_to_work_by_turns(tools, command, peer, load, peer_first):
    """The figures of two servers, {metric: value} of each: both are up and have their load by turns, so that whatever
    else the machine does hits both alike. `load(server, port)` is the command of a load that lasts TURNS * TURN."""
    order = [peer, command] if peer_first else [command, peer]
    with serving(tools, order[0]) as first, serving(tools, order[1]) as second:
        figures = tools.figures_by_turns(TURN, load(*first), load(*second), core=1)
    both = [{metric: value for metric, _, value in each} for each in figures]
    return both[::-1] if peer_first else both
