"""Tile programs of the cube core, what lower-cube makes of them, and runs of both forms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from pto_dialect import parse, print_module
from pto_dialect.api import check
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.registry import make_pass
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

Array = np.ndarray[Any, np.dtype[Any]]

SCHEDULES = ("text", "oldest", "newest")
CONTENT = ("mem-uninit", "mem-overlap")
"""Findings about what programs hold, not about their order."""

_LAYOUTS = {
    "nz": ", blayout=col_major, slayout=row_major",
    "zn": ", slayout=col_major",
    "nd": "",
    "dn": ", blayout=col_major",
    "zz": ", slayout=row_major",
}
_OWN = {"mat": "nz", "left": "nz", "right": "zn", "acc": "nz", "bias": "nd", "scaling": "nd", "vec": "nd"}


def tile_type(loc: str, rows: int, cols: int, element: str, layout: str = "", valid: str = "", more: str = "") -> str:
    """The type of a tile in the usual layout of its memory, or in ``layout``."""
    text = f"!pto.tile_buf<{loc}, {rows}x{cols}x{element}" + (f", valid={valid}" if valid else "")
    text += _LAYOUTS[layout or _OWN[loc]] + (", fractal=1024" if loc == "acc" else "") + more
    return text + ">"


class Program:
    """A program that grows line by line: arrays are arguments, and numbers whose types follow ``=``; tiles are
    allocated at its beginning."""

    def __init__(self, **arguments: str) -> None:
        self.arguments = dict(arguments)
        self.numbers: set[int] = {0, 1}
        self.tiles: list[str] = []
        self.lines: list[str] = []
        self.types: dict[str, str] = {}

    def index(self, number: int | str) -> str:
        """The name of a number."""
        if isinstance(number, str):
            return number
        self.numbers.add(number)
        return f"%c{number}"

    def tile(self, name: str, loc: str, rows: int, cols: int, element: str, sizes: str = "", **more: str) -> None:
        """Allocates %name; ``sizes`` are operands of the allocation."""
        self.types[name] = tile_type(loc, rows, cols, element, **more)
        self.tiles.append(f"%{name} = pto.alloc_tile {sizes} : {self.types[name]}")

    def view(self, name: str, array: str, sizes: tuple[int | str, ...], strides: tuple[int, ...], layout: str = "",
             offsets: tuple[int | str, ...] = ()) -> None:  # fmt: skip
        """%name shows a part of an array."""
        element = self.arguments[array]
        numbers = [", ".join(map(self.index, values)) for values in (sizes, strides, offsets or (0,) * len(sizes))]
        open_type = f"!pto.tensor_view<{'?x' * len(sizes)}{element}>"
        shape = "x".join("?" if isinstance(size, str) else str(size) for size in sizes)
        self.types[name] = f"!pto.partition_tensor_view<{shape}x{element}>"
        attribute = f" {{layout = #pto.layout<{layout}>}}" if layout else ""
        self.lines += [
            f"%{name}_all = pto.make_tensor_view %{array}, shape = [{numbers[0]}], strides = [{numbers[1]}]"
            f"{attribute} : {open_type}",
            f"%{name} = pto.partition_view %{name}_all, offsets = [{numbers[2]}], sizes = [{numbers[0]}] "
            f": {open_type} -> {self.types[name]}",
        ]

    def op(self, name: str, *ins: str, to: str, more: str = "", extra: str = "", extra_types: str = "") -> None:
        """A statement with operands by name; ``extra`` stands after the inputs."""
        operands, types = ", ".join(f"%{i}" for i in ins), ", ".join(self.types[i] for i in ins)
        self.lines.append(
            f"pto.{name} ins({operands}{extra} : {types}{extra_types}) outs(%{to} : {self.types[to]}){more}"
        )

    def __str__(self) -> str:
        parameters = ", ".join(f"%{name}: " + (kind[1:] if kind[0] == "=" else f"!pto.ptr<{kind}>")
                               for name, kind in self.arguments.items())  # fmt: skip
        numbers = [f"%c{number} = arith.constant {number} : index" for number in sorted(self.numbers)]
        body = "".join(f"    {line}\n" for line in (*numbers, *self.tiles, *self.lines))
        return (
            'module attributes {pto.target_arch = "a5"} {\n'
            f"  func.func @f({parameters}) attributes {{pto.entry}} {{\n{body}    return\n  }}\n}}\n"
        )


def passed(text: str, *names: str) -> tuple[ModuleOp, list[str]]:
    """The module after passes, and what they say."""
    module = parse(text, "program.pto")
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    for name in names:
        make_pass(name, None).run(module, engine)
    return module, [f"{one.rule}: {one.message}" for one in engine.diagnostics]


def refusals(program: Program | str, last: str = "lower-cube") -> list[str]:
    """Why operations are not lowered; the program is as before then."""
    module, said = passed(str(program), "assign-memory", last)
    assert print_module(module) == print_module(passed(str(program), "assign-memory")[0])
    return [message.partition(": ")[2].removeprefix(f"{last} cannot lower ") for message in said]


def copies(arrays: Mapping[str, Any]) -> list[Any]:
    """Arguments that a run may write."""
    return [value.copy() if isinstance(value, np.ndarray) else value for value in arrays.values()]


def run(module: ModuleOp, arrays: Mapping[str, Any], schedule: str = "text", blocks: int = 1) -> dict[str, Any]:
    """What a run leaves; memory on the chip begins with the same random bytes each time."""
    values = copies(arrays)
    options = RunOptions(fill="random", accumulate="exact", schedule=Schedule.parse(schedule, strict=True))
    Kernel(module, None, None, options).run(values, blocks)
    return dict(zip(arrays, values, strict=True))


def instructions(module: ModuleOp) -> list[str]:
    """The instructions of a lowered program, without their operands and types."""
    return re.findall(r"pto\.(mte_\w+|mad\w*) ", print_module(module))


def lowered(program: Program | str, last: str = "lower-cube", **arrays: Any) -> tuple[ModuleOp, dict[str, Any]]:
    """The lowered program and what it computes, after it was compared with the program before: the same bytes under
    all schedules, nothing about order in an instrumented run, no error in the printed text."""
    before, said = passed(str(program), "assign-memory", "insert-sync")
    assert not said
    after, said = passed(str(program), "assign-memory", "insert-sync", last)
    assert not said, said
    text = print_module(after)
    verdict = check(text)
    assert not [one for one in verdict.diagnostics if one.severity is Severity.ERROR], str(verdict)
    expected = run(before, arrays)
    again = parse(text, "lowered.pto")
    assert print_module(again) == text
    for schedule in SCHEDULES:
        found = run(again, arrays, schedule)
        for name, value in found.items():
            if isinstance(value, np.ndarray):
                assert value.tobytes() == expected[name].tobytes(), f"{name} under {schedule}\n{text}"
    instrumented = InstrumentedKernel(again, None, None, RunOptions(), SanitizeOptions(sync="strict"))
    instrumented.run(copies(arrays), 1)
    rules = [finding.rule for finding in instrumented.observer.findings.all if finding.rule not in CONTENT]
    assert not rules, f"{rules}\n{text}"
    return after, expected
