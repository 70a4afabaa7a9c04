"""Tile programs without flags, what insert-sync makes of them, and runs that judge the result."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.registry import make_pass
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

TILE = "!pto.tile_buf<vec, 16x16xf32>"
PART = "!pto.partition_tensor_view<16x16xf32>"
SCHEDULES = ("oldest", "newest", "random:1", "random:2")
CONTENT = ("mem-uninit", "mem-overlap")
"""Findings about what programs hold, not about their order."""

_HEAD = """module attributes {{pto.target_arch = "{target}"}} {{
  func.func @f(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %n: index{more}) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c256 = arith.constant 256 : index
    %at0 = arith.constant 0 : i64
    %at1 = arith.constant 1024 : i64
    %at2 = arith.constant 2048 : i64
    %va = pto.make_tensor_view %a, shape = [%c256, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %vb = pto.make_tensor_view %b, shape = [%c256, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %x = pto.alloc_tile addr = %at0 : {tile}
    %y = pto.alloc_tile addr = %at1 : {tile}
    %z = pto.alloc_tile addr = %at2 : {tile}
"""


def kernel(*lines: str, target: str = "a5", more: str = "") -> str:
    """A function with two arrays, an index, the tiles %x, %y and %z, and ``lines``."""
    body = "".join(f"    {line}\n" for line in lines)
    return f"{_HEAD.format(target=target, more=more, tile=TILE)}{body}    return\n  }}\n}}\n"


def part(name: str, view: str, row: str) -> str:
    """%name is 16 rows of %view from %row."""
    return (
        f"%{name} = pto.partition_view %v{view}, offsets = [%{row}, %c0], sizes = [%c16, %c16] "
        f": !pto.tensor_view<?x?xf32> -> {PART}"
    )


def load(source: str, tile: str) -> str:
    """A load on MTE2."""
    return f"pto.tload ins(%{source} : {PART}) outs(%{tile} : {TILE})"


def store(tile: str, target: str) -> str:
    """A store on MTE3."""
    return f"pto.tstore ins(%{tile} : {TILE}) outs(%{target} : {PART})"


def add(one: str, other: str, into: str) -> str:
    """A sum on V."""
    return f"pto.tadd ins(%{one}, %{other} : {TILE}, {TILE}) outs(%{into} : {TILE})"


def lowered(text: str, *passes: str) -> tuple[ModuleOp, Sequence[Diagnostic]]:
    """The module after ``passes``, each with its options, insert-sync if none is named, and what they say."""
    module = parse(text, "program.pto")
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    for call in passes or ("insert-sync",):
        make_pass(call, None).run(module, engine)
    return module, engine.diagnostics


def outline(text: str) -> list[str]:
    """The operations of a lowered program that run on pipes or order them, loops and branches, in few words."""
    module, diagnostics = lowered(text)
    assert not diagnostics
    found: list[str] = []
    for line in print_module(module).splitlines():
        line = line.strip()
        flag = re.fullmatch(r"pto\.(set|wait)_flag\[<PIPE_(\w+)>, <PIPE_(\w+)>, <EVENT_ID(\d)>\]", line)
        if flag:
            found.append("{} {}>{} {}".format(*flag.groups()))
        elif line.startswith("pto.barrier"):
            found.append(f"barrier {line.split('PIPE_')[1].rstrip('>')}")
        elif line.startswith(("scf.for", "scf.if")):
            found.append(line.split()[0].removeprefix("scf."))
        elif line.startswith("} else"):
            found.append("else")
        elif line.startswith("}"):
            found.append("end")
        elif re.match(r"(%\w+ = )?pto\.(t\w+|syncall|store_scalar|load_scalar)", line):
            name = re.search(r"pto\.(\w+)", line)
            assert name is not None
            found.append(name[1])
    return found[: -2 if found[-2:] == ["end", "end"] else None]


def results(module: ModuleOp, arrays: Sequence[Any], schedule: str = "text") -> list[bytes]:
    """What a run leaves in the arrays; memory on the chip begins with the same random bytes each time."""
    copies = [array.copy() if isinstance(array, np.ndarray) else array for array in arrays]
    options = RunOptions(fill="random", schedule=Schedule.parse(schedule, strict=True))
    Kernel(module, None, None, options).run(copies, 1)
    return [array.tobytes() for array in copies if isinstance(array, np.ndarray)]


def disorder(module: ModuleOp, arrays: Sequence[Any], schedule: str = "text") -> list[str]:
    """The rules that an instrumented run names, those about content aside."""
    copies = [array.copy() if isinstance(array, np.ndarray) else array for array in arrays]
    options = RunOptions(fill="random", schedule=Schedule.parse(schedule, strict=True))
    instrumented = InstrumentedKernel(module, None, None, options, SanitizeOptions(sync="strict"))
    instrumented.run(copies, 1)
    return [finding.rule for finding in instrumented.observer.findings.all if finding.rule not in CONTENT]
