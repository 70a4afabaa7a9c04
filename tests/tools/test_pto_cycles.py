"""``pto cycles``: calibrations recover what made the measurements. Source: docs/cycles.md, "Your own measurements"."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pto_dialect.analysis.cycles.estimate import estimate
from pto_dialect.analysis.cycles.static import table_for
from pto_dialect.analysis.cycles.table import CycleTable, CycleTableError, Key, shipped
from pto_dialect.analysis.cycles.work import Work
from pto_dialect.tools.pto_cycles import main  # pyright: ignore[reportMissingImports]
from pto_dialect.tools.pto_opt import main as opt  # pyright: ignore[reportMissingImports]

HEAD = "op,src_dtypes,dst_dtype,tile_rows,tile_cols,valid_rows,valid_cols,measured_cycles,target"
SHAPES = [(1, 64), (1, 640), (4, 128), (16, 320)]
CHAIN: Key = ("operation", "texp", "*", "chain")

PROGRAM = """\
module attributes {pto.target_arch = "a5"} {
  func.func @scaled(%p: !pto.partition_tensor_view<16x64xf32>, %x: !pto.tile_buf<vec, 16x64xf32>, %two: f32) {
    pto.tload ins(%p : !pto.partition_tensor_view<16x64xf32>) outs(%x : !pto.tile_buf<vec, 16x64xf32>)
    pto.tmuls ins(%x, %two : !pto.tile_buf<vec, 16x64xf32>, f32) outs(%x : !pto.tile_buf<vec, 16x64xf32>)
    pto.texp ins(%x : !pto.tile_buf<vec, 16x64xf32>) outs(%x : !pto.tile_buf<vec, 16x64xf32>)
    pto.tstore ins(%x : !pto.tile_buf<vec, 16x64xf32>) outs(%p : !pto.partition_tensor_view<16x64xf32>)
    return
  }
}
"""
TILE = Work("texp", "f32", "f32", 16, 64, 16, 64)


def planted(values: dict[Key, float]) -> CycleTable:
    return shipped("a5").with_values(values)


def operations(folder: Path, table: CycleTable, name: str = "texp") -> Path:
    """Measurements of single operations, as ``table`` predicts them."""
    lines = [HEAD]
    for rows, cols in SHAPES:
        cycles = estimate(Work(name, "f32", "f32", rows, cols + 32, rows, cols), table).cycles
        lines.append(f"{name},f32,f32,{rows},{cols + 32},{rows},{cols},{cycles},a5")
    return written(folder / "m.csv", *lines)


def written(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def program(folder: Path) -> Path:
    path = folder / "scaled.pto"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


def cycles_of(folder: Path, *options: object) -> dict[str, float]:
    """What pto-opt says about the operations of the program."""
    result = CliRunner().invoke(opt, ["--cycles=json", *map(str, options), str(folder / "scaled.pto")])
    assert result.exit_code == 0, result.output
    [one] = json.loads(result.stdout)["programs"]
    return {line["operation"]: line["cycles"] for line in one["operations"]}


def test_a_planted_parameter_is_recovered(tmp_path: Path) -> None:
    chain = shipped("a5").entries[CHAIN].value
    path = operations(tmp_path, planted({CHAIN: chain + 30}))
    result = run("--calibrate", path, "-o", tmp_path / "mine.csv")
    assert result.exit_code == 0, result.output
    assert "m.csv: 4 measurements of a5" in result.stdout and "operation texp * chain" in result.stdout
    found = table_for("a5", str(tmp_path / "mine.csv"))
    assert found.entries[CHAIN].value == pytest.approx(chain + 30, abs=1.5)
    # Only what has changed is in the file; the rest is as shipped.
    assert len((tmp_path / "mine.csv").read_text().splitlines()) < 12
    other = ("operation", "tadd", "*", "chain")
    assert found.entries[other] == shipped("a5").entries[other]


@pytest.mark.parametrize(("unit", "factor"), [("cycles", 1.0), ("us", 1 / 1650), ("ns", 1 / 1.65), ("ms", 1 / 1.65e6)])
def test_operations_of_programs_are_measured_in_several_units(unit: str, factor: float, tmp_path: Path) -> None:
    program(tmp_path)
    load = 2 * estimate(Work("tload", "f32", "f32", 16, 64, 16, 64, "gm:ub"), shipped("a5")).cycles
    expected = {"pto.tload": load, "pto.texp": 150.0}
    rows = [f"scaled.pto,{name},{cycles * factor:.9g}" for name, cycles in expected.items()]
    table = written(tmp_path / "t.csv", f"file,operation,{unit}", *rows)
    assert run("--calibrate", table, "-o", tmp_path / "mine.csv").exit_code == 0
    found = cycles_of(tmp_path, "--calibration", tmp_path / "mine.csv")
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=0.01)


def test_times_of_pipes_come_from_a_summary_of_msprof(tmp_path: Path) -> None:
    shown = cycles_of(program(tmp_path).parent)
    vector = 3 * (shown["pto.tmuls"] + shown["pto.texp"]) / 1650
    store = 2 * shown["pto.tstore"] / 1650
    summary = written(
        tmp_path / "op_summary.csv", "Op Name,Task Type,Task Duration(us),aiv_vec_time(us),aiv_mte2_time(us),"
        "aiv_mte3_time(us)", f"scaled,AIV,9,{vector:.9g},N/A,{store:.9g}", "Cast,AI_CPU,3,N/A,N/A,N/A",
    )  # fmt: skip
    result = run("--calibrate", summary, tmp_path / "scaled.pto", "-o", tmp_path / "mine.csv")
    assert result.exit_code == 0, result.output
    assert "1 rows skipped: kernels without a program" in result.stdout
    found = cycles_of(tmp_path, "--calibration", tmp_path / "mine.csv")
    assert found["pto.tmuls"] + found["pto.texp"] == pytest.approx(vector * 1650, rel=0.01)
    assert found["pto.tstore"] == pytest.approx(store * 1650, rel=0.01)
    assert found["pto.tload"] == shown["pto.tload"]


def test_the_median_of_repeated_measurements_counts(tmp_path: Path) -> None:
    program(tmp_path)
    table = written(
        tmp_path / "t.csv", "file,operation,cycles", *(f"scaled.pto,texp,{one}" for one in (150, 9000, 148))
    )
    result = run("--compare", table)
    assert len(result.stdout.splitlines()) == 3 and " 150 " in result.stdout


def test_more_kinds_than_a_fit_takes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pto_dialect.driver.calibrate.inputs.MOST_KINDS", 3)
    assert "more than 3 different measurements" in run("--calibrate", operations(tmp_path, planted({}))).stderr


def test_measurements_are_compared(tmp_path: Path) -> None:
    result = run("--compare", operations(tmp_path, planted({})))
    assert result.exit_code == 0 and result.stdout.endswith("0.0 % median error\n")
    assert result.stdout.splitlines()[1].split()[:4] == ["texp", "f32", "f32", "1x64"]


def test_settings_name_a_calibration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program(tmp_path)
    lines = ("# calibration of a5 by hand", "law,name,type,parameter,value", "operation,texp,*,chain,1000")
    written(tmp_path / "mine.csv", *lines)
    written(tmp_path / "pto.toml", 'calibration = "mine.csv"')
    assert cycles_of(tmp_path)["pto.texp"] > 1000
    assert cycles_of(tmp_path, "--no-config")["pto.texp"] < 200
    (tmp_path / "inner").mkdir()
    program(tmp_path / "inner")
    written(tmp_path / "inner" / "pto.toml", 'calibration = "../mine.csv"')
    result = CliRunner().invoke(opt, ["--cycles", "inner/scaled.pto"])
    assert result.exit_code == 2 and "calibration is a path below the folder of this file" in result.stderr


def test_a_calibration_is_for_its_chip(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.csv", "# calibration of a2a3 by hand", "law,name,type,parameter,value")
    with pytest.raises(CycleTableError, match="is a calibration of a2a3, and the program is for a5"):
        table_for("a5", str(path))
    program(tmp_path)
    result = CliRunner().invoke(opt, ["--cycles", "--calibration", str(path), str(tmp_path / "scaled.pto")])
    assert result.exit_code == 1 and "is a calibration of a2a3" in result.stderr


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["# calibration of a9 x"], ":1: a calibration is of a2a3 or a5, found 'a9'"),
        (["# calibration of a5", "law,name,type,parameter,value", "move,x:y,*,rate,1"], ":3: the table of a5 has no"),
        (
            ["# calibration of a5", "law,name,type,parameter,value", "move,gm:ub,*,rate,0"],
            ":3: rate: 0 is not positive",
        ),
        (["# calibration of a5", "law,name,value"], ":2: column 'type' is missing"),
    ],
)
def test_wrong_calibrations_are_refused(lines: Sequence[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(CycleTableError) as error:
        table_for("a5", str(written(tmp_path / "c.csv", *lines)))
    assert message in str(error.value)


SUMMARY = "Op Name,Task Duration(us),aiv_vec_time(us)"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([""], "column 'file' is missing; a table of single operations has"),
        (["file,operation,duration", "scaled.pto,texp,1"], "one column with a time is needed, found 0"),
        (["file,operation,us,cycles", "scaled.pto,texp,1,1"], "one column with a time is needed, found 2"),
        (["file,operation,us", "scaled.pto,texp,nan"], ":2: us: nan is not a positive time"),
        (["file,operation,us", "scaled.pto,texp,1e999"], ":2: us: 1e999 is not a positive time"),
        (["file,operation,us", "scaled.pto,texp,1e300"], ":2: us: 1e300 is above 1,000,000,000"),
        (["file,operation,us", "scaled.pto,texp,-1"], ":2: us: -1 is not a positive time"),
        (["file,operation,us", "scaled.pto,texp,1.5us"], ":2: us: '1.5us' is no number"),
        (["file,operation,us", "scaled.pto,texp"], ":2: us: the value is missing"),
        (["file,operation,us", "scaled.pto,texp,1,2"], ":2: the row has more cells than the head has columns"),
        (["file,operation,us", "scaled.pto,tadd,1"], "scaled.pto' has no tadd"),
        (["file,operation,us", "scaled.pto,pipe M,1"], "has nothing on pipe M, but on MTE2, MTE3, V"),
        (["file,operation,us", "../scaled.pto,texp,1"], ":2: '../scaled.pto' is not below the folder of the table"),
        (["file,operation,us", "other.pto,texp,1"], "cannot read"),
        (["file,operation,us", "m.csv,texp,1"], "is no program"),
        (["file,operation,us"], "there are no measurements of a5"),
        ([SUMMARY, "scaled,1,1"], "a summary of msprof needs the programs of its kernels"),
        (["Op Name,aiv_vec_time(us)", "scaled,1"], ":1: column 'Task Duration(us)' is missing"),
        (["Op Name,Task Duration(us)", "scaled,1"], "no column has the time of a pipe"),
        (["op,measured_cycles", "texp,3"], ":1: column 'src_dtypes' is missing"),
    ],
)
def test_wrong_measurements_are_one_message(lines: Sequence[str], message: str, tmp_path: Path) -> None:
    program(tmp_path)
    result = run("--calibrate", written(tmp_path / "m.csv", *lines))
    assert result.exit_code == 2
    assert message in result.stderr and "Traceback" not in result.output


def test_loops_that_a_run_decides_are_not_fitted(tmp_path: Path) -> None:
    loop = "%c0 = arith.constant 0 : index\n    %c1 = arith.constant 1 : index\n    scf.for %i = %c0 to %n step %c1 {\n"
    text = PROGRAM.replace("%two: f32)", "%two: f32, %n: index)")
    text = text.replace("pto.texp", f"{loop}pto.texp").replace("    pto.tstore", "    }\n    pto.tstore")
    path = tmp_path / "scaled.pto"
    path.write_text(text, encoding="utf-8")
    result = run("--calibrate", written(tmp_path / "op.csv", SUMMARY, "scaled,3,1"), path)
    assert result.exit_code == 2 and "how often texp in line" in result.stderr


def test_files_that_are_too_large_or_no_text_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pto_dialect.driver.calibrate.inputs.MOST_BYTES", 100)
    assert "has more than" in run("--calibrate", written(tmp_path / "m.csv", "x" * 200)).stderr
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00")
    assert "is not UTF-8 text" in run("--calibrate", tmp_path / "b.csv").stderr
    assert "cannot read '/nowhere'" in run("--calibrate", "/nowhere").stderr


def test_options_go_together(tmp_path: Path) -> None:
    assert "one of --calibrate FILE and --compare FILE is needed" in run().stderr
    path = operations(tmp_path, planted({}))
    assert "-o has no meaning without --calibrate" in run("--compare", path, "-o", "x").stderr
    assert "there are no measurements of a2a3" in run("--calibrate", path, "--target", "a2a3").stderr
    assert "cannot write" in run("--calibrate", path, "-o", tmp_path / "no" / "c.csv").stderr
