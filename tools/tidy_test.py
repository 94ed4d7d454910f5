#!/usr/bin/env python3
"""Plants each breach in a small clean tree and asserts that tidy.py reports it, there and nowhere else."""
import pathlib
import sys
import tempfile

import tidy

# A tree that breaks no rule. A test that mentions a name is its user.
CLEAN = {
    "include/pitsaw/pitsaw.hpp": "#pragma once\n#include <pitsaw/task/task.hpp>\n",
    "include/pitsaw/base/check.hpp": "#pragma once\n#include <cstdint>\nstruct check_type {\n    int a{1};\n};\n",
    "include/pitsaw/task/task.hpp": "#pragma once\n#include <pitsaw/base/check.hpp>\n"
                                    "#include <pitsaw/io/result.hpp>\nvoid start();\n",
    "include/pitsaw/io/result.hpp": "#pragma once\n#include <pitsaw/base/check.hpp>\n",
    "include/pitsaw/io/driver.hpp": "#pragma once\n#include <pitsaw/io/result.hpp>\n",
    "include/pitsaw/io/read.hpp": "#pragma once\n#include <pitsaw/io/driver.hpp>\n"
                                  "#include <pitsaw/task/task.hpp>\n",
    "src/task/task.cpp": '#include <pitsaw/task/task.hpp>\n#include <unistd.h>\nvoid start() {}\n',
    "src/loop/worker.hpp": "#pragma once\n#include <pitsaw/io/driver.hpp>\n",
    "src/driver/sim/driver.hpp": "#pragma once\n#include <pitsaw/io/driver.hpp>\n",
    "src/loop/worker.cpp": '#include "driver/sim/driver.hpp"\n#include "loop/worker.hpp"\n',
    "tests/unit/task/task_test.cpp": "#include <pitsaw/io/read.hpp>\nTEST(a, b) {\n    check_type c;\n"
                                     "    start();\n}\n",
    "tests/unit/task/task_again_test.cpp": "#include <pitsaw/task/task.hpp>\n",
    "tests/unit/task/task_case_test.cpp": "#include <pitsaw/task/task.hpp>\n// C" "A1\n",
    "docs/CASES.md": "| C" "A1 | lost | `tests/unit/task/task_case_test.cpp` |\n",
    "docs/guide/a.md": "The operation, not the `coro` of others.\n",
}
TASK, TEST = "include/pitsaw/task/task.hpp", "tests/unit/task/task_test.cpp"


def append(name, text):
    return lambda files: files.update({name: files[name] + text})


def add(name, text=""):
    return lambda files: files.update({name: text})


def both(*changes):
    return lambda files: [change(files) for change in changes]


