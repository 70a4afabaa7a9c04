"""Iterations side by side. Source: docs/reference/core-dialects.md, "Control flow"."""

from itertools import product

import numpy as np
import pytest
from groups import in_groups

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.core.location import span_of
from pto_dialect.passes.registry import make_pass
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

PROGRAM = """
func.func @f(%out: !pto.ptr<i64>, %low: index, %high: index, %step: index) -> i64 attributes {pto.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2 : i64
  %start = arith.constant 1 : i64
  %last = scf.for %i = LOOP iter_args(%sum = %start) -> (i64) {
    %number = arith.index_cast %i : index to i64
    %twice = arith.muli %sum, %two : i64
    %next = arith.addi %twice, %number : i64
    pto.store_scalar %next, %out[%i] : !pto.ptr<i64>, i64
    scf.yield %next : i64
  }
  return %last : i64
}
"""


def unrolled(loop: str, factor: str):
    """The program before and after."""
    text = PROGRAM.replace("LOOP", loop)
    modules = [parse(text, "loop.pto") for _ in range(2)]
    engine = DiagnosticEngine()
    make_pass(f"unroll{{factor={factor}}}", None).run(modules[1], engine)
    assert not engine.diagnostics
    return modules


def results(module, low: int, high: int, step: int):
    """What a run stores, and what it returns."""
    out = np.zeros(64, np.int64)
    found = Kernel(module, None, "a5", RunOptions()).run([out, low, high, step], 1)
    return out.tolist(), list(found)


def expected(low: int, high: int, step: int):
    """The same in plain Python."""
    out, total = np.zeros(64, np.int64), 1
    for index in range(low, high, step):
        total = 2 * total + index
        out[index] = total
    return out.tolist(), [total]


@pytest.mark.parametrize("factor", ["2", "3", "4"])
@pytest.mark.parametrize(("low", "high", "step"), [(0, 0, 1), (0, 1, 1), (0, 6, 1), (1, 12, 1), (3, 14, 3), (9, 2, 1)])
def test_bounds_that_only_a_run_knows(factor, low, high, step):
    _, module = unrolled("%low to %high step %step", factor)
    assert results(module, low, high, step) == expected(low, high, step)
    assert print_module(module).count("pto.store_scalar") == int(factor) + 1


@pytest.mark.parametrize(("trips", "factor", "stores"), [(12, "4", 4), (13, "4", 5), (3, "4", 1), (5, "full", 5)])
def test_known_bounds(trips, factor, stores):
    _, module = unrolled(f"%c0 to %n{trips} step %c1".replace(f"%n{trips}", "%high"), factor)
    text = PROGRAM.replace("LOOP", "%c0 to %stop step %c1").replace(
        "  %two =", f"  %stop = arith.constant {trips} : index\n  %two ="
    )
    module = parse(text, "loop.pto")
    make_pass(f"unroll{{factor={factor}}}", None).run(module, DiagnosticEngine())
    assert print_module(module).count("pto.store_scalar") == stores
    assert results(module, 0, 0, 1) == expected(0, trips, 1)


@pytest.mark.parametrize("factor", ["2", "3", "full"])
@pytest.mark.parametrize(
    "known", [*product((False, True), repeat=3)], ids=lambda known: "".join("-k"[one] for one in known)
)
@in_groups("bounds", [(3, 14, 3), (9, 2, 1), (7, 7, 2)], str)
def test_each_bound_may_be_known_or_not(bounds, known, factor):
    names = [f"%n{place}" if known[place] else name for place, name in enumerate(("%low", "%high", "%step"))]
    numbers = "".join(f"  %n{place} = arith.constant {number} : index\n" for place, number in enumerate(bounds))
    loop = "{} to {} step {}".format(*names)
    module = parse(PROGRAM.replace("LOOP", loop).replace("  %two =", f"{numbers}  %two ="), "loop.pto")
    make_pass(f"unroll{{factor={factor}}}", None).run(module, DiagnosticEngine())
    assert results(module, *bounds) == expected(*bounds)
    trips, copies = len(range(*bounds)), print_module(module).count("pto.store_scalar")
    if factor == "full":
        assert copies == (trips if all(known) else 1)
    elif not all(known):
        assert copies == int(factor) + 1


def test_only_innermost_loops_change():
    text = PROGRAM.replace("LOOP", "%low to %high step %step").replace(
        "    %number", "    scf.for %j = %c0 to %high step %c1 {\n      pto.store_scalar %sum, %out[%j]"
        " : !pto.ptr<i64>, i64\n    }\n    %number"
    )  # fmt: skip
    module = parse(text, "loop.pto")
    make_pass("unroll", None).run(module, DiagnosticEngine())
    assert print_module(module).count("%out[%i]") == 1
    assert print_module(module).count("pto.store_scalar") == 4


def test_copies_keep_their_locations():
    _, module = unrolled("%low to %high step %step", "2")
    lines = [span.line for op in module.walk() if op.name == "pto.store_scalar" and (span := span_of(op))]
    assert lines == [11, 11, 11]


@pytest.mark.parametrize(("trips", "stores"), [(0, 0), (63, 63), (64, 64), (65, 1)])
def test_64_iterations_are_written_out_at_most(trips, stores):
    numbers = f"  %stop = arith.constant {trips} : index\n  %two ="
    text = PROGRAM.replace("LOOP", "%c0 to %stop step %c1").replace("  %two =", numbers)
    module = parse(text, "loop.pto")
    make_pass("unroll{factor=full}", None).run(module, DiagnosticEngine())
    assert print_module(module).count("pto.store_scalar") == stores
