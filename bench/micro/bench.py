"""The cost of each step of a coroutine, beside a hand-written floor and the libraries that users come from."""
QUESTION = "What does each step of a coroutine cost, in time, heap allocations and frames?"
ROUNDS = 9

OURS = ["nested_hidden", "nested_visible", "straight_line", "leaf_inline", "leaf_suspending_timer",
        "leaf_suspending_operation", "yield", "checkpoint", "spawn_join", "when_any_of_two", "when_all_of_two",
        "as_outcome", "with_timeout", "with_timeout_among_million", "or_return", "at_exit", "mutex",
        "mutex_handed_over", "semaphore", "timer_arm_cancel", "stop_callback"]


def program(build):
    """A subject whose program does one round of the case it is given."""
    def prepare(tools):
        built = build(tools)
        return lambda case: tools.figures(built, case)
    return prepare


SUBJECTS = [
    ("pitsaw", OURS, program(lambda tools: tools.target("pitsaw_micro"))),
    ("raw", ["nested_hidden", "yield", "mutex"], program(lambda tools: tools.peer("raw.cpp"))),
    # Boost 1.74 does not know that Clang has coroutines.
    ("asio", ["nested_hidden", "yield", "spawn_join", "timer_arm_cancel"], program(lambda tools: tools.peer(
        "asio.cpp", "-DBOOST_ASIO_HAS_CO_AWAIT", "-DBOOST_ASIO_HAS_STD_COROUTINE",
        header="boost/asio.hpp", package="libboost-dev"))),
    ("libuv", ["timer_arm_cancel"], program(lambda tools: tools.peer(
        "libuv.c", "-luv", header="uv.h", package="libuv1-dev"))),
]


def broken_demands(median):
    """Timings are asserted as ratios within one run."""
    ours, floor = (median(subject, "nested_hidden", "time") for subject in ("pitsaw", "raw"))
    if ours > 2.5 * floor:
        yield f"a nested ready await takes {ours / floor:.2f} times the raw floor's; at most 2.5"
    ours, floor = (median(subject, "mutex", "time") for subject in ("pitsaw", "raw"))
    if ours > 2 * floor:
        yield f"a mutex that nobody else wants takes {ours / floor:.2f} times two exchanges; at most 2"
    for case in OURS:
        if median("pitsaw", case, "allocations"):
            yield f"{case} allocates from the heap after warm-up"