# (what, the change, rule, file, line). Lines that are appended come after those of CLEAN.
PLANTED = [
    ("an include points upwards", append("include/pitsaw/base/check.hpp", "#include <pitsaw/task/task.hpp>\n"),
     "layer", "include/pitsaw/base/check.hpp", 6),
    ("a task knows streams", append(TASK, "#include <pitsaw/io/read.hpp>\n"), "layer", TASK, 5),
    ("a task knows drivers", append(TASK, "#include <pitsaw/io/driver.hpp>\n"), "layer", TASK, 5),
    ("the driver's side knows tasks", append("include/pitsaw/io/driver.hpp", "#include <pitsaw/task/task.hpp>\n"),
     "layer", "include/pitsaw/io/driver.hpp", 3),
    ("a driver knows tasks", append("src/driver/sim/driver.hpp", "#include <pitsaw/task/task.hpp>\n"), "layer",
     "src/driver/sim/driver.hpp", 3),
    ("a driver knows the loop", append("src/driver/sim/driver.hpp", '#include "loop/worker.hpp"\n'), "layer",
     "src/driver/sim/driver.hpp", 3),
    ("a folder outside the table", add("src/glue/glue.cpp"), "layer", "src/glue/glue.cpp", 1),
    ("an include of nothing", append(TASK, "#include <pitsaw/task/gone.hpp>\n"), "layer", TASK, 5),
    ("a header of the system", append(TASK, "#include <sys/socket.h>\n"), "header", TASK, 5),
    ("a public header sees src", append("include/pitsaw/io/read.hpp", '#include "loop/worker.hpp"\n'), "header",
     "include/pitsaw/io/read.hpp", 4),
    ("an example sees src", add("examples/01_a.cpp", "#include <loop/worker.hpp>\n"), "header", "examples/01_a.cpp", 1),
    ("a dumping ground", add("src/task/task_utils.cpp"), "name", "src/task/task_utils.cpp", 1),
    ("a folder of helpers", add("tools/helpers/a.py"), "name", "tools/helpers/a.py", 1),
    ("camel case", add("src/task/taskList.cpp"), "name", "src/task/taskList.cpp", 1),
    ("no pragma once", add("include/pitsaw/io/result.hpp", "// a\n#pragma once\n"), "once",
     "include/pitsaw/io/result.hpp", 1),
    ("a long file", append("src/task/task.cpp", "\n" * 450), "size", "src/task/task.cpp", 450),
    ("a long worker", append("src/loop/worker.cpp", "\n" * 300), "size", "src/loop/worker.cpp", 300),
    ("a long line", append(TASK, "// " + "x" * 108 + "\n"), "size", TASK, 5),
    ("a long function", append("src/task/task.cpp", "int start(int a) {\n" + "    ++a;\n" * 65 + "}\n"), "size",
     "src/task/task.cpp", 4),
    ("a long member function", append("src/task/task.cpp", "struct start {\n    start() : a{1} {\n" + "    ++a;\n" * 65
                                      + "    }\n    int a;\n};\n"), "size", "src/task/task.cpp", 5),
    ("an ifdef in a function", append("src/task/task.cpp", "void start(int) {\n#ifdef A\n#endif\n}\n"), "ifdef",
     "src/task/task.cpp", 5),
    ("a reminder", append(TASK, "// TO" "DO: more\n"), "word", TASK, 5),
    ("a path of this machine", append("docs/guide/a.md", "see /wor" "k/x\n"), "word", "docs/guide/a.md", 2),
    ("a registry", append("docs/guide/a.md", "from pypi" ".org\n"), "word", "docs/guide/a.md", 2),
    ("a term of others", append(TASK, "// like a nurs" "ery\n"), "word", TASK, 5),
    ("a term of others in a page", append("docs/guide/a.md", "Give it a cancel tok" "en.\n"), "word",
     "docs/guide/a.md", 2),
    ("a clipped word", append(TASK, "// resumes the co" "ro again\n"), "word", TASK, 5),
    ("a fence", append("src/task/task.cpp", "auto a = std::atomic_thread_" "fence;\n"), "word", "src/task/task.cpp", 4),
    ("an attribute", append("src/task/task.cpp", "struct [[clang::coro_only_destroy_when_" "complete]] start {};\n"),
     "word", "src/task/task.cpp", 4),
    ("a skipped test", append(TEST, "void start(int) { GTEST_" "SKIP(); }\n"), "skip", TEST, 6),
    ("a disabled test", append(TEST, "TEST(a, DIS" "ABLED_b) {}\n"), "skip", TEST, 6),
    ("a case without a row", append(TEST, "// T" "M2\n"), "case", TEST, 6),
    ("a test that its case does not name", append(TEST, "// C" "A1\n"), "case", TEST, 6),
    ("a case whose test does not know it", append("docs/CASES.md", f"| T" f"M2 | late | `{TEST}` |\n"), "case",
     "docs/CASES.md", 2),
    ("a test of no header", add("tests/unit/task/other_test.cpp"), "mirror", "tests/unit/task/other_test.cpp", 1),
    ("a test that nobody builds", add("tests/unit/task/task.cpp"), "mirror", "tests/unit/task/task.cpp", 1),
    ("an untested header", add("include/pitsaw/time/sleep.hpp", "#pragma once\n"), "unused",
     "include/pitsaw/time/sleep.hpp", 1),
    ("a header tested through the umbrella only", both(
        add("include/pitsaw/time/sleep.hpp", "#pragma once\n"),
        append("include/pitsaw/pitsaw.hpp", "#include <pitsaw/time/sleep.hpp>\n"),
        append(TEST, "#include <pitsaw/pitsaw.hpp>\n")), "unused", "include/pitsaw/time/sleep.hpp", 1),
    ("a private header of nobody", add("src/task/list.hpp", "#pragma once\n"), "unused", "src/task/list.hpp", 1),
    ("a type of nobody", append(TASK, "struct lonely {};\n"), "unused", TASK, 5),
    ("a function of nobody", append(TASK, "int lonely(int);\n"), "unused", TASK, 5),
    ("a function that is only defined", both(append(TASK, "int lonely(int);\n"), append(
        "src/task/task.cpp", "int lonely(int) { return 0; }\n")), "unused", TASK, 5),
]
# What must stay silent.
FINE = [
    ("a nested brace in a parameter", append(TEST, "void start(check_type c = {1}) {\n}\n")),
    ("a function of sixty lines", append(TEST, "int start(int a) {\n" + "    ++a;\n" * 58 + "}\n")),
    ("a long class", append(TEST, "template <class T>\nclass start final : T {\n" + "    int a;\n" * 80 + "};\n")),
    ("an ifdef outside", append("src/task/task.cpp", "#ifdef A\n#endif\n")),
    ("a word inside an identifier", append(TEST, "int a = raw_coro;\n")),
    ("a function that is defined and called", both(append(TASK, "int lonely(int);\n"), append(
        "src/task/task.cpp", "int lonely(int) { return 0; }\n"), append(TEST, "int a = lonely(1);\n"))),
    ("words in a string", append(TEST, 'auto a = "a nurs" "ery { ( ";\n')),
]


def findings_of(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return [(rule, name, line) for name, line, rule, _ in tidy.findings(root)[1]]


def main():
    wrong = []
    for what, change, *expected in PLANTED + [(what, change) for what, change in FINE] + [("the clean tree", add)]:
        files = dict(CLEAN)
        if change is not add:
            change(files)
        found = findings_of(files)
        if found != [tuple(expected)] * bool(expected):
            wrong.append(f"{what}: expected {expected or 'nothing'}, found {found}")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"tidy self-test: {len(PLANTED)} planted, {len(FINE) + 1} clean, {len(wrong)} judged wrongly")
    sys.exit(1 if wrong else 0)


main()
