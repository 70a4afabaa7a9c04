"""``--no-plans`` of both commands, and the same in the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

import pytest
from click.testing import CliRunner

import pto_dialect
from pto_dialect.accel.parsing.templates import TEMPLATES

from .conftest import PtoRun

main = import_module("pto_dialect.tools.pto_opt").main

PROGRAM = """func.func @f(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  return %a : i32
}
"""


@pytest.fixture(autouse=True)
def no_plans() -> Iterator[None]:
    TEMPLATES.forget()
    yield
    TEMPLATES.forget()


def test_pto_opt() -> None:
    def run(*options: str) -> str:
        result = CliRunner().invoke(main, ["-", *options], input=PROGRAM, prog_name="pto-opt")
        assert result.exit_code == 0, result.output
        return result.stdout

    without = run("--no-plans")
    assert not TEMPLATES.known
    assert run() == without
    assert TEMPLATES.known


def test_pto_run(pto_run: PtoRun) -> None:
    without = pto_run.good(PROGRAM, "--arg", "x=3", "--no-plans")
    assert not TEMPLATES.known
    assert pto_run.good(PROGRAM, "--arg", "x=3") == without
    assert TEMPLATES.known


@pytest.mark.parametrize("call", [pto_dialect.parse, pto_dialect.check])
def test_library(call: Callable[..., object]) -> None:
    call(PROGRAM, plans=False)
    assert not TEMPLATES.known
    call(PROGRAM)
    assert TEMPLATES.known
