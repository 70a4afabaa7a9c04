"""Does a proof notice when a lowered program is broken?  Drops, moves and renumbers flags, shifts addresses.

Usage: python benchmarks/proof_mutations.py [--count N] [--seed S] [--each M] [--generated]

Random tile programs are lowered, changed at one location, and proven against the program before the passes. A change
is harmful if an independent graph of a run has a race, signals are left over or set again before they are taken, the
run does not end, or values in global memory have another history (``dataflow``, ``happens_before``). Where only values
that nothing stores have another one, nothing is decided. The exit code is 1 when less than 99 % of the harmful changes
are noticed, or a harmless one is.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from time import perf_counter
from typing import NamedTuple

import click
from dataflow import FlowKernel, FlowRecorder, Values, is_disordered, values
from generated_tiles import TileProgram
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.driver.prove.proof import Proof
from pto_dialect.driver.prove.subject import Subject, Trial
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.sync.flags import BarrierOp, SetFlagOp, WaitFlagOp
from pto_dialect.passes.run import run_passes
from pto_dialect.passes.stages import USUAL, lowering
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.per_core import copied
from pto_dialect.sanitize.options import SanitizeOptions

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from random_tile_programs import RandomProgram

GOAL = 0.99
DEAD = "dead values"
ORDER = (SetFlagOp, WaitFlagOp, BarrierOp)
PASSES = lowering(USUAL)


class Lowered(NamedTuple):
    """A program, what it was lowered to, and the proof that has run it before."""

    module: ModuleOp
    text: str
    proof: Proof

    @property
    def subject(self) -> Subject:
        return self.proof.subjects[0]


def lowered(text: str) -> Lowered:
    """A program with addresses and flags. Raises ``ValueError`` where that cannot be had."""
    module = parse(text, "program.pto")
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    proof = Proof(module, None, engine, 600, 1)
    proof.begin()
    if not run_passes(module, PASSES, engine, None) or not proof.subjects:
        raise ValueError("the program is not lowered, or does not run")
    return Lowered(module, print_module(module), proof)


def noticed(program: Lowered, mutant: ModuleOp) -> list[str]:
    """The rules under which the proof refuses a changed program."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    proof = Proof(mutant, None, engine, 600, 1, list(program.proof.subjects), False, [], "")
    proof.after(PASSES[-1])
    return [one.rule for one in engine.diagnostics]


# ------------------------------------------------------------ what is harmful


def history(module: ModuleOp, trial: Trial, subject: Subject) -> tuple[str, Values]:
    """What is wrong with the order of a run, and the history of what it leaves."""
    kernel = FlowKernel(module, subject.name, None, RunOptions(fill="poison"), SanitizeOptions(sync="strict"))
    given = [copied(value) for value in trial.input.values]
    try:
        kernel.run(given, subject.blocks)
    except ProgramError:
        return "fails", Values([], [])
    observer = kernel.observer
    assert isinstance(observer, FlowRecorder)
    if kernel.stopped or any(one.rule == "sync-deadlock" for one in observer.findings.all):
        return "does not end", Values([], [])
    return is_disordered(observer), values(observer)


def harm(program: Lowered, mutant: ModuleOp, expected: list[Values]) -> str:
    """Why a change is harmful; empty if it is not, ``DEAD`` where only values are others that nothing stores."""
    dead = ""
    for trial, known in zip(program.subject.trials, expected, strict=True):
        wrong, found = history(mutant, trial, program.subject)
        if wrong:
            return wrong
        if found.left != known.left:
            return "other values"
        if found.made != known.made:
            dead = DEAD
    return dead


# ------------------------------------------------------------ changes


def orders(module: ModuleOp) -> list[Operation]:
    """Flags and barriers in the order of the text."""
    return [op for op in module.walk() if isinstance(op, ORDER)]


def addresses(module: ModuleOp) -> list[ConstantOp]:
    """The constants that are addresses of tiles."""
    tiles = [op for op in module.walk() if has_role(op, Role.TILE_ALLOCATION) and op.operands]
    return [op.operands[0].owner for op in tiles if isinstance(op.operands[0].owner, ConstantOp)]


def drop(module: ModuleOp, random: Random) -> str:
    """Leaves a flag or barrier out."""
    op = random.choice(orders(module))
    op.detach()
    op.erase()
    return f"drop {op.name}"


def drop_pair(module: ModuleOp, random: Random) -> str:
    """Leaves a flag out where it is set and where it is next waited for."""
    found = orders(module)
    sets = [number for number, op in enumerate(found) if isinstance(op, SetFlagOp)]
    first = random.choice(sets)
    pair = [found[first]]
    pair += [op for op in found[first:] if isinstance(op, WaitFlagOp) and op.attributes == pair[0].attributes][:1]
    for op in pair:
        op.detach()
        op.erase()
    return "drop a pair"


def move(module: ModuleOp, random: Random) -> str:
    """Takes a flag or barrier over its neighbours."""
    op = random.choice(orders(module))
    steps = random.randint(1, 4)
    forward = random.random() < 0.5
    block = op.parent
    assert block is not None
    place = op
    for _ in range(steps):
        following = place.next_op if forward else place.prev_op
        if following is None or following.next_op is None:
            break
        place = following
    if place is op:
        return ""
    op.detach()
    if forward:
        block.insert_op_after(op, place)
    else:
        block.insert_op_before(op, place)
    return f"move {op.name}"


