"""Functions with loops and regions as deep as may be are executed in every variant of generated code; deeper ones are
refused at their location."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import simt_programs
from parse_helpers import parsed

from pto_dialect.nesting import EXECUTED, LOOPS
from pto_dialect.runtime.compile.compiler import compile_module
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.profiling import ProfileLog
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions, parse_checks
from pto_dialect.targets.choice import get_profile

COUNT = "%old = pto.load %p[%i0] : !pto.ptr<i32, gm> -> i32\n%new = arith.addi %old, %one : i32\n"
COUNT += "pto.store %new, %p[%i0] : !pto.ptr<i32, gm>, i32\n"
WHILE = """%w{n} = scf.while (%x{n} = %i0) : (index) -> index {{
  %go{n} = arith.cmpi slt, %x{n}, %i1 : index
  scf.condition(%go{n}) %x{n} : index
}} do {{
^bb0(%y{n}: index):
"""
WHILE_END = "%z{n} = arith.addi %y{n}, %i1 : index\nscf.yield %z{n} : index\n}}\n"


def nest(kinds: str, inner: str) -> str:
    """``inner`` in loops and conditions: f for, w while, i if, e else, s switch."""
    begin, end = [], []
    for n, kind in enumerate(kinds):
        if kind == "f":
            begin.append(f"scf.for %f{n} = %i0 to %i1 step %i1 {{\n")
            end.append("}\n")
        elif kind == "w":
            begin.append(WHILE.format(n=n))
            end.append(WHILE_END.format(n=n))
        elif kind == "i":
            begin.append("scf.if %t {\n")
            end.append("}\n")
        elif kind == "e":
            begin.append("scf.if %f {\n} else {\n")
            end.append("}\n")
        else:
            begin.append("scf.index_switch %i1\ncase 0 {\nscf.yield\n}\ndefault {\n")
            end.append("scf.yield\n}\n")
    return "".join(begin) + inner + "".join(reversed(end))


SCALARS = """%i0 = arith.constant 0 : index
%i1 = arith.constant 1 : index
%one = arith.constant 1 : i32
%t = arith.constant true
%f = arith.constant false
"""


def kernel_text(kinds: str) -> str:
    return f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @k(%p: !pto.ptr<i32, gm>) attributes {{pto.kernel}} {{
{SCALARS}{nest(kinds, COUNT)}return
}}
}}
"""


def module_of(text: str) -> Any:
    module, found = parsed(text)
    assert not found, found
    return module


REST = EXECUTED - LOOPS
DEEPEST = {
    "for": "f" * LOOPS,
    "while": "w" * LOOPS,
    "if": "i" * EXECUTED,
    "else": "e" * EXECUTED,
    "switch": "s" * EXECUTED,
    "for and if": "f" * LOOPS + "i" * REST,
    "while and else": "w" * LOOPS + "e" * REST,
    "switch and while": "s" * REST + "w" * LOOPS,
}


@pytest.mark.parametrize("name", DEEPEST)
@pytest.mark.parametrize("variant", ["plain", "profile", "instrumented"])
def test_the_deepest_runs(name: str, variant: str) -> None:
    module = module_of(kernel_text(DEEPEST[name]))
    options = RunOptions()
    kernel: Kernel
    if variant == "instrumented":
        kernel = InstrumentedKernel(module, "k", None, options, SanitizeOptions(parse_checks(("all",)), "auto"))
    else:
        kernel = Kernel(module, "k", None, options, ProfileLog() if variant == "profile" else None)
    counter = np.zeros(1, np.int32)
    kernel.run([counter])
    assert counter[0] == 1


@pytest.mark.parametrize("name", DEEPEST)
def test_the_deepest_compiles_for_queues(name: str) -> None:
    module = module_of(kernel_text(DEEPEST[name]))
    assert compile_module(module, "k", get_profile("a5"), RunOptions(), queued=True).source


@pytest.mark.parametrize("name", DEEPEST)
@pytest.mark.parametrize("varies", [False, True])
def test_the_deepest_runs_in_work_items(name: str, varies: bool) -> None:
    """Also where work-items take different paths."""
    body = "%one = arith.constant 1 : i32\n%i0 = arith.constant 0 : index\n%i1 = arith.constant 1 : index\n"
    condition = "%t = arith.cmpi sge, %tid, %i0_ : i32\n%f = arith.cmpi slt, %tid, %i0_ : i32\n"
    constants = "%t = arith.constant true\n%f = arith.constant false\n"
    body += "%i0_ = arith.constant 0 : i32\n" + (condition if varies else constants)
    inner = "%old = pto.load %p[%at] : !pto.ptr<i32, gm> -> i32\n%new = arith.addi %old, %one : i32\n"
    inner += "pto.store %new, %p[%at] : !pto.ptr<i32, gm>, i32\n"
    text = simt_programs.source("BODY", "%p: !pto.ptr<i32, gm>")
    text = text.replace("%i0 = arith.constant 0 : i32\n", "").replace("%i1 = arith.constant 1 : i32\n", "")
    counters = np.zeros(32, np.int32)
    simt_programs.kernel(text.replace("BODY", body + nest(DEEPEST[name], inner))).run([counters])
    assert (counters == 1).all()


@pytest.mark.parametrize(
    ("kinds", "line", "word"),
    [
        ("f" * (LOOPS + 1), 8 + LOOPS, "loops"),
        ("i" * (EXECUTED + 1), 8 + EXECUTED, "regions"),
        ("f" * 500, 8 + LOOPS, "loops"),
        ("i" * 900, 8 + EXECUTED, "regions"),
    ],
)
def test_deeper_is_refused_at_its_location(kinds: str, line: int, word: str) -> None:
    module = module_of(kernel_text(kinds))
    with pytest.raises(ProgramError) as caught:
        Kernel(module, "k", None, RunOptions())
    assert caught.value.rule == "nesting-limit"
    assert caught.value.message.startswith(
        f"{word} that are executed nest at most {LOOPS if word == 'loops' else EXECUTED}"
    )
    assert caught.value.span is not None
    assert caught.value.span.line == line


def test_calls_that_double_are_compiled_once() -> None:
    levels = 40
    functions = "func.func @g0(%p: index) {\nreturn\n}\n" + "".join(
        f"func.func @g{n}(%p: index) {{\nfunc.call @g{n - 1}(%p) : (index) -> ()\n"
        f"func.call @g{n - 1}(%p) : (index) -> ()\nreturn\n}}\n"
        for n in range(1, levels)
    )
    text = (
        f"{functions}func.func @k() {{\n%c = arith.constant 0 : index\nfunc.call @g{levels - 1}(%c) : (index) -> ()\n"
    )
    module = module_of(text + "return\n}\n")
    options = RunOptions()
    kernels = [Kernel(module, "k", None, options)]
    kernels.append(InstrumentedKernel(module, "k", None, options, SanitizeOptions(parse_checks(("all",)), "auto")))
    for kernel in kernels:
        assert kernel.source.count("def ") == levels + 1
