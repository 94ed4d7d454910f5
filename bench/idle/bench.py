"""What a connection costs that says nothing: the servers of bench/echo, each with 19,000 connections."""
import contextlib
import pathlib
import re
import resource
import subprocess
import time

from echo.servers import SERVERS, serving

QUESTION = "How much memory does a connection hold whose peer is silent, in the server and in the kernel?"
ROUNDS = 3
ONE_CORE = False

CONNECTIONS, MESSAGES = 19_000, 1
WARM_UP = (100, 30)  # connections and messages: what is made once is made then, and every buffer of a pool was used
SPARE_FILES = 200
CASE = "idle"
USER_BYTES_MAX = 500


def allow_files(count):
    """The servers and the client inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, max(hard, count)))


def slab_bytes():
    """What the kernel's objects take, of the whole machine: sockets, their buffers, a driver's requests and polls."""
    return int(re.search(r"^Slab:\s+(\d+) kB", pathlib.Path("/proc/meminfo").read_text(), re.M)[1]) << 10


@contextlib.contextmanager
def held(tools, program, port, connections, messages):
    """While it lasts the connections are open and idle. The server should go first: see hold.c."""
    client = subprocess.Popen(tools.on_core(1, [program, port, connections, messages]), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        if client.stdout.readline() != "ready\n":
            raise tools.Failed(f"{connections} connections could not be opened")
        time.sleep(0.2)  # for what the server and the kernel still do
        yield
    finally:
        client.stdin.close()
        try:
            client.wait(10)
        except subprocess.TimeoutExpired:
            client.kill()
            client.wait()


def idle(build):
    def prepare(tools):
        try:
            allow_files(CONNECTIONS + SPARE_FILES)
        except (ValueError, PermissionError):
            raise tools.Absent(f"a process may not open {CONNECTIONS + SPARE_FILES} files (ulimit -n)") from None
        command, hold = build(tools.of("echo")), tools.peer("hold.c")

        def run(_):
            with contextlib.ExitStack() as client:
                with serving(tools, command) as (server, port):
                    with held(tools, hold, port, *WARM_UP):
                        pass
                    user, kernel = server.memory_bytes(), slab_bytes()
                    client.enter_context(held(tools, hold, port, CONNECTIONS, MESSAGES))
                    user, kernel = server.memory_bytes() - user, slab_bytes() - kernel
            return [("user_bytes_per_connection", "bytes", user / CONNECTIONS),
                    ("kernel_bytes_per_connection", "bytes", kernel / CONNECTIONS)]
        return run
    return prepare


SUBJECTS = [(subject, [CASE], idle(build)) for subject, build in SERVERS]


def broken_demands(median):
    for subject in ("pitsaw-io_uring", "pitsaw-epoll"):
        user = median(subject, CASE, "user_bytes_per_connection")
        if user and user > USER_BYTES_MAX:
            yield f"an idle connection of {subject} takes {user:.0f} bytes of the server; at most {USER_BYTES_MAX}"
