"""Programs there and back: ``python benchmarks/forms.py [--run] TREE...``.

Every program of the trees that has tile buffers goes to Level 1 and back to Level 2 (one with tile values the other way
round), each time through its printed text. Printed are the numbers of programs that come back the same, of those that
do not, and of those that the other form cannot say, by reason. ``--run`` also compares, for each program that comes
back, a run of the other form with one of the program itself, bit by bit, on arguments that are generated.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from pto_dialect import parse, print_module
from pto_dialect.api import ParseError
from pto_dialect.deadline import TimedOut, deadline
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.split import split_input
from pto_dialect.driver.explore.synthesized import synthesize_arguments, values_of
from pto_dialect.ir.core.types import TileBufType, TileType
from pto_dialect.passes.forms.level1 import to_level1
from pto_dialect.passes.forms.level2 import to_level2
from pto_dialect.passes.forms.rebuild import RefusedError
from pto_dialect.runtime.compile.program import Symbols, candidates, find_entry
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.verify.verifier import verify_module

_SECONDS = 5
_NAME = re.compile(r"%[\w.$-]+|a tile without a name|\d+x\d+ of \d+x\d+")


def programs(trees: list[Path]) -> Iterator[tuple[str, ModuleOp]]:
    """The programs of the trees that can be read, with their names."""
    for tree in trees:
        for path in [tree] if tree.is_file() else sorted(tree.rglob("*.pto")):
            for line, text in split_input(path.read_text(encoding="utf-8", errors="replace")):
                try:
                    yield f"{path}:{line}", parse(text, str(path))
                except ParseError:
                    continue


def level(module: ModuleOp) -> int:
    """1 for a program with tile values, 2 for one with tile buffers, else 0."""
    found = 0
    for op in module.walk():
        arguments = [a for region in op.regions for block in region.blocks for a in block.args]
        for value in (*op.results, *arguments):
            if isinstance(value.type, TileType):
                return 1
            if isinstance(value.type, TileBufType):
                found = 2
    return found


def outcome(module: ModuleOp, found: int) -> tuple[str, ModuleOp | None]:
    """What becomes of one program, and its other form."""
    there, back = (to_level1, to_level2) if found == 2 else (to_level2, to_level1)
    try:
        other = parse(print_module(there(module)))
        again = print_module(back(other))
    except RefusedError as error:
        return f"refused: {_NAME.sub('*', error.reason)}", None
    return ("the same" if again == print_module(module) else "different"), other


def errors(module: ModuleOp) -> set[str]:
    """Rules that a program breaks."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    verify_module(module, engine)
    return {found.rule for found in engine.diagnostics if found.severity is Severity.ERROR}


def verdict(one: ModuleOp, other: ModuleOp) -> str:
    """Whether the other form breaks rules that the program keeps."""
    more = errors(other) - errors(one)
    return f"rules: {', '.join(sorted(more))} broken" if more else "rules: no more broken"


def run_outcome(one: ModuleOp, other: ModuleOp) -> str:
    """Whether runs of both forms leave the same bits in the arrays of the caller."""
    if errors(one):
        return "run: none, the program breaks rules"
    symbols = Symbols(one)
    try:
        names = [find_entry(one, None, symbols)]
    except ProgramError:
        names = candidates(one, symbols)
    compared = False
    for name in names:
        try:
            left, right = [Kernel(module, name, None, RunOptions()) for module in (one, other)]
            if [argument for argument, _ in left.arguments] != [argument for argument, _ in right.arguments]:
                continue
            with redirect_stdout(StringIO()), deadline(_SECONDS):
                given = dict(synthesize_arguments(left, {}, 0, 1))
                bits: list[list[bytes]] = []
                for kernel in (left, right):
                    values = values_of(kernel, {}, given)
                    kernel.run(values, 1)
                    bits.append([value.tobytes() for value in values if isinstance(value, np.ndarray)])
        except (ProgramError, BindingError, TimedOut, ValueError) as error:
            return f"run: none, {type(error).__name__}: {_NAME.sub('*', str(error))[:90]}"
        if bits[0] != bits[1]:
            return "run: different bits"
        compared = True
    return "run: the same bits" if compared else "run: not compared"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path, metavar="TREE")
    parser.add_argument("--names", action="store_true", help="the programs of each outcome")
    parser.add_argument("--run", action="store_true", help="compare runs, too")
    chosen = parser.parse_args()
    counts: Counter[str] = Counter()
    names: dict[str, list[str]] = defaultdict(list)
    for name, module in programs(chosen.trees):
        found = level(module)
        if found:
            result, other = outcome(module, found)
            results = [result]
            if other is not None:
                results.append(verdict(module, other))
            if chosen.run and other is not None:
                results.append(run_outcome(module, other))
            for result in results:
                counts[result] += 1
                names[result].append(name)
    for result, number in counts.most_common():
        print(f"{number:6} {result}")
        if chosen.names:
            print("".join(f"         {name}\n" for name in names[result]), end="")


if __name__ == "__main__":
    main()
