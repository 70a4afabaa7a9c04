"""Programs in which one operation has lost its operands, its results or its attributes: rules that look at it from
another operation report what they can, and nothing raises."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from roundtrip_files import file_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.families import FAMILIES
from pto_dialect.passes.registry import VERIFY_PASSES
from pto_dialect.passes.run import run_passes
from pto_dialect.syntax.read.parser import parse_program

_OPTIONS = DiagnosticOptions(max_errors=0)


def _programs(family: str) -> Iterator[ModuleOp]:
    for chunk in file_of(family).read_text(encoding="utf-8").split("\n// -----\n"):
        module = parse_program(SourceFile("roundtrip.pto", chunk), DiagnosticEngine(_OPTIONS))
        assert module is not None
        yield module


def _poorer(op: Operation) -> Iterator[Operation]:
    """Copies of an operation without regions that lack something."""
    attributes, results = dict(op.attributes), [result.type for result in op.results]
    if op.operands:
        yield type(op).create(operands=op.operands[:-1], result_types=results, attributes=attributes)
        yield type(op).create(result_types=results, attributes=attributes, properties=dict(op.properties))
    if attributes:
        yield type(op).create(operands=op.operands, result_types=results)
    if results and not any(True for result in op.results for _ in result.uses):
        yield type(op).create(operands=op.operands, attributes=attributes, properties=dict(op.properties))


@pytest.mark.parametrize("family", sorted(name for name, family in FAMILIES.items() if family.operations))
def test_operations_that_lack_something_break_no_rule_of_others(family: str) -> None:
    seen: set[tuple[str, ...]] = set()
    for module in _programs(family):
        for op in list(module.walk()):
            if op.regions or op.parent is None:
                continue
            around = tuple(each.name for each in (op.prev_op, op, op.next_op) if each is not None)
            if around in seen:
                continue
            seen.add(around)
            for poorer in _poorer(op):
                results = dict(zip(op.results, poorer.results, strict=False))
                op.parent.insert_op_after(poorer, op)
                for old, new in results.items():
                    old.replace_all_uses_with(new)
                place = op.parent
                op.detach()
                engine = DiagnosticEngine(_OPTIONS)
                run_passes(module, VERIFY_PASSES, engine, None)
                place.insert_op_before(op, poorer)
                for old, new in results.items():
                    new.replace_all_uses_with(old)
                poorer.detach()
                poorer.erase()
    assert seen
