"""What a user's compiler does with our headers, unoptimised, as in the edit-compile-run loop."""
import os

QUESTION = "Does the 25-line example compile in at most 2 s at -O0 with Clang 19?"
ROUNDS = 7


def compiling(source):
    """Processor seconds of one compilation; ccache is not asked."""
    def prepare(tools):
        compiler = tools.program("clang++-19", package="clang-19")
        include = tools.folder.parent.parent / "include"
        command = [compiler, "-std=c++23", "-O0", f"-I{include}", "-c", tools.folder / source, "-o", os.devnull]
        lines = tools.output(compiler, "-std=c++23", f"-I{include}", "-E", "-P", tools.folder / source).count("\n")
        return lambda case: [("time", "s", tools.child_cpu_seconds(*command)), ("lines", "count", lines)]
    return prepare


SUBJECTS = [
    ("pitsaw", ["example"], compiling("../../examples/01_first_look.cpp")),
    ("standard-headers", ["example"], compiling("standard_headers.cpp")),
    ("coroutine-header", ["example"], compiling("coroutine_header.cpp")),
]


def broken_demands(median):
    """The 2 s are for a reader of the table: a timing is demanded only as a ratio within one run."""
    ours, floor = (median(subject, "example", "time") for subject in ("pitsaw", "standard-headers"))
    if ours > 2.5 * floor:
        yield f"the example takes {ours / floor:.2f} times as long as the standard headers under it; at most 2.5"
