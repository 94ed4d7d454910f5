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


def ours(driver):
    def build(tools):
        if driver == "io_uring":
            need_io_uring(tools)
        return ["env", f"PITSAW_DRIVER={driver}", tools.target("pitsaw_echo"), PORT]
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


def tokio(tools):
    """With the distribution's crates: nothing is fetched."""
    crates = pathlib.Path("/usr/share/cargo/registry")
    cargo = shutil.which("cargo", path=f"{os.environ['PATH']}:{pathlib.Path.home()}/.cargo/bin")
    if not cargo or not list(crates.glob("tokio-1*")):
        raise tools.Absent("no cargo or no crate tokio (Debian packages cargo and librust-tokio-dev)")
    package = tools.built / "tokio_echo"  # a copy, because cargo writes beside its sources
    shutil.copytree(tools.folder / "peers/tokio_echo", package, dirs_exist_ok=True)
    tools.output(cargo, "build", "--release", "--offline", "--quiet", "--manifest-path", package / "Cargo.toml",
                 "--config", "source.crates-io.replace-with='system'", "--config",
                 f"source.system.directory='{crates}'", "--config", f"build.target-dir='{package / 'target'}'")
    return [package / "target/release/tokio_echo", "127.0.0.1", PORT]


def go(tools):
    tools.built.mkdir(parents=True, exist_ok=True)
    program = tools.built / "go_echo"
    tools.output(tools.program("go", package="golang-go"), "build", "-o", program, tools.folder / "peers/go_echo.go")
    return [program, "127.0.0.1", PORT]


SERVERS = [
    ("pitsaw-io_uring", ours("io_uring")),
    ("raw-io_uring", raw_io_uring),
    ("pitsaw-epoll", ours("epoll")),
    ("raw-epoll", compiled("raw_epoll.c")),
    ("asio-callbacks", compiled("asio_callbacks.cpp", header="boost/asio.hpp", package="libboost-dev")),
    ("asio-coroutines", ASIO),
    ("libuv", compiled("libuv.c", "-luv", header="uv.h", package="libuv1-dev")),
    ("tokio", tokio),
    ("go", go),
]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def accepts(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def serving(tools, command):
    """The server, on core 0, and the port on which it serves."""
    port = free_port()
    words = [port if word == PORT else word for word in command]
    with tools.server(*words, core=0, ready=lambda: accepts(port)) as server:
        yield server, port
