"""Programs of one form, made into the other and back, print the same and compute the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from groups import in_groups
from lowering_programs import results
from random_tile_programs import RandomProgram, arguments

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.forms import to_level1, to_level2
from pto_dialect.passes.forms.written import ATTRIBUTE
from pto_dialect.verify.verifier import verify_module

ROOT = Path(__file__).parents[3]
EXAMPLES = ("gemm/gemm", "gemv_decode/gemv_decode", "rotary/rotary", "seed_snippets/level2")
_WINDOW = re.compile(r" *%\w+ = pto\.subview [^\n]*\n[^\n]*\n")


def errors(module: object) -> list[str]:
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    verify_module(module, engine)  # pyright: ignore[reportArgumentType]
    return [found.rule for found in engine.diagnostics if found.severity is Severity.ERROR]


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@in_groups("seed", range(12))
def test_random_programs(seed: int, target: str) -> None:
    program = RandomProgram(seed, target, addresses=False)
    text = _WINDOW.sub("", program.text)
    module = parse(text)
    values = parse(print_module(to_level1(module)))
    back = to_level2(values)
    assert print_module(back) == print_module(module)
    free = parse(print_module(values))
    for op in free.walk():
        op.attributes.pop(ATTRIBUTE, None)
    other = to_level2(free)
    assert print_module(to_level2(to_level1(other))) == print_module(other)
    assert errors(values) == errors(other) == []
    for count in (0, 3):
        expected = results(module, arguments(program, count))
        assert results(values, arguments(program, count)) == expected
        assert results(other, arguments(program, count)) == expected


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    module = parse((ROOT / "examples" / f"{name}.pto").read_text(encoding="utf-8"))
    values = parse(print_module(to_level1(module)))
    assert "tile_buf<" not in re.sub(r"attributes \{pto.buffers = .*?\]\}", "", print_module(values))
    assert print_module(to_level2(values)) == print_module(module)
    assert errors(values) == []


@pytest.mark.parametrize("name", ["level1", "assembly"])
def test_examples_with_values(name: str) -> None:
    module = parse((ROOT / "examples" / "seed_snippets" / f"{name}.pto").read_text(encoding="utf-8"))
    buffers = parse(print_module(to_level2(module)))
    assert print_module(to_level1(buffers)) == print_module(module)
    assert errors(buffers) == []
