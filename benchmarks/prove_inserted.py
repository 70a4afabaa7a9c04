"""Is what insert-sync inserts proven for all arguments and numbers of iterations?

Usage: python benchmarks/prove_inserted.py [--counts FILE.csv --trees DIR ...] [--random N] [--style flags] [--show]

``--counts`` has rows with ``program`` (a path below a repository), ``function`` and ``target``; programs are looked
for below the DIRs, each without its repository's name. ``--random`` adds generated programs, half of them with handles
that loops carry. Each gets addresses by assign-memory where tiles have none, then insert-sync, then a verdict on each
core. Prints the number of each verdict and the reasons of the undecided ones; the exit code is 1 if one is refuted.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))
sys.path.insert(0, str(ROOT / "benchmarks"))

from carried_programs import CarriedProgram  # noqa: E402
from random_tile_programs import RandomProgram  # noqa: E402
from xdsl.dialects.builtin import ModuleOp  # noqa: E402

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions  # noqa: E402
from pto_dialect.diagnostics.source import SourceFile  # noqa: E402
from pto_dialect.driver.inputs import collect, read_program  # noqa: E402
from pto_dialect.driver.options import Options  # noqa: E402
from pto_dialect.driver.pipeline import build_module  # noqa: E402
from pto_dialect.passes.run import run_passes  # noqa: E402
from pto_dialect.prove.decide import Answer, Verdict  # noqa: E402
from pto_dialect.prove.functions import verdict_of  # noqa: E402
from pto_dialect.prove.reader import cores_of, entry_functions  # noqa: E402

ARCHITECTURES = ("a5", "a2a3")
_SHOWN = 12


def listed(counts: Path, trees: tuple[Path, ...]) -> Iterator[tuple[str, str, str, set[str]]]:
    """Path, text, target and functions of the programs of a table; those of other snapshots are left out."""
    programs: dict[tuple[str, str], set[str]] = {}
    for row in csv.DictReader(counts.open(encoding="utf-8")):
        programs.setdefault((row["program"], row["target"]), set()).add(row["function"])
    for (program, target), functions in programs.items():
        for tree in trees:
            path = tree / program.partition("/")[2]
            if path.is_file():
                (item,) = collect((str(path),), bytes)
                yield program, read_program(item, target, every=True)[0], target, functions
                break


def generated(number: int) -> Iterator[tuple[str, str, str, set[str]]]:
    """Random programs of both kinds and targets."""
    for seed in range(number):
        target = ARCHITECTURES[seed // 2 % 2]
        text = CarriedProgram(seed, target).text if seed % 2 else RandomProgram(seed, target).text
        yield f"seed {seed}", text, target, set()


def ordered(name: str, text: str, target: str, style: str) -> ModuleOp | None:
    """The program after insert-sync; ``None`` where it is refused."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = build_module(SourceFile(name, text), engine, Options(target=target))
    if module is None or engine.has_errors:
        return None
    call = "insert-sync" if style == "flags" else f"insert-sync{{style={style}}}"
    return module if run_passes(module, ["assign-memory", call], engine, target) else None


def kind_of(reason: str) -> str:
    """A reason without names and numbers."""
    return re.sub(r"\b(pto|arith|scf|func)\.\w+|\d+|@\w+", "_", reason)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--counts", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Table of functions.")
@click.option("--trees", multiple=True, type=click.Path(exists=True, path_type=Path), help="Where its programs are.")
@click.option("--random", "number", type=click.IntRange(0), default=0, help="Generated programs.")
@click.option("--style", default="flags", show_default=True, help="Style of insert-sync.")
@click.option("--seconds", default=2.0, show_default=True, help="Processor time of each verdict.")
@click.option("--show", is_flag=True, help="Print each function that is not proven.")
def main(counts: Path | None, trees: tuple[Path, ...], number: int, style: str, seconds: float, show: bool) -> None:
    """Prove the order that insert-sync makes."""
    answers: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    times: list[float] = []
    programs = [*(listed(counts, trees) if counts else ()), *generated(number)]
    for name, text, target, functions in programs:
        module = ordered(name, text, target, style)
        if module is None:
            answers["refused by the passes"] += len(functions) or 1
            continue
        for function in entry_functions(module):
            if functions and function.properties["sym_name"].data not in functions:  # type: ignore[attr-defined]
                continue
            started = process_time()
            found = [verdict_of(function, core, target, seconds=seconds) for core in cores_of(function)]
            times.append(process_time() - started)
            worst = max(found, key=_badness)
            answers[worst.answer] += 1
            if worst.answer is Answer.UNDECIDED:
                reasons[kind_of(worst.reason or "")] += 1
            if worst.answer is Answer.REFUTED or (show and worst.answer is not Answer.PROVEN):
                print(f"{name} @{worst.name}: {worst.answer}: {worst.reason or worst.witness}", flush=True)
    print(f"{sum(answers.values())} functions: {', '.join(f'{count} {name}' for name, count in answers.items())}")
    for reason, count in reasons.most_common(_SHOWN):
        print(f"  {count:5} {reason}")
    times.sort()
    if times:
        print(f"median {times[len(times) // 2] * 1000:.0f} ms, 99 % {times[int(len(times) * 0.99)]:.2f} s")
    sys.exit(1 if answers[Answer.REFUTED] else 0)


def _badness(verdict: Verdict) -> int:
    return (Answer.PROVEN, Answer.UNDECIDED, Answer.REFUTED).index(verdict.answer)


if __name__ == "__main__":
    main()
