"""Commands that came before: the same answer without click, for as long as nothing has changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sampling import sampled
from warm_caches import warm

CHECKOUT = Path(__file__).parents[3]
LAUNCH = f"""
import sys
sys.path.insert(0, {str(CHECKOUT)!r})
import pto_dialect
pto_dialect.__path__.append({str(CHECKOUT)!r})
from pto_dialect.tools.start import pto_opt
sys.argv[0] = "pto-opt"
try:
    pto_opt()
finally:
    with open(__import__("os").environ["LOADED"], "w") as stream:
        print(*[name for name in ("click", "typing", "json", "xdsl") if name in sys.modules], file=stream)
"""
GOOD = "func.func @f() {\n  return\n}\n"
OTHER = "func.func @g() {\n  return\n}\n"
WRONG = "func.func @f() {\n  return %x : i32\n}\n"
KNOWN = import_module("pto_dialect.tools.known_runs")
ENOUGH = KNOWN.FRESH / 1e9 + 0.2


class Ended(NamedTuple):
    stdout: bytes
    stderr: bytes
    code: int


class Place:
    """Copies of a folder of programs that have not changed for long enough, and a cache."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cache = warm(root / "cache")

    def tree(self, name: str) -> Path:
        return self.root / "copies" / name / "programs"

    def opt(self, *arguments: str, folder: Path | None = None, **streams: Any) -> tuple[Ended, list[str]]:
        """How a command ends, and which modules it has loaded."""
        loaded = self.root / "loaded"
        loaded.unlink(missing_ok=True)
        environment = {**os.environ, "PTO_CACHE_DIR": str(self.cache), "LOADED": str(loaded)}
        line = [sys.executable, "-c", LAUNCH, *arguments]
        given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        found = subprocess.run(line, env=environment, cwd=folder or self.root, timeout=300, check=False, **given)
        return Ended(found.stdout, found.stderr, found.returncode), loaded.read_text().split()


