"""The flags of what the release preset compiles, for tools that parse it and need nothing built before."""
import json
import pathlib
import shlex

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATABASE = ROOT / "build/release/compile_commands.json"


def words_of(command):
    """A command from the compiler on, without its output and its precompiled headers, which need not be there yet."""
    words = shlex.split(command)
    words = words[next(number for number, word in enumerate(words) if "clang++" in word):words.index("-o")]
    pairs = zip(words, [""] + words)
    return [word for word, before in pairs if word not in ("-c", "-Xclang", "-Winvalid-pch") and before != "-Xclang"]


def parts_of(file):
    """The sources that stand in one: itself, or what tests/CMakeLists.txt has united in it."""
    parts = pathlib.Path(file + ".parts")
    return parts.read_text().split(";") if parts.exists() else [file]


def commands():
    """{file: words} of every source."""
    return {part: words_of(entry["command"]) for entry in json.loads(DATABASE.read_text())
            for part in parts_of(entry["file"])}
