#!/usr/bin/env python3
"""tidy.py [ROOT]: the rules that no compiler and no formatter enforces. Prints `file:line: rule: what, and what to do`.

Rules: layer, header, name, size, once, word, ifdef, mirror, skip, case, unused. tidy_test.py plants a breach of each.
"""
import collections
import pathlib
import re
import subprocess
import sys

# ---- The layers. An include may only point downwards; docs/ARCHITECTURE.md draws the same table.
LEVELS = [["base"], ["stop"], ["executor"], ["task"], ["compute", "time"], ["scope", "sync", "poll"], ["io"],
          ["net", "fs", "process"], ["http"]]
PUBLIC = [folder for level in LEVELS for folder in level]
# The driver's side of io knows no coroutine; it sits on base and is a layer of its own.
DRIVER_SIDE = {"operation", "event", "driver", "descriptor", "result", "buffer", "buffer_pool", "socket_address",
               "socket_command"}


def below(folder):
    found = set()
    for level in LEVELS:
        if folder in level:
            return found
        found.update(level)
    raise KeyError(folder)


ALLOWED = {folder: below(folder) | {folder} for folder in PUBLIC}
for folder in PUBLIC[PUBLIC.index("task"):]:
    ALLOWED[folder].add("io/result")  # a failure is a value: task.hpp and whatever sits on it speak of io_result
for folder in PUBLIC[PUBLIC.index("io"):]:
    ALLOWED[folder].add("driver side")
ALLOWED["poll"].add("scope")  # a pollable task is joined by its group
ALLOWED["driver side"] = {"base", "driver side", "io/result"}
ALLOWED["sim"] = below("net") | {"sim", "driver side", "io/result"}
ALLOWED["model"] = {"model"}  # checks the library, so it stands beside it
ALLOWED["adapters"] = set(PUBLIC) | {"adapters", "driver side"}
ALLOWED["pitsaw"] = set(PUBLIC) - {"http"} | {"driver side"}
ALLOWED["io/result"] = ALLOWED["driver side"]

# What a folder of src/ may include besides the public headers that its own public folder may, and besides itself.
PRIVATE = {folder: {"src/os"} for folder in PUBLIC}
PRIVATE["executor"].add("src/loop")  # a runtime owns its workers
PRIVATE["io"] = {"src/os", "src/loop"}  # a leaf hands its operation to the worker
PRIVATE["sim"] = {"src/driver", "src/loop", "src/task"}  # a harness looks at everything
PRIVATE["loop"] = {"src/driver", "src/os"}  # says which limit refused a driver
PRIVATE["driver"] = {"src/os"}
PRIVATE["os"] = set()
ALLOWED["loop"] = ALLOWED["time"] | {"driver side"}
ALLOWED["driver"] = ALLOWED["driver side"] | {"sim"}
ALLOWED["os"] = {"base", "driver side"}

SEES_PRIVATE = ("src/", "tests/", "tools/cli/")  # the program `pitsaw` looks at the library from inside

