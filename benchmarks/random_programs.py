"""Random tile programs, lowered and proven; what fails is made small.

Usage: python benchmarks/random_programs.py [--count N] [--seed S] [--target CHIP] [--lower STAGES] [--prove SECONDS]

A program that is refused with a location is counted with its reason. The exit code is 1 when a proof fails, the tools
fail, or less than 95 % of the programs are lowered.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import click
from generated_tiles import TileProgram

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticOptions
from pto_dialect.diagnostics.render import render_text
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import process
from pto_dialect.driver.reduce.lines import reduced
from pto_dialect.driver.result import Result
from pto_dialect.passes.registry import VERIFY_PASSES
from pto_dialect.passes.stages import USUAL, lowering

GOAL = 0.95
BATCH = 25
"""Programs that a process judges before another one replaces it: plans and launches are kept for a process."""
CHIPS = ("a5", "a2a3")
REFUSALS = frozenset(
    (
        *("assign-memory-unsupported", "assign-memory-full", "insert-sync-unsupported"),
        *("lower-cube-unsupported", "lower-vector-unsupported", "lower-transfers-unsupported"),
    )
)
PROOFS = frozenset(("prove-difference", "prove-finding", "prove-reread"))
_REMARKS = frozenset(("prove-done", "prove-open"))


class Verdict(NamedTuple):
    """``kind`` is one of proven, lowered, open, refused, failed; ``why`` the rules that say so."""

    kind: str
    why: tuple[str, ...]
    result: Result | None

    @property
    def failed(self) -> bool:
        return self.kind == "failed"


def judge(text: str, stages: str, seconds: float | None) -> Verdict:
    """What becomes of a program."""
    policy = DiagnosticOptions(max_errors=0, remarks=_REMARKS)
    options = Options(passes=(*VERIFY_PASSES, *lowering(stages)), proving=seconds, allow_open=True, policy=policy)
    try:
        result = process(text, "program.pto", options)
    except Exception as error:
        return Verdict("failed", (type(error).__name__,), None)
    rules = {one.rule for one in result.diagnostics if one.severity is Severity.ERROR}
    if rules & REFUSALS:
        return Verdict("refused", tuple(sorted(rules)), result)
    if rules:
        return Verdict("failed", tuple(sorted(rules)), result)
    if seconds is None:
        return Verdict("lowered", (), result)
    done = any(one.rule == "prove-done" for one in result.diagnostics)
    reasons = {one.message for one in result.diagnostics if one.rule == "prove-open"}
    return Verdict("proven" if done and not reasons else "open", tuple(sorted(reasons)), result)


def smaller(text: str, verdict: Verdict, stages: str, seconds: float | None, limit: float) -> str:
    """A program for which the tools say the same, as small as one is found in ``limit`` seconds."""

    def holds(candidate: str) -> bool:
        return judge(candidate, stages, seconds)[:2] == verdict[:2]

    return reduced(text, holds, limit)


def keep(folder: Path, name: str, text: str, verdict: Verdict, small: str) -> None:
    """Writes a failing program, what is reported about it, and what is left of it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.pto").write_text(text, encoding="utf-8")
    (folder / f"{name}-small.pto").write_text(small, encoding="utf-8")
    said = render_text(verdict.result.diagnostics) if verdict.result is not None else ", ".join(verdict.why)
    (folder / f"{name}.txt").write_text(said, encoding="utf-8")


def judged(
    number: int, only: str | None, stages: str, seconds: float | None, failures: Path | None, limit: float
) -> tuple[str, tuple[str, ...]]:
    """What becomes of the program with a number; a failing one is kept and made small."""
    text = TileProgram(number, only or CHIPS[number % 2]).text
    verdict = judge(text, stages, seconds)
    if verdict.failed and failures is not None:
        keep(failures, str(number), text, verdict, smaller(text, verdict, stages, seconds, limit))
    return verdict.kind, verdict.why


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--count", default=100, show_default=True, help="programs")
@click.option("--seed", default=0, show_default=True, help="number of the first program")
@click.option("--target", "only", type=click.Choice(CHIPS), help="one chip; default: half of them for each")
@click.option("--lower", "stages", default=USUAL, show_default=True, metavar="STAGES")
@click.option("--prove", "seconds", type=float, metavar="SECONDS", help="prove each, in at most so long")
@click.option("--failures", type=click.Path(file_okay=False, path_type=Path), help="folder for what fails")
@click.option("--reduce", "limit", default=20.0, show_default=True, help="seconds to make a failing program small")
def main(
    count: int, seed: int, only: str | None, stages: str, seconds: float | None, failures: Path | None, limit: float
) -> None:
    """Lower random tile programs and say what becomes of them."""
    kinds: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    started = perf_counter()
    one = partial(judged, only=only, stages=stages, seconds=seconds, failures=failures, limit=limit)
    with get_context("fork").Pool(1, maxtasksperchild=BATCH) as pool:
        for number, (kind, why) in zip(
            range(seed, seed + count), pool.imap(one, range(seed, seed + count)), strict=True
        ):
            kinds[kind] += 1
            reasons.update(f"{kind}: {reason}" for reason in why)
            if kind == "failed":
                print(f"{number}: {', '.join(why)}", flush=True)
    print(f"{count} programs, {perf_counter() - started:.0f} s")
    print(*(f"{kind}: {number}" for kind, number in sorted(kinds.items())), sep="\n")
    print(*(f"{number:>6} {reason}" for reason, number in reasons.most_common()), sep="\n")
    sys.exit(1 if kinds["failed"] or kinds["refused"] > (1 - GOAL) * count else 0)


if __name__ == "__main__":
    main()
