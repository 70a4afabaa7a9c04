"""``pto-opt -p prove-order``: its assumptions, and what it does without the library for sets.

Source: docs/prove.md, "Assumptions".
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

MAIN = import_module("pto_dialect.tools.pto_opt").main
PROGRAM = """
func.func @leaves_a_flag(%count: index) {
  %c0 = arith.constant 0 : index
  %some = arith.cmpi sgt, %count, %c0 : index
  scf.if %some {
    pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]
  }
  return
}
"""


def run(folder: Path, passes: str) -> Result:
    path = folder / "k.pto"
    path.write_text(PROGRAM, encoding="utf-8")
    return CliRunner().invoke(MAIN, ["-p", passes, str(path)])


def test_without_the_library_it_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "islpy", None)
    result = run(tmp_path, "prove-order")
    assert result.exit_code == 1
    assert "pto-dialect[prove]" in result.stderr


def test_assumptions_are_stated_and_hold(tmp_path: Path) -> None:
    pytest.importorskip("islpy", reason="the order is proven with islpy")
    assert "%count = 1" in run(tmp_path, "prove-order").stderr
    result = run(tmp_path, "prove-order{assume=count<=0}")
    assert result.exit_code == 0
    assert "assumed: count<=0" in result.stderr
    assert "%count = 3" in run(tmp_path, "prove-order{assume=count>2,count<9}").stderr


@pytest.mark.parametrize(
    ("assumed", "message"),
    [("count!", "is no condition"), ("count*count>0", "is not understood"), ("", "needs a value")],
)
def test_a_condition_that_is_not_understood_is_an_error(tmp_path: Path, assumed: str, message: str) -> None:
    pytest.importorskip("islpy", reason="the order is proven with islpy")
    result = run(tmp_path, f"prove-order{{assume={assumed}}}" if assumed else "prove-order{assume}")
    assert result.exit_code != 0
    assert message in result.stderr


def test_a_name_that_no_function_has_is_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("islpy", reason="the order is proven with islpy")
    result = run(tmp_path, "prove-order{assume=cuont<=0}")
    assert "warning: no function has the argument 'cuont' of the assumption 'cuont<=0'; did you mean count?" in (
        result.stderr
    )