def rewrite(tree: Path) -> None:
    """The same size and time of change."""
    file, status = tree / "0.pto", (tree / "0.pto").stat()
    file.write_text(OTHER.replace("@g", "@+"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def replace(tree: Path) -> None:
    other = tree / "0.new"
    other.write_text(WRONG)
    os.replace(other, tree / "0.pto")


def settle(tree: Path) -> None:
    (tree.parent / "pto.toml").write_text("werror = true\nnonsense = 1\n")


CHANGES: dict[str, Callable[[Path], object]] = {
    "rewritten": rewrite,
    "replaced": replace,
    "added": lambda tree: (tree / "more.pto").write_text(WRONG),
    "removed": lambda tree: (tree / "3.pto").unlink(),
    "added-below": lambda tree: (tree / "below" / "more.pto").write_text(WRONG),
    "renamed": lambda tree: (tree / "3.pto").rename(tree / "4.pto"),
    "settings": settle,
}
LINES = [
    ["{tree}"], ["{tree}/0.pto"], ["{tree}/3.pto"], ["--diagnostics-format", "json", "{tree}"],
    ["-p", "", "{tree}/0.pto"], ["--color", "always", "--pedantic", "--werror", "{tree}"],
    ["--print-op-generic", "{tree}/0.pto"],
]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    found = Place(tmp_path_factory.mktemp("known"))
    for name in ("same", "streams", "damaged", "pattern", *CHANGES):
        tree = found.tree(name)
        (tree / "below").mkdir(parents=True)
        for number in range(4):
            (tree / f"{number}.pto").write_text(WRONG if number == 3 else GOOD)
        (tree / "below" / "one.pto").write_text(GOOD)
    time.sleep(ENOUGH)
    return found


@pytest.mark.parametrize("words", sampled(LINES, 2), ids=" ".join)
def test_a_command_that_came_before_gives_its_answer_without_click(place: Place, words: list[str]) -> None:
    line = [word.format(tree=place.tree("same")) for word in words]
    plain, _ = place.opt("--no-cache", *line)
    first, loaded = place.opt(*line)
    assert first == plain and "click" in loaded
    for _ in range(2):
        again, loaded = place.opt(*line)
        assert again == plain and loaded == []
    # The arguments count, and where they are given.
    assert "click" in place.opt(*line, "--split-input-file")[1]
    assert "click" in place.opt(*line, folder=place.tree("same"))[1]


@pytest.mark.parametrize("change", CHANGES)
def test_what_has_changed_is_seen(place: Place, change: str) -> None:
    tree = place.tree(change)
    before, _ = place.opt(str(tree))
    assert place.opt(str(tree)) == (before, [])
    CHANGES[change](tree)
    after, loaded = place.opt(str(tree))
    assert "click" in loaded and after != before
    assert after == place.opt("--no-cache", str(tree))[0]


def test_what_a_pattern_names_now_counts(place: Place) -> None:
    tree = place.tree("pattern")
    line = f"{tree}/0.pto", f"{tree}/be*/*.pto"
    before, _ = place.opt(*line)
    (tree / "below" / "more.pto").write_text(WRONG)
    after, _ = place.opt(*line)
    assert (before.code, after.code) == (0, 1)


def test_damaged_answers_are_not_trusted(place: Place) -> None:
    file = str(place.tree("damaged") / "3.pto")
    before, _ = place.opt(file)
    assert place.opt(file) == (before, [])
    for entry in (place.cache / "verdicts").rglob("*"):
        if entry.is_file():
            content = bytearray(entry.read_bytes())
            content[len(content) // 2] ^= 1
            entry.write_bytes(content)
    after, loaded = place.opt(file)
    assert after == before and "click" in loaded


def test_streams_that_take_nothing(place: Place) -> None:
    """What is reported, and how the command ends, is the same as without an answer."""
    file = str(place.tree("streams") / "0.pto")
    place.opt(file)
    assert place.opt(file)[1] == []
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            known, plain = (place.opt(*words, file, stdout=full)[0] for words in ([], ["--no-cache"]))
        assert known == plain and known.code == 2 and b"cannot write standard output" in known.stderr
    ends: list[Ended] = []
    for words in ([], ["--no-cache"]):
        reader, writer = os.pipe()
        os.close(reader)
        ends.append(place.opt(*words, file, stdout=writer)[0])
        os.close(writer)
    assert ends[0] == ends[1] and ends[0].code == 141
    with open(file, "rb") as text:
        found, loaded = place.opt(stdin=text)
    assert found.stdout == place.opt(file)[0].stdout and "click" in loaded


KERNEL = """\
#include <pto/pto-inst.hpp>
#if __has_include("late.h")
#include "late.h"
#endif
#include <size.h>
extern "C" __global__ AICORE void fill(__gm__ int *out)
{
    out[0] = SIZE;
}
"""


def write_header(folder: Path, name: str = "headers/size.h") -> None:
    (folder / name).write_text("#pragma once\n#define SIZE 7\n")


CPP_CHANGES: dict[str, Callable[[Path], object]] = {
    "kernel": lambda folder: (folder / "kernel.cpp").write_text(KERNEL.replace("SIZE", "7")),
    "included": write_header,
    "found-before": lambda folder: write_header(folder, "first/size.h"),
    "asked-for": lambda folder: write_header(folder, "late.h"),
}


@pytest.mark.parametrize("change", sampled(CPP_CHANGES, 2))
def test_a_cpp_kernel_is_compiled_again_when_something_has_changed(change: str, tmp_path: Path) -> None:
    place = Place(tmp_path)
    for name in ("headers", "first"):
        (tmp_path / name).mkdir()
    (tmp_path / "kernel.cpp").write_text(KERNEL)
    (tmp_path / "headers" / "size.h").write_text("#ifndef SIZE\n#define SIZE 5\n#endif\n")
    time.sleep(ENOUGH)
    line = ["-I", "first", "-I", "headers", "kernel.cpp"]
    before, loaded = place.opt(*line)
    assert "click" in loaded and b"constant 5" in before.stdout
    assert place.opt(*line) == (before, [])
    assert "click" in place.opt(*line, "--target", "a5")[1]
    CPP_CHANGES[change](tmp_path)
    after, loaded = place.opt(*line)
    assert "click" in loaded and b"constant 7" in after.stdout


ELSE = '("late.h")\n#define SIZE 7\n#else\n#define SIZE 5\n#endif\n'
HIDDEN = {
    "alias": f"#define HAS __has_include\n#if HAS{ELSE}",
    "alias-in-a-header": f'#include "has.h"\n#if HAS{ELSE}',
    "option": f"#if GIVEN{ELSE}",
    "pasted": f"#define CAT(a, b) a##b\n#if CAT(__has_, include){ELSE}",
    "pasted-by-a-header": f'#include "cat.h"\n#if CAT(__ha, s_include){ELSE}',
    "between-strings": f'constexpr auto a = R"(\n/* )";\n#if __has_include /* */ {ELSE}constexpr auto b = "*/";\n',
    "other-directive": f'%:include "has.h"\n#if HAS{ELSE}',
}


@pytest.mark.parametrize("way", sampled(HIDDEN, 3))
def test_a_hidden_request_for_a_file_is_seen(way: str, tmp_path: Path) -> None:
    place = Place(tmp_path)
    (tmp_path / "has.h").write_text("#define HAS __has_include\n")
    (tmp_path / "cat.h").write_text("#define CAT(a, b) a##b\n")
    start, _, body = KERNEL.partition("#include <size.h>\n")
    (tmp_path / "kernel.cpp").write_text(start.partition("#if")[0] + HIDDEN[way] + body)
    time.sleep(ENOUGH)
    line = ["-D", "GIVEN=__has_include", "kernel.cpp"] if way == "option" else ["kernel.cpp"]
    assert b"constant 5" in place.opt(*line)[0].stdout
    (tmp_path / "late.h").touch()
    assert b"constant 7" in place.opt(*line)[0].stdout


@pytest.mark.parametrize("word", sampled(["__TIME__", "__DATE__", "__TIMESTAMP__"], 3))
def test_a_kernel_that_reads_the_time_is_not_kept(word: str, tmp_path: Path) -> None:
    place = Place(tmp_path)
    text = KERNEL.replace("#include <size.h>\n", '#include "size.h"\n')
    (tmp_path / "size.h").write_text(f"constexpr int SIZE = {word}[0];\n")
    (tmp_path / "kernel.cpp").write_text(text)
    time.sleep(ENOUGH)
    for _ in range(2):
        found, loaded = place.opt("kernel.cpp")
        assert found.code == 0 and "click" in loaded


def test_another_compiler_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(tmp_path)
    (tmp_path / "kernel.cpp").write_text(KERNEL.replace("<size.h>", "<cstdint>").replace("SIZE", "5"))
    time.sleep(ENOUGH)
    before, _ = place.opt("kernel.cpp")
    assert place.opt("kernel.cpp") == (before, [])
    monkeypatch.setenv("PTO_CXX", str(tmp_path / "none"))
    after, loaded = place.opt("kernel.cpp")
    assert "click" in loaded and after.code == 2


class Verdicts:
    """Takes notes; ``full`` says that it has all results."""

    def __init__(self, full: bool) -> None:
        self.full = full
        self.notes: list[Any] = []

    def has(self, text: str, name: str, options: Any) -> bool:
        return self.full

    def keep_note(self, name: str, value: Any) -> None:
        self.notes.append(value)


@pytest.mark.parametrize(("ago", "results", "kept"), [(2.4, 1, False), (2.6, 1, True), (-5, 1, False), (2.6, 0, False)])
def test_what_has_just_changed_is_not_kept(
    ago: float, results: int, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two changes in a row may have one time; neither is a run kept that has no result of each input."""
    from pto_dialect.driver.batch import Task
    from pto_dialect.driver.inputs import collect
    from pto_dialect.driver.options import Options

    file = tmp_path / "one.pto"
    shutil.copy(CHECKOUT / "examples" / "gemm" / "gemm.pto", file)
    changed = os.stat(file).st_ctime_ns
    monkeypatch.setattr(KNOWN, "time_ns", lambda: changed + int(ago * 1e9))
    monkeypatch.setattr(KNOWN, "_usual", lambda: True)
    monkeypatch.setattr(sys, "argv", ["pto-opt", str(file)])
    verdicts = Verdicts(bool(results))
    task: Any = Task(Options(), None, "text", False, verdicts=verdicts)  # pyright: ignore[reportArgumentType]
    paths = [str(file)]
    known = KNOWN.Known(paths, collect(paths, lambda: b""), False, task)
    said: list[str] = []
    known.recording(said.append)("a remark")
    known.keep(1)
    assert said == ["a remark"] and [note[2:] for note in verdicts.notes] == [("a remark", "", 1)] * kept
