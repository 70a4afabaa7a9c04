"""Sweeps and results from the command line: what runs, what is kept, what is shown, and what is refused."""

from __future__ import annotations

import json
import shutil
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

PROGRAMS = Path(__file__).parent / "programs"
SWEEP = import_module("pto_dialect.tools.pto_sweep").main
TEXT = """program = "add.pto"
[sweep]
x = ["ones", "zeros"]
y = [1, 2]
[arguments]
x = "{x}:f32:4x8"
y = "ones:f32:4x8"
z = "zeros:f32:4x8"
[expect]
z = "{y}"
[outputs]
z = "{x}{y}.npy"
"""


@pytest.fixture(autouse=True)
def files(pto_run) -> None:
    shutil.copy(PROGRAMS / "add.pto", "add.pto")
    Path("t.launch.toml").write_text(TEXT)


@pytest.mark.parametrize("options", [(), ("-j", "2")])
def test_every_point_runs(pto_run, options: tuple[str, ...]) -> None:
    outcome = pto_run.raw("t.launch.toml", "--junit", "j.xml", *options)
    assert outcome.code == 1
    rows = [line.split("  ")[0] for line in outcome.out.splitlines()[1:-1]]
    assert [row.rstrip() for row in rows] == [
        f"t.launch.toml [x={x}, y={y}]" for x in ("ones", "zeros") for y in (1, 2)
    ]
    assert outcome.out.splitlines()[-1] == "4 launch files: 2 passed, 2 failed"
    assert sorted(path.name for path in Path().glob("*.npy")) == ["ones2.npy", "zeros1.npy"]
    assert (np.load("ones2.npy") == 2).all()
    suite = ElementTree.parse("j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("4", "2")


def test_results_are_kept_and_only_what_has_changed_runs_again(pto_run) -> None:
    pto_run.raw("t.launch.toml", "--results", "r.jsonl")
    lines = Path("r.jsonl").read_text().splitlines()
    assert [json.loads(line)["result"] for line in lines] == ["failed", "passed", "passed", "failed"]
    again = pto_run.raw("t.launch.toml", "--results", "r.jsonl")
    assert again.err.startswith("4 of 4 launches are in 'r.jsonl' already\n")
    assert again.code == 1
    assert Path("r.jsonl").read_text().splitlines() == lines
    Path("t.launch.toml").write_text(TEXT.replace("y = [1, 2]", "y = [1, 2, 3]"))
    grown = pto_run.raw("t.launch.toml", "--results", "r.jsonl")
    assert grown.err.startswith("4 of 6 launches are in 'r.jsonl' already\n")
    assert Path("r.jsonl").read_text().splitlines()[:4] == lines
    assert len(Path("r.jsonl").read_text().splitlines()) == 6
    Path("add.pto").write_text(Path("add.pto").read_text() + "\n// changed\n")
    assert "already" not in pto_run.raw("t.launch.toml", "--results", "r.jsonl").err


def test_a_program_has_the_values_and_settings_are_keys(pto_run) -> None:
    Path("k.pto").write_text(
        "func.func @k(%p: !pto.ptr<i64>) attributes {pto.kernel} {\n  %c = arith.constant ${n} : i64\n"
        "  %b = pto.get_block_num\n  %i = pto.get_block_idx\n  %s = arith.addi %b, %c : i64\n"
        "  %at = arith.index_cast %i : i64 to index\n  pto.store_scalar %s, %p[%at] : !pto.ptr<i64>, i64\n  return\n}\n"
    )
    swept = 'program = "{name}.pto"\n[sweep]\nname = ["k"]\nn = [10]\nblocks = [1, 2]\n'
    text = f'{swept}[arguments]\np = "zeros:i64:{{blocks}}"\n'
    Path("t.launch.toml").write_text(text + '[outputs]\np = "p{blocks}.npy"\n')
    assert pto_run.raw("t.launch.toml").code == 0
    assert (np.load("p1.npy").tolist(), np.load("p2.npy").tolist()) == ([11], [12, 12])


def test_files_without_a_sweep_have_records_too(pto_run) -> None:
    Path("t.launch.toml").unlink()
    for name in ("a", "b"):
        Path(f"{name}.launch.toml").write_text(TEXT.replace("[sweep]\nx", "# x").replace("\ny = [", "\n# [", 1).replace(
            "{x}{y}", name).replace("{x}", "ones").replace("{y}", "2"))  # fmt: skip
    assert pto_run.raw(".", "--results", "r.jsonl").code == 0
    assert [json.loads(line)["point"] for line in Path("r.jsonl").read_text().splitlines()] == [{}, {}]


def test_a_time_limit_and_findings(pto_run) -> None:
    outcome = pto_run.raw("t.launch.toml", "--sanitize", "--timeout", "60")
    assert outcome.out.endswith("4 launch files: 2 passed, 2 failed\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("t.launch.toml", "--results", "r.txt"), "'r.txt' ends neither in .jsonl nor in .parquet"),
        (("t.launch.toml", "--cluster", "nowhere"), "'nowhere' is no cluster"),
        (("add.pto", "--results", "r.jsonl"), "--results goes with launch files only"),
        (("add.pto", "--cluster", "local:2"), "--cluster goes with launch files only"),
    ],
)
def test_what_is_refused(pto_run, arguments: tuple[str, ...], message: str) -> None:
    if "nowhere" in arguments:
        pytest.importorskip("distributed", reason="clusters need the extra cluster")
    outcome = pto_run.raw(*arguments)
    assert outcome.code == 2 and message in outcome.err
    assert not list(Path().glob("r.*")) and not list(Path().glob("*.npy"))


def test_two_points_do_not_write_one_file(pto_run) -> None:
    Path("t.launch.toml").write_text(TEXT.replace('"{x}{y}.npy"', '"{x}.npy"'))
    outcome = pto_run.raw("t.launch.toml")
    assert outcome.code == 2
    assert "t.launch.toml:12:1: error: 'ones.npy' is written at x=ones, y=1 and at x=ones, y=2" in outcome.err


def test_show(pto_run) -> None:
    pto_run.raw("t.launch.toml", "--results", "r.jsonl")
    shown = CliRunner().invoke(SWEEP, ["show", "r.jsonl"])
    assert shown.exit_code == 0 and shown.output.endswith("4 launches: 2 failed, 2 passed\n")
    assert CliRunner().invoke(SWEEP, ["show", "s.jsonl"]).exit_code == 2
    wrong = CliRunner().invoke(SWEEP, ["show", "r.jsonl", "--x", "y"])
    assert wrong.exit_code == 2 and "--x and --by have no meaning without --plot" in wrong.output
