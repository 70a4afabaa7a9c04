"""Does the sanitizer find memory faults?  Plants one in each of many generated programs, and none in the others.

Usage: python benchmarks/seeded_faults.py [PROGRAMS-PER-KIND]

A program loads some tiles, computes with them and stores results, either with tile operations or with transfers
between pointers.  Faults: a buffer that is too short or an address too high (bounds), a transfer left out or too short
(init), a tile on top of another one (overlap), an address that is not aligned (alignment).
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import click
import numpy as np

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.syntax.read.parser import parse_program

EXPECTED = {
    "bounds": ("mem-oob", "mem-capacity"),
    "init": ("mem-uninit",),
    "overlap": ("mem-overlap",),
    "alignment": ("mem-align",),
}
"""Kinds of faults, and the rules that report them."""


@dataclass(frozen=True)
class Tile:
    """A tile of the program: its rows and columns of f32, and its byte address."""

    rows: int
    cols: int
    address: int

    @property
    def nbytes(self) -> int:
        return self.rows * self.cols * 4


@dataclass(frozen=True)
class Plan:
    """A program: inputs with their tiles, operations (name, sources, target) on tiles, the stored tile.

    ``skipped`` inputs are not loaded; ``shortened`` ones only up to a row. ``missing`` bytes are taken from a buffer.
    """

    tiles: tuple[Tile, ...]
    inputs: int
    operations: tuple[tuple[str, int, int, int], ...]
    pointers: bool
    skipped: frozenset[int] = frozenset()
    shortened: dict[int, int] = field(default_factory=dict)
    missing: dict[int, int] = field(default_factory=dict)

    @property
    def result(self) -> int:
        return self.operations[-1][3]


def random_plan(random: Random) -> Plan:
    """A correct program, in which every input and every result is used."""
    rows, cols = random.choice((1, 2, 5, 16, 33)), random.choice((8, 16, 64, 104))
    inputs = random.randint(1, 3)
    steps = random.randint(1, 3)
    tiles: list[Tile] = []
    address = 0
    for _ in range(inputs + steps):
        tiles.append(Tile(rows, cols, address))
        address += -(-tiles[-1].nbytes // 32) * 32 + 32 * random.randint(0, 3)
    used = list(range(inputs))
    operations: list[tuple[str, int, int, int]] = []
    for step in range(steps):
        last = used[-1] if step else random.choice(used)
        operations.append((random.choice(("tadd", "tsub", "tmul")), last, random.choice(used), inputs + step))
        used.append(inputs + step)
    return Plan(tuple(tiles), inputs, tuple(operations), random.random() < 0.5)


def relevant_inputs(plan: Plan) -> list[int]:
    """Inputs that the stored result depends on."""
    wanted = {plan.result}
    for _, a, b, target in reversed(plan.operations):
        if target in wanted:
            wanted |= {a} if plan.pointers else {a, b}
    return [tile for tile in range(plan.inputs) if tile in wanted]


def with_fault(plan: Plan, kind: str, random: Random) -> Plan:
    """The program with one fault."""
    tiles = list(plan.tiles)
    chosen = random.choice(relevant_inputs(plan))
    tile = tiles[chosen]
    if kind == "bounds":
        if random.random() < 0.5:
            return replace(plan, missing={random.choice((chosen, -1)): random.randint(1, tile.nbytes // 4)})
        tiles[chosen] = replace(tile, address=262144 - tile.nbytes + 32 * random.randint(1, 100))
    elif kind == "init":
        if tile.rows == 1 or random.random() < 0.5:
            return replace(plan, skipped=frozenset((chosen,)))
        return replace(plan, shortened={chosen: random.randint(0, tile.rows - 1)})
    elif kind == "alignment":
        tiles[chosen] = replace(tile, address=tile.address + random.randint(1, 31))
    else:
        return _overlapped(plan, random)
    return replace(plan, tiles=tuple(tiles))


def _overlapped(plan: Plan, random: Random) -> Plan:
    """A tile that the last operation uses shares bytes with one that is written after it and before that."""
    tiles = list(plan.tiles)
    victim = plan.operations[-1][1]
    other = random.choice([tile for tile in range(plan.result) if tile != victim])
    shift = 32 * random.randint(0, max(0, (tiles[victim].nbytes - 1) // 32))
    tiles[other] = replace(tiles[other], address=tiles[victim].address + shift)
    return replace(plan, tiles=tuple(tiles))


# ------------------------------------------------------------ text


def text_of(plan: Plan) -> str:
    """The program as text."""
    rows, cols = plan.tiles[0].rows, plan.tiles[0].cols
    buffers = [f"%in{i}: !pto.ptr<f32, gm>" for i in range(plan.inputs)]
    lines = [f"func.func @k({', '.join([*buffers, '%out: !pto.ptr<f32, gm>'])}) attributes {{pto.kernel}} {{"]
    numbers = sorted({0, 1, rows, cols, *plan.shortened.values()})
    lines += [f"  %c{n} = arith.constant {n} : index" for n in numbers]
    body = _pointer_lines(plan) if plan.pointers else _tile_lines(plan)
    head = 'module attributes {pto.target_arch = "a5"} {'
    return "\n".join([head, *lines, *(f"  {line}" for line in body), "  return", "}", "}", ""])


def _tile_lines(plan: Plan) -> list[str]:
    rows, cols = plan.tiles[0].rows, plan.tiles[0].cols
    type_ = f"!pto.tile_buf<vec, {rows}x{cols}xf32>"
    lines: list[str] = []
    for index, tile in enumerate(plan.tiles):
        lines.append(f"%a{index} = arith.constant {tile.address} : i64")
        lines.append(f"%t{index} = pto.alloc_tile addr = %a{index} : {type_}")
    for name in (*(f"in{i}" for i in range(plan.inputs)), "out"):
        view = f"!pto.tensor_view<{rows}x{cols}xf32>"
        lines.append(
            f"%{name}_v = pto.make_tensor_view %{name}, shape = [%c{rows}, %c{cols}], "
            f"strides = [%c{cols}, %c1] : {view}"
        )
    for index in range(plan.inputs):
        if index in plan.skipped:
            continue
        height = plan.shortened.get(index, rows)
        if height == rows:
            lines += _part(f"in{index}", rows, cols, rows)
            lines.append(f"pto.tload ins(%in{index}_p : {_part_type(rows, cols)}) outs(%t{index} : {type_})")
        elif height:
            lines += _part(f"in{index}", height, cols, rows)
            small = f"!pto.tile_buf<vec, {height}x{cols}xf32>"
            lines.append(f"%s{index} = pto.subview %t{index}[%c0, %c0] sizes [{height}, {cols}] : {type_} -> {small}")
            lines.append(f"pto.tload ins(%in{index}_p : {_part_type(height, cols)}) outs(%s{index} : {small})")
    for name, a, b, target in plan.operations:
        lines.append(f"pto.{name} ins(%t{a}, %t{b} : {type_}, {type_}) outs(%t{target} : {type_})")
    lines += _part("out", rows, cols, rows)
    lines.append(f"pto.tstore ins(%t{plan.result} : {type_}) outs(%out_p : {_part_type(rows, cols)})")
    return lines


def _part_type(rows: int, cols: int) -> str:
    return f"!pto.partition_tensor_view<{rows}x{cols}xf32>"


def _part(name: str, rows: int, cols: int, all_rows: int) -> list[str]:
    sizes = f"offsets = [%c0, %c0], sizes = [%c{rows}, %c{cols}]"
    whole = f"!pto.tensor_view<{all_rows}x{cols}xf32>"
    return [f"%{name}_p = pto.partition_view %{name}_v, {sizes} : {whole} -> {_part_type(rows, cols)}"]


def _pointer_lines(plan: Plan) -> list[str]:
    """Transfers between pointers; an operation copies its first source, because arithmetic is not the point."""
    tile = plan.tiles[0]
    row = tile.cols * 4
    lines = [
        f"%n{n} = arith.constant {n} : i64" for n in sorted({0, 1, row, row // 32, tile.rows, *plan.shortened.values()})
    ]
    for index, one in enumerate(plan.tiles):
        lines.append(f"%a{index} = arith.constant {one.address} : i64")
        lines.append(f"%t{index} = pto.castptr %a{index} : i64 -> !pto.ptr<f32, ub>")
    types = "i64, i64, i64, i64"
    for index in range(plan.inputs):
        height = 0 if index in plan.skipped else plan.shortened.get(index, tile.rows)
        burst = f"%n{row} nburst(%n{height}, %n{row}, %n{row})"
        if height:
            pointers = "!pto.ptr<f32, gm>, !pto.ptr<f32, ub>"
            lines.append(f"pto.mte_gm_ub %in{index}, %t{index}, %n0, {burst} : {pointers}, i64, {types}")
    lines += ['pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]', 'pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]']
    for _, a, _, target in plan.operations:
        pointers = "!pto.ptr<f32, ub>, !pto.ptr<f32, ub>"
        lines.append(
            f"pto.mte_ub_ub %t{a}, %t{target}, %n{row // 32} nburst(%n{tile.rows}, %n0, %n0) : {pointers}, {types}"
        )
    lines += ['pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]', 'pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]']
    pointers = "!pto.ptr<f32, ub>, !pto.ptr<f32, gm>"
    burst = f"%n{row} nburst(%n{tile.rows}, %n{row}, %n{row})"
    lines.append(f"pto.mte_ub_gm %t{plan.result}, %out, {burst} : {pointers}, {types}")
    return lines


# ------------------------------------------------------------ runs


def findings(plan: Plan) -> Counter[tuple[str, Severity]]:
    """What the sanitizer says about a program."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = parse_program(SourceFile("seeded.pto", text_of(plan)), engine)
    if module is None or engine.has_errors:
        raise SystemExit(f"{engine.diagnostics}\n{text_of(plan)}")
    rng = np.random.default_rng(3)
    values: list[Any] = []
    for index in (*range(plan.inputs), -1):
        nbytes = plan.tiles[0].nbytes - 4 * plan.missing.get(index, 0)
        values.append(rng.standard_normal(max(nbytes // 4, 0)).astype(np.float32))
    kernel = InstrumentedKernel(module, "k", None, RunOptions(fill="poison"), SanitizeOptions())
    try:
        kernel.run(values)
    except ProgramError as error:
        return Counter({(error.rule, Severity.ERROR): 1})
    found = (finding.diagnostic() for finding in kernel.observer.findings.all)
    return Counter((diagnostic.rule, diagnostic.severity) for diagnostic in found)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("count", metavar="[PROGRAMS-PER-KIND]", type=click.IntRange(1), default=100)
def main(count: int) -> None:
    """Plant a memory fault in each of PROGRAMS-PER-KIND programs (default 100), and none in as many others.

    Exit code 1 when less than 99 % are found, or anything in a correct program.
    """
    bad = 0
    print(f"{'kind':<12} {'seeded':>7} {'found':>6} {'correct':>8} {'false':>6}")
    for kind, rules in EXPECTED.items():
        found = false = 0
        missed: list[int] = []
        for seed in range(count):
            random = Random(f"{kind} {seed}")
            plan = random_plan(random)
            if kind == "overlap":
                plan = replace(_long(plan, random), pointers=False)
            false += any(severity is Severity.ERROR for _, severity in findings(plan))
            reported = {rule for rule, _ in findings(with_fault(plan, kind, random))}
            if reported & set(rules):
                found += 1
            else:
                missed.append(seed)
        bad += false + (found < 0.99 * count)
        print(f"{kind:<12} {count:>7} {found:>6} {count:>8} {false:>6}" + (f"   missed {missed}" if missed else ""))
    sys.exit(1 if bad else 0)


def _long(plan: Plan, random: Random) -> Plan:
    """A program in which the last operation uses an input again, after other tiles were written."""
    rows, cols = plan.tiles[0].rows, plan.tiles[0].cols
    step = -(-rows * cols * 4 // 32) * 32
    tiles = tuple(Tile(rows, cols, index * step) for index in range(5))
    operations = (("tadd", 0, 1, 2), ("tmul", 2, 0, 3), ("tsub", random.choice((0, 1)), 3, 4))
    return Plan(tiles, 2, operations, False)


if __name__ == "__main__":
    main()
