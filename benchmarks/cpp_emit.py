"""Prints tile programs with known results as C++, compiles the text and compares runs bit by bit.

Usage: python benchmarks/cpp_emit.py TREE... --launches launches.csv [--only REGEX]
       [--headers ISA_TREE] [--texts FOLDER]

Each row of the launch table whose program is in one of the trees runs as ``goldens.py`` runs it. Where its results
are right, the function is printed as C++, compiled by the front end, and run on the same files; all files must be equal
then. ``--headers`` also compiles all texts against the headers of the instruction set itself (its simulator), without
code generation; ``--texts`` keeps them. The exit code is 1 when fewer than 95 % of the rows come back, or fewer than
90 % of the texts compile.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import golden_samples
import golden_tile
import golden_validation
from golden_rows import PASS, RELEASE, Row, Scratch, read_rows, run_once
from goldens import groups_of, settings_of
from xdsl.dialects.builtin import ModuleOp, StringAttr

from pto_dialect.analysis.release import set_release
from pto_dialect.api import compile_cpp, parse
from pto_dialect.cpp.compilers import find_compiler
from pto_dialect.cpp.emit import EmitError, emit_module
from pto_dialect.cpp.kernel import CppError
from pto_dialect.runtime.compile.program import functions_of
from pto_dialect.targets.backend import ATTRIBUTE

CORPORA = {module.CORPUS: module for module in (golden_tile, golden_samples, golden_validation)}
SAME, DIRECT, NO_FORM, NOT_COMPILED, NOT_RUN, DIFFERENT = (
    "same", "not run directly", "no form", "not compiled", "not run", "different"
)  # fmt: skip
REQUIRED, REQUIRED_TEXTS = 0.95, 0.90
_INCLUDES = "#include <pto/pto-inst.hpp>\nusing namespace pto;\n"
_KIND = "pto.kernel_kind"
_ERROR = re.compile(r"(.+?):(\d+):\d+: (error|fatal error|note): (.*)")


class Found(NamedTuple):
    """What became of one row."""

    outcome: str
    entry: str
    reason: str = ""
    text: str = ""
    target: str = ""


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=Path, nargs="+", metavar="TREE", help="root of an unpacked source tree")
    parser.add_argument("--launches", type=Path, required=True, metavar="CSV", help="the launch table")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose 'corpus/case' matches")
    parser.add_argument("--headers", type=Path, metavar="ISA_TREE", help="compile against these headers as well")
    parser.add_argument("--texts", type=Path, metavar="FOLDER", help="keep the C++ texts here")
    options = parser.parse_args()
    rows = [
        row
        for row in read_rows(options.launches)
        if row.corpus in CORPORA and "tile" in row.level and re.search(options.only, f"{row.corpus}/{row.case}")
    ]
    found: list[Found] = []
    left = rows
    for tree in options.trees:
        here = [row for row in left if (tree / row.program.partition(" / ")[0]).exists()]
        left = [row for row in left if row not in here]
        for group in groups_of(here):
            for one in run_group(tree.resolve(), group):
                found.append(one)
                if one.outcome not in (SAME, DIRECT):
                    print(f"  {one.outcome:13} {one.entry}: {one.reason}", flush=True)
    if options.texts is not None:
        options.texts.mkdir(parents=True, exist_ok=True)
        for one in found:
            if one.text:
                (options.texts / f"{one.entry}.cpp").write_text(one.text)
    enough = report(found)
    if options.headers is not None:
        enough = compiles(found, options.headers) and enough
    return 0 if enough else 1


def run_group(tree: Path, rows: list[Row]) -> Iterator[Found]:
    """Runs the rows of one program both ways."""
    found: list[Found] = []

    def both(path: Path, scratch: Scratch) -> tuple[str, str]:
        verdict, one = run_both(path, scratch)
        found.append(one)
        return verdict

    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(tree, Path(folder), settings_of(None), run=both)
        CORPORA[rows[0].corpus].run(rows, scratch)
    yield from found


def run_both(path: Path, scratch: Scratch) -> tuple[tuple[str, str], Found]:
    """Runs a launch file, and again with the program that its C++ text is: the verdict of the first run, and both."""
    launch = tomllib.loads(path.read_text())
    program, entry = Path(launch["program"]), launch["entry"]
    key = str(program.resolve())
    module = scratch.programs.get(key) or parse(program.read_text(), str(program))
    other = path.parent.with_name(f"{path.parent.name}-again")
    shutil.rmtree(other, ignore_errors=True)
    shutil.copytree(path.parent, other)
    verdict = run_once(path, scratch)
    if verdict[0] != PASS:
        return verdict, Found(DIRECT, entry, verdict[1])
    target = "a5" if 'target_arch = "a5"' in program.read_text() else "a2a3"
    try:
        text = emit_module(alone(module, entry, launch.get("backend")), program.name)
    except EmitError as error:
        return verdict, Found(NO_FORM, entry, error.message)
    try:
        kernel = entry if f"__global__ AICORE void {entry}(" in text else None
        compiled = compile_cpp(text, kernel, target=target, filename=f"{entry}.cpp")
    except CppError as error:
        return verdict, Found(NOT_COMPILED, entry, error.diagnostics[0].message, text, target)
    file = other / path.name
    name = compiled.entry or counterpart(module, entry, compiled.module)
    made = other / "again.pto"
    made.write_text(compiled.text)
    file.write_text(
        path.read_text()
        .replace(f'entry = "{entry}"', f'entry = "{name}"')
        .replace(f'program = "{program}"', f'program = "{made}"')
    )
    again = run_once(file, Scratch(scratch.tree, scratch.folder, scratch.settings))
    if again[0] != PASS:
        return verdict, Found(NOT_RUN, entry, again[1], text, target)
    differing = [one.name for one in path.parent.iterdir() if one.suffix != ".toml" and changed(one, other / one.name)]
    if differing:
        return verdict, Found(DIFFERENT, entry, ", ".join(sorted(differing)), text, target)
    return verdict, Found(SAME, entry, "", text, target)


def counterpart(module: ModuleOp, entry: str, other: ModuleOp) -> str:
    """The function of the same core in a module with one for each core."""
    kind = functions_of(module)[entry].attributes.get(_KIND)
    return next((name for name, op in functions_of(other).items() if op.attributes.get(_KIND) == kind), entry)


def changed(file: Path, other: Path) -> bool:
    """Whether two files have other bytes."""
    return file.is_file() and (not other.is_file() or file.read_bytes() != other.read_bytes())


def alone(module: ModuleOp, entry: str, backend: str | None) -> ModuleOp:
    """A module with one kernel, and what a launch says about it."""
    copy = module.clone()
    set_release(copy, RELEASE)
    if backend is not None:
        copy.attributes[ATTRIBUTE] = StringAttr(backend)
    if not any(op.name in ("func.call", "pto.import_reserved_buffer") for op in copy.walk()):
        for name, op in functions_of(copy).items():
            if name != entry:
                op.detach()
                op.erase()
    return copy


def report(found: list[Found]) -> bool:
    """Prints the counts; whether enough rows come back."""
    counts = Counter(one.outcome for one in found)
    judged = len(found) - counts[DIRECT]
    print(f"{judged} rows with right results, {counts[SAME]} come back bit by bit", end="")
    print(f" ({counts[SAME] / judged:.2%})" if judged else "")
    reasons = Counter((one.outcome, one.reason) for one in found if one.outcome not in (SAME, DIRECT))
    for (outcome, reason), count in reasons.most_common():
        print(f"{count:6} {outcome}: {reason}")
    return bool(judged) and counts[SAME] >= REQUIRED * judged


def compiles(found: list[Found], headers: Path) -> bool:
    """Compiles all texts of a chip in one file, each in a namespace; whether enough have no error."""
    total = wrong = 0
    for target in sorted({one.target for one in found if one.text}):
        texts = list({one.text: one for one in found if one.text and one.target == target})
        errors = errors_of(texts, headers)
        total += len(texts)
        wrong += len(errors)
        for message, count in Counter(re.sub(r"'[^']*'", "'..'", text) for text in errors.values()).most_common():
            print(f"{count:6} {target}: {message}")
    print(f"{total} texts, {total - wrong} compile against the headers of the instruction set", end="")
    print(f" ({(total - wrong) / total:.2%})" if total else "")
    return bool(total) and total - wrong >= REQUIRED_TEXTS * total


def errors_of(texts: list[str], headers: Path) -> dict[int, str]:
    """The first error of each text that has one, by its number."""
    whole, first = f"#define AICORE\n{_INCLUDES}", []
    for number, text in enumerate(texts):
        first.append(whole.count("\n") + 1)
        body = text.replace(_INCLUDES, "").replace('extern "C" ', "")
        whole += f"namespace text{number} {{\n{body}}}\n"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "texts.cpp"
        file.write_text(whole)
        command = [*find_compiler(None).command, "-std=c++23", "-D__CPU_SIM", "-fno-sanitize=all", "-ferror-limit=0"]
        command += ["-w", "-fsyntax-only", f"-I{headers}/include", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    errors: dict[int, str] = {}
    message = ""
    for line in done.stderr.splitlines():
        match = _ERROR.match(line)
        if match is None:
            continue
        if match[3] != "note":
            # Some compilers fail to move the empty output of a check.
            message = "" if match[4].startswith("failed to rename") else match[4]
        if message and match[1].endswith("texts.cpp"):
            errors.setdefault(sum(at <= int(match[2]) for at in first) - 1, message)
            message = ""
    return errors


if __name__ == "__main__":
    sys.exit(main())
