"""``--prove`` judges the order that passes make for all numbers of iterations. Source: docs/reference/proving.md,
"Order"."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect.api import parse
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.driver.prove.inserted import order_verdicts
from pto_dialect.driver.prove.pipeline import prove_passes
from pto_dialect.ir.core.walk import walk

pytest.importorskip("islpy", reason="the prover needs islpy (extra prove)")

TILE = "!pto.tile_buf<vec, 16x16xf32>"
PART = "!pto.partition_tensor_view<16x16xf32>"
PROGRAM = f"""\
module attributes {{pto.target_arch = "a5"}} {{
  func.func @f(%a: {PART}, %b: {PART}, %n: index) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %at = arith.constant 0 : i64
    %x = pto.alloc_tile addr = %at : {TILE}
    scf.for %i = %c0 to %n step %c1 {{
      pto.tload ins(%a : {PART}) outs(%x : {TILE})
      pto.tadd ins(%x, %x : {TILE}, {TILE}) outs(%x : {TILE})
      pto.tstore ins(%x : {TILE}) outs(%b : {PART})
    }}
    return
  }}
}}
"""


def rules(calls: list[str], program: str = PROGRAM) -> list[str]:
    engine = DiagnosticEngine(DiagnosticOptions(pedantic=True, max_errors=0))
    prove_passes(parse(program), calls, engine, None)
    return [one.rule for one in engine.diagnostics]


def test_order_of_insert_sync_is_proven() -> None:
    assert rules(["insert-sync"])[-1] == "order-proven"


def test_without_the_package_all_control_flow_paths_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "islpy", None)
    assert rules(["insert-sync"])[-1] == "order-proven"


def test_without_the_package_a_remark_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "islpy", None)
    flag = '%d = arith.remui %n, %c1 : index\n    pto.{}_flag_dyn["PIPE_MTE2", "PIPE_V", %d]\n    '
    signals = flag.format("set") + flag.format("wait").replace("%d", "%e")
    program = PROGRAM.replace("return", signals + "return", 1)
    (found,) = order_verdicts(parse(program), None, frozenset())
    assert found.rule == "order-undecided"
    assert "pip install 'pto-dialect[prove]'" in found.message


def test_passes_that_order_nothing_get_no_verdict() -> None:
    assert "order-proven" not in rules(["assign-memory"])


def test_function_that_orders_its_pipes_itself_gets_no_verdict() -> None:
    flag = '["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]\n'
    own = PROGRAM.replace("      pto.tstore", f"      pto.set_flag{flag}      pto.wait_flag{flag}      pto.tstore")
    assert "order-refuted" not in rules(["insert-sync"], own)


def test_order_that_is_wrong_for_some_numbers_of_iterations_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that leaves the flag of the loop out: runs with one iteration show nothing."""
    pass_ = import_module("pto_dialect.passes.registry").PASS_TABLE["insert-sync"]
    assert pass_.orders
    module = parse(PROGRAM)
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    import_module("pto_dialect.passes.run").run_passes(module, ["insert-sync"], engine, None)
    for op in _signals(module):
        if "PIPE_MTE3" in str(op) and "PIPE_MTE2" in str(op):
            op.detach()
    found = list(order_verdicts(module, None, frozenset()))
    assert [one.rule for one in found] == ["order-refuted"]


def _signals(module: ModuleOp) -> list[Operation]:
    return [op for op in walk(module) if "_flag" in op.name]
