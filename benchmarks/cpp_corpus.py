"""Compiles the C++ kernels of source trees with the headers of the package, and counts what fails and why.

    python benchmarks/cpp_corpus.py TREE...

A kernel is a ``.cpp`` file that names an operation (``TLOAD(``, ``TASSIGN(``); ``--list`` names a file with one path a
line, relative to the trees, instead. Headers beside the kernels are searched as their builds do: in the folders that
``include`` directories of the tree have. Each file is compiled for the cores that it has code for.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from pto_dialect.cpp.compiler import CompileError, compile_to_ir, cores_of

_KERNEL = re.compile(r"\b(TLOAD|TASSIGN|TSTORE)\s*(<[^;]*>)?\(")
_ERROR = re.compile(r"^(?:.*?:\d+:\d+: )?(?:fatal )?error: (.*)$", re.MULTILINE)
_QUOTED = re.compile(r"'[^']*'")
_A5 = re.compile(r"(^|/)a5(/|$)")


class Outcome(NamedTuple):
    """What became of a kernel: seconds for each core, or the first message of the compiler; whether it has an entry."""

    path: Path
    seconds: tuple[float, ...]
    message: str
    has_entry: bool


def kernels_of(tree: Path, listed: list[str] | None) -> Iterator[Path]:
    """The kernels of a tree."""
    if listed is not None:
        yield from (tree / name for name in listed if (tree / name).is_file())
        return
    for path in sorted(tree.rglob("*.cpp")):
        if path.is_file() and _KERNEL.search(path.read_text(encoding="utf-8", errors="replace")):
            yield path


def include_folders(tree: Path, path: Path) -> list[str]:
    """Folders named ``include`` on the way from a kernel to the top of its tree."""
    folders = [folder / "include" for folder in path.parents if folder == tree or tree in folder.parents]
    return [str(folder) for folder in folders if folder.is_dir() and not (folder / "pto" / "pto-inst.hpp").exists()]


def compile_kernel(tree: Path, path: Path, defines: list[str]) -> Outcome:
    """Compiles one kernel for its cores."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    target = "a5" if _A5.search(path.as_posix()) else "a2a3"
    seconds: list[float] = []
    has_entry = False
    folders = include_folders(tree, path)
    for core in cores_of(text, str(path), folders):
        start = perf_counter()
        try:
            ir = compile_to_ir(
                text, str(path), core=core, target=target, defines=defines, includes=folders, cached=False
            )
        except CompileError as error:
            return Outcome(path, (), str(error), False)
        seconds.append(perf_counter() - start)
        has_entry = has_entry or "pto.entry" in ir.text or "@kernel_entry(" in ir.text
    return Outcome(path, tuple(seconds), "", has_entry)


def reason_of(message: str) -> str:
    """The first error of a compiler, without the names in it unless they are what is missing."""
    found = _ERROR.search(message)
    first = found[1] if found else message.splitlines()[-1]
    if "file not found" in first or "undeclared" in first or "unknown type" in first or "no matching" in first:
        return first[:110]
    return _QUOTED.sub("'…'", first)[:110]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--list", type=Path, help="a file with one kernel a line")
    parser.add_argument("--every", type=int, default=1, help="compile every N-th kernel")
    parser.add_argument("--start", type=int, default=0, help="the first of them")
    parser.add_argument("-D", dest="defines", action="append", default=[])
    parser.add_argument("--failures", action="store_true", help="name each kernel that fails")
    options = parser.parse_args(arguments)
    listed = options.list.read_text(encoding="utf-8").split("\n") if options.list else None
    outcomes: list[Outcome] = []
    for tree in options.trees:
        for path in list(kernels_of(tree.resolve(), listed))[options.start :: options.every]:
            outcomes.append(compile_kernel(tree.resolve(), path, options.defines))
            if options.failures and outcomes[-1].message:
                print(f"{path}: {reason_of(outcomes[-1].message)}", flush=True)
    report(outcomes)


def report(outcomes: list[Outcome]) -> None:
    good = [outcome for outcome in outcomes if not outcome.message]
    times = sorted(second for outcome in good for second in outcome.seconds)
    entries = sum(outcome.has_entry for outcome in good)
    share = len(good) / max(len(outcomes), 1)
    print(f"{len(outcomes)} kernels, {len(good)} compile ({share:.1%}), {entries} with an entry")
    if times:
        print(
            f"seconds for a core: median {statistics.median(times):.2f}, 90 % {times[int(len(times) * 0.9)]:.2f}",
            end="",
        )
        print(f", most {times[-1]:.2f}")
    for reason, count in Counter(reason_of(outcome.message) for outcome in outcomes if outcome.message).most_common():
        print(f"{count:5} {reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
