"""``pto-opt --cycles``: the cycle model over the text of a program. Source: docs/cycles.md, "Without a run"."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pto_dialect.analysis.cycles.table import shipped

MAIN = import_module("pto_dialect.tools.pto_opt").main
CHECKOUT = Path(__file__).parents[2]
GEMM = CHECKOUT / "examples" / "gemm" / "gemm.pto"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(MAIN, [*arguments])


def test_every_operation_that_moves_or_computes_is_listed() -> None:
    (program,) = json.loads(run("--cycles=json", str(GEMM)).stdout)["programs"]
    assert program["target"] == "a2a3"
    assert program["run"] is False
    names = [one["operation"] for one in program["operations"]]
    assert names.count("pto.tload") == 3
    assert {"pto.tmatmul.bias", "pto.tmatmul.acc", "pto.tstore"} <= {*names}
    lines = GEMM.read_text().splitlines()
    for one in program["operations"]:
        assert one["low"] <= one["cycles"] <= one["high"]
        assert lines[one["line"] - 1].lstrip().startswith(one["operation"])
    for pipe, total in program["pipes"].items():
        own = [one for one in program["operations"] if one["pipe"] == pipe]
        cycles = [one["count"] * one["cycles"] for one in own]
        if pipe == "MTE1":
            # Right operands go through a lane of their own.
            right = [lines[one["line"] - 1].count("outs(%b_l0") > 0 for one in own]
            assert any(right)
            lanes = [
                sum(each for each, flag in zip(cycles, right, strict=True) if flag is lane) for lane in (True, False)
            ]
            assert total["cycles"] == pytest.approx(max(lanes), rel=1e-3)
            assert total["high"] == pytest.approx(sum(one["count"] * one["high"] for one in own), rel=1e-3)
        else:
            assert total["cycles"] == pytest.approx(sum(cycles), rel=1e-3)
    assert program["whole"]["cycles"] == max(total["cycles"] for total in program["pipes"].values())


def test_the_target_decides() -> None:
    both = [json.loads(run("--cycles=json", "--target", target, str(GEMM)).stdout) for target in ("a2a3", "a5")]
    first, second = ([one["cycles"] for one in each["programs"][0]["operations"]] for each in both)
    assert first != second


def test_a_table_of_the_user_is_taken(tmp_path: Path) -> None:
    table = shipped("a2a3")
    changed = table.with_values({("cube", "tmatmul", "*", "head"): 1000.0})
    path = tmp_path / "mine.csv"
    path.write_text(changed.text(), encoding="utf-8")
    old, new = (
        {one["operation"]: one["cycles"] for one in json.loads(result.stdout)["programs"][0]["operations"]}
        for result in (run("--cycles=json", str(GEMM)), run("--cycles=json", "--cycle-table", str(path), str(GEMM)))
    )
    assert new["pto.tmatmul"] - old["pto.tmatmul"] == 1000 - 6
    assert new["pto.tload"] == old["pto.tload"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cycles", "--cycle-table", "{bad}"], "bad.csv:1: there is no column 'x'"),
        (["--cycles", "--cycle-table", "/nowhere"], "cannot read '/nowhere': No such file"),
        (["--cycle-table", "{bad}"], "--cycle-table has no meaning without --cycles"),
        (["--cycle-option", "variant=1D_POST_UPDATE"], "--cycle-option has no meaning without --cycles"),
        (["--cycles", "--cycle-option", "variant=3D"], "variant is one of 1D_POST_UPDATE"),
        (["--cycles", "--cycle-option", "speed=1"], "'speed=1' is not KEY=VALUE"),
        (["--cycles=xml"], "'xml' is not one of 'text', 'json'"),
        (["--cycles", "-o", "x"], "--cycles prints no module"),
    ],
)
def test_wrong_command_lines(options: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("law,name,type,parameter,value,x\n", encoding="utf-8")
    result = run(*(option.format(bad=tmp_path / "bad.csv") for option in options), str(GEMM))
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_programs_with_errors_have_no_cycles(tmp_path: Path) -> None:
    path = tmp_path / "wrong.pto"
    path.write_text("module { pto.nonsense }", encoding="utf-8")
    result = run("--cycles=json", str(path))
    assert result.exit_code == 1
    assert json.loads(result.stdout)["programs"] == []
