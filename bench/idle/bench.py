"""What waiting costs: connections that say nothing, by the thousand, and a million tasks that sleep."""
import contextlib
import pathlib
import re
import resource
import subprocess
import time

from echo.servers import SERVERS, serving
from http_servers import HTTP_SERVERS

QUESTION = "How much memory does a connection hold whose peer is silent, and a task that sleeps?"
ROUNDS = 3
ONE_CORE = False

CONNECTIONS = {"idle": 19_000, "idle_http": 10_000}
MESSAGES = 1
WARM_UP = (100, 30)  # connections and messages: what is made once is made then, and every buffer of a pool was used
SPARE_FILES = 200
OTHERS = {"proc_inode_cache"}  # grows with whoever looks into /proc
USER_BYTES_MAX = {"idle": 500, "idle_http": 1229}
SLEEPERS, SLEEPER_BYTES_MAX = 1_000_000, 280


def allow_files(count):
    """The servers and the client inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, max(hard, count)))


def kernel_objects():
    """{kind: (how many there are, bytes of one)}, of the whole machine; empty if the system does not tell."""
    try:
        lines = pathlib.Path("/proc/slabinfo").read_text().splitlines()[2:]
    except OSError:
        return {}
    return {words[0]: (int(words[1]), int(words[3])) for words in map(str.split, lines)}


def settled_objects(connections):
    """The same when the sockets of an earlier server are gone: the kernel frees them late."""
    objects = kernel_objects()
    for _ in range(30):
        time.sleep(0.1)
        before, objects = objects, kernel_objects()
        if sum(before[kind][0] - count for kind, (count, _) in objects.items() if kind in before) < connections / 100:
            break
    return objects


def kernel_bytes_per_connection(before, after, connections):
    """Of each kind a connection has a whole number of objects, so that rounding removes what others did meanwhile."""
    return sum(max(0, round((count - before.get(kind, (0, size))[0]) / connections)) * size
               for kind, (count, size) in after.items() if kind not in OTHERS)


@contextlib.contextmanager
def held(tools, program, port, connections, messages, *kind):
    """While it lasts the connections are open and idle. The server should go first: see hold.c."""
    client = subprocess.Popen(tools.on_core(1, [program, port, connections, messages, *kind]), stdin=subprocess.PIPE,
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


def idle(build, folder, case, *kind):
    connections = CONNECTIONS[case]

    def prepare(tools):
        try:
            allow_files(connections + SPARE_FILES)
        except (ValueError, PermissionError):
            raise tools.Absent(f"a process may not open {connections + SPARE_FILES} files (ulimit -n)") from None
        command, hold = build(tools.of(folder)), tools.peer("hold.c")

        def run(_):
            with contextlib.ExitStack() as client:
                with serving(tools, command) as (server, port):
                    with held(tools, hold, port, *WARM_UP, *kind):
                        pass
                    user, objects = server.memory_bytes(), settled_objects(connections)
                    client.enter_context(held(tools, hold, port, connections, MESSAGES, *kind))
                    user = server.memory_bytes() - user
                    kernel = kernel_bytes_per_connection(objects, kernel_objects(), connections)
            figures = [("user_bytes_per_connection", "bytes", user / connections)]
            if not objects:
                tools.lacking["kernel_bytes_per_connection"] = "the system lets only root read /proc/slabinfo"
                return figures
            return figures + [("kernel_bytes_per_connection", "bytes", kernel)]
        return run
    return prepare


def sleepers(tools):
    program = tools.target("pitsaw_sleepers")
    return lambda _: tools.figures(program, SLEEPERS)


SUBJECTS = [("pitsaw", ["sleepers"], sleepers)]
SUBJECTS += [(subject, ["idle"], idle(build, "echo", "idle")) for subject, build in SERVERS]
SUBJECTS += [(subject, ["idle_http"], idle(build, "http", "idle_http", "http")) for subject, build in HTTP_SERVERS]


def broken_demands(median):
    sleeper = median("pitsaw", "sleepers", "bytes_per_task")
    if sleeper and sleeper > SLEEPER_BYTES_MAX:
        yield f"a task that sleeps takes {sleeper:.0f} bytes; at most {SLEEPER_BYTES_MAX}"
    for subject in ("pitsaw-io_uring", "pitsaw-epoll"):
        for case, most in USER_BYTES_MAX.items():
            user = median(subject, case, "user_bytes_per_connection")
            if user and user > most:
                yield f"{case}: a connection of {subject} takes {user:.0f} bytes of the server; at most {most}"