# ---- Names, sizes and words.
CODE = (".hpp", ".cpp", ".h")
FILE_LINES, FUNCTION_LINES = 450, 66  # the rule of thumb is 400 and 60; beyond these it is an error
COLUMNS, SCRIPT_COLUMNS = 110, 120
SHORTER = {"src/loop/worker.cpp": 300}
DUMPING_GROUND = re.compile(r"(^|[/_])(utils?|common|helpers?|misc|impl)([._/]|$)")
# Words are written in halves so that this file may be checked as well.
EVERYWHERE = [
    (r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b", "say what is, or open an issue"),
    (r"(^|[^a-z])/(wor" r"k|far" r"m)/|far" r"m-(bench|studio)|\.libr" r"ary\b", "a path of one machine"),
    (r"\b(pypi|pythonhosted|crates|npmjs|golang|deb\.debian|archive\.ubuntu)\.(or" r"g|i" r"o|co" r"m)\b",
     "a registry's host; name the package instead"),
]
IN_CODE = [
    (r"\batomic_thread_" r"fence\b", "the thread sanitizer does not model fences; order the atomics themselves"),
    (r"\bcoro_only_destroy_when_" r"complete\b", "a stop destroys suspended frames"),
]
IN_PROSE = [
    (r"(?i)\bcoro\b", "write coroutine"), (r"(?i)\bnurser(y|ies)\b", "write task group"),
    (r"(?i)\bcancel(l?ation)? tokens?\b", "write stop token"), (r"(?i)\bcompletion handlers?\b", "write on_event"),
]
CASES, CASE = "docs/CASES.md", r"\b(?:LW|CA|IU|EP|TM|SC|SY)\d+\b"  # the table, and the names of its rows
NO_TEST = r"\bGTEST_" r"SKIP\b|\bDIS" r"ABLED_\w*"

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                   r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'", re.S)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
# Names that a standard protocol requires; nobody of ours calls them by name.
PROTOCOL = set("""promise_type value_type difference_type size_type reference pointer iterator_category iterator_concept
    rep period is_steady get_return_object_on_allocation_failure is_transparent error_type unexpected_type
    result_type main""".split())
CALLED = re.compile(r"\b(return|co_return|co_await|co_yield|else|case|new|throw|and|or|not) $")


def blank(match):
    """A comment or a literal as white space of the same shape."""
    kept = re.sub(r"[^\n]", " ", match[0])
    return '""' + kept[2:] if match[0][0] in 'R"' and len(kept) > 1 else kept


class Tree:
    """The files of the repository, each read once, and what has been found wrong with them."""

    def __init__(self, root):
        self.root, self.findings = root, []
        if (root / ".git").exists():
            listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, check=True,
                                    capture_output=True, text=True).stdout.split("\n")
        else:
            listed = [str(path.relative_to(root)) for path in root.rglob("*")]
        self.text = {}
        for name in sorted(name for name in set(listed) if name and (root / name).is_file()):
            try:
                self.text[name] = (root / name).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                pass  # not text
        self.code = {name: TOKEN.sub(blank, text) for name, text in self.text.items() if name.endswith(CODE)}

    def report(self, name, line, rule, message):
        self.findings.append((name, line, rule, message))

    def report_at(self, name, offset, rule, message):
        self.report(name, self.text[name].count("\n", 0, offset) + 1, rule, message)

    def resolve(self, name, quote, target):
        """The file of ours that an include means, or None."""
        sibling = str(pathlib.PurePosixPath(name).parent / target)
        folders = [f"{folder}/{target}" for folder in ("include", "src", "tests")]
        for candidate in ([sibling] if quote == '"' else []) + folders:
            if candidate in self.text:
                return candidate
        return None

    def includes(self, name):
        for match in INCLUDE.finditer(self.text[name]):
            yield match.start(2), match[1], match[2], self.resolve(name, match[1], match[2])


def layer_of(name):
    """The row of ALLOWED that a file of include/pitsaw or src belongs to."""
    parts = name.split("/")
    if name.startswith("include/pitsaw/"):
        if len(parts) == 3:
            return "pitsaw"
        if parts[2] == "io" and len(parts) == 4 and parts[3].split(".")[0] in DRIVER_SIDE:
            return "io/result" if parts[3] == "result.hpp" else "driver side"
        return parts[2]
    return "src/" + parts[1] if parts[0] == "src" and len(parts) > 2 else None


def check_layers(tree):
    for name in tree.code:
        layer = layer_of(name)
        if layer and layer.removeprefix("src/") not in ALLOWED:
            tree.report(name, 1, "layer", f"'{layer}' is not in the table of layers, LEVELS in tools/tidy.py")
            continue
        public = name.startswith("include/")
        for offset, quote, target, file in tree.includes(name):
            if file is None and target.startswith("pitsaw/"):
                tree.report_at(name, offset, "layer", f"there is no include/{target}")
            elif file is None:
                if public and layer != "adapters" and re.search(r"[./]", target) and not re.match(
                        r"std(int|def)\.h$", target):
                    tree.report_at(name, offset, "header",
                                   f"'{target}' in a public header; only C++ headers and ours, the rest goes to src/")
            elif file.startswith(("src/", "tests/")) and (public or not name.startswith(SEES_PRIVATE)):
                tree.report_at(name, offset, "header", f"'{target}' is private; only src/ and tests/ may include it")
            elif layer and (wanted := layer_of(file)) and wanted != layer:
                own = layer.removeprefix("src/")
                allowed = ALLOWED[own] | (PRIVATE.get(own, set()) | {own} if not public else set())
                if wanted not in allowed:
                    tree.report_at(name, offset, "layer", f"{layer} may not include '{target}' ({wanted}): an include "
                                   "points downwards; move what both need to a lower layer")


