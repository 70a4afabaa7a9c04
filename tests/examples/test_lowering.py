"""The instructions of an example are what lower-cube makes of its tiles."""

import pytest

from examples.check import FOLDER
from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.registry import pass_class


@pytest.mark.parametrize("name", ["gemm", "int8"])
def test_instructions_are_those_of_the_pass(name: str) -> None:
    folder = FOLDER / "lowering"
    module = parse((folder / f"{name}_tiles.pto").read_text(encoding="utf-8"))
    engine = DiagnosticEngine()
    for call in ("assign-memory", "insert-sync", "lower-cube"):
        pass_class(call)(target=None).run(module, engine)
    _, text = (folder / f"{name}_instructions.pto").read_text(encoding="utf-8").split("\n\n", 1)
    assert print_module(module).strip() == text.strip()
