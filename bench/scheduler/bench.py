"""Fork and join, spawning, yields, messages and timers, on one worker and on two, beside other schedulers."""
from echo.servers import cargo_package, go_program

QUESTION = "What does it cost to share work among workers?"
ROUNDS = 7
ONE_CORE = False

WORKERS = (1, 2)
FORKS = ["fib", "skynet", "nqueens"]
TASKS = ["spawn_join", "yield", "channel_1_to_1", "channel_4_to_4", "ping_pong", "timers"]


def on_workers(names):
    """Each case on each number of workers; what has one task at a time is not faster with two."""
    return [f"{name}-{workers}" for name in names for workers in WORKERS if (name, workers) != ("spawn_join", 2)]


def program(build):
    def prepare(tools):
        command = build(tools)

        def run(case):
            name, workers = case.rsplit("-", 1)
            return tools.figures(*command, name, workers)
        return run
    return prepare


def peer(*words, **needs):
    return lambda tools: [tools.peer(*words, **needs)]


SUBJECTS = [
    ("pitsaw", on_workers(FORKS + TASKS) + ["stolen_start-2", "switches-4"],
     program(lambda tools: [tools.target("pitsaw_scheduler")])),
    ("tbb", on_workers(FORKS), program(peer(
        "tbb.cpp", "-ltbb", header="oneapi/tbb/task_group.h", package="libtbb-dev"))),
    ("asio", on_workers(TASKS), program(peer(
        "asio.cpp", "-DBOOST_ASIO_HAS_CO_AWAIT", "-DBOOST_ASIO_HAS_STD_COROUTINE",
        header="boost/asio/experimental/concurrent_channel.hpp", package="libboost1.81-dev"))),
    ("tokio", on_workers(["skynet", *(name for name in TASKS if name != "channel_4_to_4")]),
     program(cargo_package("tokio_scheduler", "tokio", "librust-tokio-dev"))),
    ("go", on_workers(["skynet", *TASKS]), program(go_program("go_scheduler"))),
]

# The case, the peer, and how many times the peer's time it may take.
DEMANDS = [("fib", "tbb", 0.45), ("skynet", "tbb", 0.40)]


def broken_demands(median):
    """Timings are asserted as ratios within one run."""
    for name, other, most in DEMANDS:
        for workers in WORKERS:
            case = f"{name}-{workers}"
            ours, theirs = median("pitsaw", case, "time"), median(other, case, "time")
            if theirs and ours > most * theirs:
                yield f"{case} takes {ours / theirs:.2f} times as long as {other}; at most {most}"
    delay, switches = median("pitsaw", "stolen_start-2", "delay"), median("pitsaw", "switches-4", "switches_per_task")
    if delay and delay > 500 / 100:
        yield f"a child begins {delay:.1f} ms after its spawn, while its worker computes for 500; at most a hundredth"
    if switches and switches > 1.2:
        yield f"a thread goes to sleep {switches:.2f} times for each small task; at most 1.2"