def check_names(tree):
    for name in tree.text:
        if DUMPING_GROUND.search(name):
            tree.report(name, 1, "name", "says nothing of what is inside; name it after its concept")
        if name.endswith(CODE + (".py", ".sh")):
            if not re.fullmatch(r"[a-z0-9_./]+", name):
                tree.report(name, 1, "name", "folders and files are snake_case")
        if name.endswith((".hpp", ".h")) and not tree.text[name].startswith("#pragma once\n"):
            tree.report(name, 1, "once", "a header's first line is `#pragma once`")


def functions(code):
    """(first line, last line) of each outermost function body. Relies on clang-format: a body's `{` follows a space,
    a member initialiser's does not."""
    code = re.sub(r"^[ \t]*#(?:.*\\\n)*.*", lambda match: "\n" * match[0].count("\n"), code, flags=re.M)
    stack, head, line = [], 0, 1
    inside = None
    for match in re.finditer(r"[{};\n]", code):
        symbol, at = match[0], match.start()
        if symbol == "\n":
            line += 1
        elif symbol == "{":
            text = re.sub(r"template\s*<[^{};]*?>\s*(?=[a-z])", "", code[head:at]).strip()
            kind = "other"
            if inside is None:
                if re.match(r"((inline|extern|export)\s+)*(namespace\b|\"\"$)", text) or re.search(
                        r"\b(class|struct|union|enum)\b(\s*\w+\(\d+\))?[^()]*$", text):
                    kind = "container"
                elif (")" in text and text.count("(") == text.count(")") and code[at - 1] in " \n"
                      and not text.endswith("=") and not text.startswith("concept")):
                    kind, inside = "function", (len(stack), line)
            stack.append(kind)
            if kind != "other":
                head = at + 1
        elif symbol == "}" and stack:
            kind = stack.pop()
            if kind == "function" and inside and inside[0] == len(stack):
                yield inside[1], line
                inside = None
            if kind != "other":
                head = at + 1
        elif symbol == ";" and inside is None:
            head = at + 1


def check_sizes(tree):
    for name, text in tree.text.items():
        if not name.endswith(CODE + (".py", ".sh", ".cmake")) and not name.endswith("CMakeLists.txt"):
            continue
        lines = text.splitlines()
        limit = SHORTER.get(name, FILE_LINES)
        if len(lines) > limit:
            tree.report(name, limit, "size", f"{len(lines)} lines; above {limit} a file holds two ideas, so split it")
        for number, line in enumerate(lines, 1):
            columns = COLUMNS if name.endswith(CODE) else SCRIPT_COLUMNS
            if len(line) > columns:
                tree.report(name, number, "size", f"{len(line)} columns; break the line at {columns}")
        for first, last in functions(tree.code[name]) if name in tree.code else ():
            if last - first + 1 > FUNCTION_LINES:
                tree.report(name, first, "size", f"a function of {last - first + 1} lines; give its steps names")
            for number in range(first, last):
                if name.startswith(("include/", "src/")) and re.match(r"\s*#\s*if", lines[number - 1]):
                    tree.report(name, number, "ifdef", "a preprocessor branch inside a function; let CMake choose a "
                                "file, or branch outside")


def only_comments(text):
    parts, end = [], 0
    for token in TOKEN.finditer(text):
        if token[0].startswith(("//", "/*")):
            parts += [re.sub(r"[^\n]", " ", text[end:token.start()]), token[0]]
            end = token.end()
    return "".join(parts)


def check_words(tree):
    def search(name, text, words):
        for pattern, advice in words:
            for match in re.finditer(pattern, text, re.M):
                tree.report_at(name, match.start(), "word", f"'{match[0].strip()}': {advice}")

    for name, text in tree.text.items():
        search(name, text, EVERYWHERE)
        if name in tree.code:
            search(name, tree.code[name], IN_CODE)
            search(name, only_comments(text), IN_PROSE)
        elif name.endswith(".md"):
            search(name, re.sub(r"```.*?```|`[^`\n]*`", blank, text, flags=re.S), IN_PROSE)