def renumber(module: ModuleOp, random: Random) -> str:
    """Gives a flag another number, at one end or at both."""
    found = [op for op in orders(module) if not isinstance(op, BarrierOp)]
    op = random.choice(found)
    numbers = list({str(one.attributes["event_id"]): one.attributes["event_id"] for one in found}.values())
    others = [number for number in numbers if number != op.attributes["event_id"]]
    if not others:
        return ""
    new = random.choice(others)
    group = [op]
    if random.random() < 0.5:
        group = [one for one in found if one.attributes["event_id"] == op.attributes["event_id"]
                 and one.attributes["src_pipe"] == op.attributes["src_pipe"]
                 and one.attributes["dst_pipe"] == op.attributes["dst_pipe"]]  # fmt: skip
    for one in group:
        one.attributes["event_id"] = new
    return "renumber"


def shift(module: ModuleOp, random: Random) -> str:
    """Puts a tile somewhere else."""
    constant = random.choice(addresses(module))
    value = constant.value
    assert isinstance(value, IntegerAttr)
    by = random.choice((32, 64, 512, 1024, -32, -512))
    if value.value.data + by < 0:
        return ""
    constant.properties["value"] = IntegerAttr(value.value.data + by, value.type)
    return "shift"


CHANGES: tuple[Callable[[ModuleOp, Random], str], ...] = (drop, drop_pair, move, renumber, shift)


def mutants(program: Lowered, random: Random, count: int) -> Iterator[tuple[str, ModuleOp]]:
    """Changed programs, each another one."""
    seen = {program.text}
    for number in range(count):
        module = program.module.clone()
        how = ""
        with suppress(IndexError):
            how = CHANGES[number % len(CHANGES)](module, random)
        text = print_module(module)
        if how and text not in seen:
            seen.add(text)
            yield how, module


# ------------------------------------------------------------ counting


class Total:
    """Numbers of changes by kind, and what was judged in another way than the graph does."""

    def __init__(self) -> None:
        self.count: Counter[tuple[str, str]] = Counter()
        self.wrong: list[str] = []

    def add(self, how: str, harmful: str, rules: list[str], place: str) -> None:
        self.count[how, "all"] += 1
        if harmful == DEAD:
            # Nothing that anybody sees is wrong, but the program is another one.
            self.count[how, "dead"] += 1
            return
        self.count[how, "harmful"] += bool(harmful)
        self.count[how, "noticed"] += bool(harmful and rules)
        self.count[how, "flagged"] += bool(rules and not harmful)
        if bool(harmful) != bool(rules):
            self.wrong.append(f"{place} {how}: {harmful or 'harmless'}, {', '.join(rules) or 'not noticed'}")

    def sum(self, what: str) -> int:
        return sum(number for (_, kind), number in self.count.items() if kind == what)


def measure(program: Lowered, random: Random, count: int, total: Total, place: str, show: Path | None = None) -> None:
    """Judges changes of one program in both ways."""
    expected: list[Values] = []
    for trial in program.subject.trials:
        wrong, found = history(program.module, trial, program.subject)
        if wrong:
            total.wrong.append(f"{place} as it is: {wrong}")
            return
        expected.append(found)
    for number, (how, mutant) in enumerate(mutants(program, random, count)):
        harmful, rules = harm(program, mutant, expected), noticed(program, mutant)
        if show is not None and bool(harmful) != bool(rules):
            (show / f"{place}-{number}.pto").write_text(print_module(mutant), encoding="utf-8")
        total.add(how, harmful, rules, f"{place}-{number}")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--count", default=20, show_default=True, help="programs")
@click.option("--seed", default=0, show_default=True, help="number of the first program")
@click.option("--each", default=15, show_default=True, help="changes of each program")
@click.option("--target", default="a5", show_default=True, type=click.Choice(["a2a3", "a5"]))
@click.option("--generated", is_flag=True, help="programs of all families, also of cube cores")
@click.option("--show", type=click.Path(file_okay=False, path_type=Path), help="folder for what is judged differently")
def main(count: int, seed: int, each: int, target: str, generated: bool, show: Path | None) -> None:
    """Change lowered programs and count what the proof says."""
    if show is not None:
        show.mkdir(parents=True, exist_ok=True)
    total = Total()
    started = perf_counter()
    for number in range(seed, seed + count):
        plain = RandomProgram(number, target, addresses=False)
        text = TileProgram(number, target).text if generated else plain.text
        try:
            program = lowered(text)
        except ValueError:
            total.count["not lowered", "programs"] += 1
            continue
        measure(program, Random(number), each, total, str(number), show)
    print(f"{count} programs, {perf_counter() - started:.0f} s; not lowered: {total.count['not lowered', 'programs']}")
    print(f"{'change':<20} {'all':>5} {'harmful':>8} {'noticed':>8} {'flagged':>8} {'dead':>5}")
    for how in sorted({how for how, kind in total.count if kind == "all"}):
        numbers = [total.count[how, kind] for kind in ("all", "harmful", "noticed", "flagged", "dead")]
        print(f"{how:<20} {numbers[0]:>5} {numbers[1]:>8} {numbers[2]:>8} {numbers[3]:>8} {numbers[4]:>5}")
    print(*total.wrong, sep="\n")
    good = total.sum("noticed") >= GOAL * total.sum("harmful") and not total.sum("flagged")
    sys.exit(0 if good and total.sum("harmful") else 1)


if __name__ == "__main__":
    main()
