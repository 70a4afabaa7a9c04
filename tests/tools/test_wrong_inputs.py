"""Command lines of somebody who starts: each message says what is wrong and what to write."""

from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner


@pytest.mark.parametrize(
    ("command", "arguments", "said"),
    [
        ("pto_opt", ["--target", "ascend910b", "k.pto"], "A device of this name has a2a3."),
        ("pto_run", ["--target", "Ascend950PR", "k.pto"], "A device of this name has a5."),
        ("pto_opt", ["--target", "tpu", "k.pto"], "'a5', 'cpu-sim'.\n"),
        ("pto_opt", ["build.py"], "'build.py' is Python: python -m pto_dialect.integrations.builders"),
        ("pto_optimize", ["empty.pto"], "the program has no function with a body"),
        ("pto_run", ["k.pto", "--auto", "--dump", "3"], "no such file or folder: '3'"),
    ],
)
def test_a_wrong_input_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.pto").write_text("func.func @k() {\n  return\n}\n", encoding="utf-8")
    Path("build.py").write_text("import mlir\n", encoding="utf-8")
    Path("empty.pto").write_text("", encoding="utf-8")
    result = CliRunner().invoke(import_module(f"pto_dialect.tools.{command}").main, arguments)
    assert result.exit_code == 2
    assert said in result.output