def check_tests(tree):
    for name, text in tree.code.items():
        if not name.startswith("tests/"):
            continue
        for match in re.finditer(NO_TEST, text):
            tree.report_at(name, match.start(), "skip", f"'{match[0]}': a test that does not run is no test")
        if not name.startswith("tests/unit/") or not name.endswith(".cpp"):
            continue
        unit = re.fullmatch(r"tests/unit/([a-z0-9_]+)/([a-z0-9_]+)_test\.cpp", name)
        if not unit:
            tree.report(name, 1, "mirror", "nobody builds it; a unit test is tests/unit/FOLDER/HEADER_test.cpp")
            continue
        # b_test.cpp tests b.hpp; what outgrows one file is b_ASPECT_test.cpp.
        words = unit[2].split("_")
        stems = ["_".join(words[:count]) for count in range(len(words), 0, -1)]
        if not any(f"{root}/{unit[1]}/{stem}{ending}" in tree.code for stem in stems
                   for root in ("include/pitsaw", "src") for ending in (".hpp", ".h")):
            tree.report(name, 1, "mirror", f"neither include/pitsaw nor src has {unit[1]}/{unit[2]}.hpp to test")


def check_cases(tree):
    """A row of the table names the tests that show it, and they name it in a comment."""
    rows = {row[1]: row for row in re.finditer(rf"^\| ({CASE}) \|.*$", tree.text.get(CASES, ""), re.M)}
    for case, row in rows.items():
        for file in re.findall(r"`(tests/[^`]+)`", row[0]):
            if not re.search(rf"\b{case}\b", tree.text.get(file, "")):
                tree.report_at(CASES, row.start(), "case", f"{file} does not name {case}; say there what it shows")
    for name in tree.code:
        for match in re.finditer(CASE, tree.text[name]) if name.startswith("tests/") else ():
            row = rows.get(match[0])
            if row is None or f"`{name}`" not in row[0]:
                tree.report_at(name, match.start(), "case", f"{CASES} does not name this file at {match[0]}; add it")


def check_unused(tree):
    """What nobody calls, as far as the text shows it: a public header that no test reaches, a private one that nobody
    includes, a name that stands nowhere but where it is declared (and defined)."""
    direct = {name: {file for *_, file in tree.includes(name) if file} for name in tree.code}
    reached = set()
    open_ends = [name for name in direct if name.startswith("tests/")]
    while open_ends:
        for file in direct.get(open_ends.pop(), ()):
            # The umbrella includes all, so being reached through it says nothing.
            if file not in reached and file != "include/pitsaw/pitsaw.hpp":
                reached.add(file)
                open_ends.append(file)
    included = set().union(*direct.values()) if direct else set()
    for name in direct:
        if re.match(r"include/pitsaw/.+/", name) and name not in reached:
            tree.report(name, 1, "unused", "no test includes this public header; test it or remove it")
        if name.startswith("src/") and name.endswith(".hpp") and name not in included:
            tree.report(name, 1, "unused", "nobody includes this header; remove it")

    places = collections.defaultdict(list)
    for name, text in sorted(tree.code.items(), key=lambda item: item[0].endswith(".cpp")):
        for match in re.finditer(r"[A-Za-z_]\w*", text):
            places[match[0]].append((name, match.start()))
    for word, uses in places.items():
        if len(uses) > 2 or word in PROTOCOL or not uses[0][0].startswith(("include/", "src/")):
            continue
        name, at = uses[0]
        before, after = tree.code[name][max(0, at - 60):at], tree.code[name][at + len(word)]
        is_type = re.search(r"\b(class|struct|concept|enum|using) $", before)
        is_function = after == "(" and re.search(r"[\w>\]][&*]* [&*]*$", before) and not CALLED.search(before)
        if len(uses) == 1 and (is_type or is_function) or (
                is_function and uses[1][0] != name and defines(tree, *uses[1])):
            tree.report_at(name, at, "unused", f"nobody uses '{word}'; remove it, or let a test say what it is for")


def defines(tree, name, at):
    """Whether this place is a function's definition in a .cpp: its line starts at the margin and nothing is called
    before it there."""
    code = tree.code[name]
    line = code[code.rfind("\n", 0, at) + 1:at]
    return re.match(r"src/.*\.cpp$", name) and re.match(r"[^\s}][^({]*$", line)


def findings(root):
    tree = Tree(root)
    for check in (check_layers, check_names, check_sizes, check_words, check_tests, check_cases, check_unused):
        check(tree)
    return tree, sorted(set(tree.findings))


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent
    tree, found = findings(root.resolve())
    for name, line, rule, message in found:
        print(f"{name}:{line}: {rule}: {message}")
    print(f"tidy: {len(tree.text)} files, {len(found)} findings")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
