"""Whether every flag and barrier that insert-sync puts is needed: each is deleted, and two judges are queried.

Usage: python benchmarks/sync_needed.py [--seeds N] [--first N] [PROGRAM...]

The first judge is the proof of ``check-sync{judge=true}``, which knows all numbers of iterations and all values. The
second is an instrumented run of the program without the group, with several arguments so that branches go both ways;
where it finds nothing, the program is run once more with the sets removed and the waits left, which shows if a run
comes there. The flags and barriers of PROGRAMs that have some are counted: as they are, after
``remove-redundant-sync``, and after ``insert-sync`` on the program without any. The exit code is 1 when the first judge
finds something needless, or the second something out of order in a program that is whole."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import click
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.items import UnsupportedError
from pto_dialect.passes.registry import make_pass
from pto_dialect.passes.sync_order.course import Open
from pto_dialect.passes.sync_order.findings import judges
from pto_dialect.runtime.errors import ProgramError

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))
from lowering_programs import disorder
from random_tile_programs import RandomProgram, arguments

COUNTS = (0, 1, 2, 3)
_SIGNALS = ("pto.set_flag", "pto.wait_flag", "pto.barrier")


def after(module: ModuleOp, *calls: str) -> bool:
    """Runs passes over ``module``; whether they had nothing against it."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    for call in calls:
        make_pass(call, None).run(module, engine)
    return not engine.has_errors


def function_of(module: ModuleOp) -> Operation:
    """The function of a module that has one."""
    return next(op for op in walk(module) if has_role(op, Role.FUNCTION))


def wrong(module: ModuleOp, program: RandomProgram) -> bool:
    """Whether some run is out of order or does not end."""
    for count in COUNTS:
        try:
            if disorder(module, arguments(program, count)):
                return True
        except ProgramError:
            return True
    return False


def less(text: str, places: set[int], sets_alone: bool) -> ModuleOp:
    """The program without the signals whose numbers are in ``places``, or without the sets and barriers among them."""
    module = parse(text)
    signals = [op for op in walk(module) if op.name in _SIGNALS]
    for number in places:
        op = signals[number]
        if not (sets_alone and op.name == "pto.wait_flag"):
            op.detach()
            op.erase()
    return module


def try_program(program: RandomProgram, totals: Counter[str]) -> None:
    """Deletes each group of one program."""
    module = parse(program.text)
    assert after(module, "insert-sync")
    text = print_module(module)
    module = parse(text)
    order = {op: number for number, op in enumerate(op for op in walk(module) if op.name in _SIGNALS)}
    (judge,) = judges(function_of(module), None)
    totals["programs"] += 1
    totals["out of order"] += wrong(parse(text), program) or any(isinstance(one, Open) for one in judge.found)
    needless = 0
    for group in judge.groups():
        totals["groups"] += 1
        if not judge.lost(group):
            totals["needless by proof"] += 1
            needless += 1
            continue
        places = {order[signal.op] for signal in group.signals}
        if wrong(less(text, places, False), program):
            totals["needed in a run"] += 1
        elif group.signals[0].kind == "set" and not wrong(less(text, places, True), program):
            totals["where no run comes"] += 1
        else:
            totals["needed by proof alone"] += 1
    totals["programs without needless ones"] += not needless


def strip(path: Path, totals: Counter[str]) -> None:
    """Counts the flags and barriers of a program: its own, those that stay, and those that are put instead."""
    module = parse(path.read_text(encoding="utf-8"), str(path))
    own = count(module)
    if not own or not followed(module):
        return
    bare = parse(path.read_text(encoding="utf-8"), str(path))
    for op in [op for op in walk(bare) if op.name in _SIGNALS]:
        op.detach()
        op.erase()
    if not after(bare, "insert-sync") or not after(module, "remove-redundant-sync"):
        return
    totals["programs with flags"] += 1
    totals["flags and barriers"] += own
    totals["left by remove-redundant-sync"] += count(module)
    totals["put by insert-sync"] += count(bare)


def followed(module: ModuleOp) -> bool:
    """Whether the order of all functions of a module can be judged."""
    try:
        for op in walk(module):
            if has_role(op, Role.FUNCTION) and op.regions[0].blocks:
                judges(op, None)
    except UnsupportedError:
        return False
    return True


def count(module: ModuleOp) -> int:
    """Sets and barriers."""
    return sum(op.name in ("pto.set_flag", "pto.barrier") for op in walk(module))


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("programs", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--seeds", default=20, show_default=True, help="random programs for each target")
@click.option("--first", default=0, show_default=True, help="the first seed")
def main(programs: tuple[Path, ...], seeds: int, first: int) -> None:
    """Delete what insert-sync puts, and count the flags of PROGRAMS before and after."""
    totals: Counter[str] = Counter()
    for target in ("a2a3", "a5"):
        for seed in range(first, first + seeds):
            try_program(RandomProgram(seed, target), totals)
    for place in programs:
        for path in sorted(place.rglob("*.pto")) if place.is_dir() else [place]:
            try:
                strip(path, totals)
            except ProgramError:
                totals["not read"] += 1
    print(*(f"{name}: {number}" for name, number in totals.items()), sep="\n")
    sys.exit(1 if totals["needless by proof"] or totals["out of order"] else 0)


if __name__ == "__main__":
    main()
