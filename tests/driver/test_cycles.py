"""The command that fits tables to measurements. Source: docs/cycles.md, "Your own measurements"."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from pto_dialect.analysis.cycles.estimate import estimate
from pto_dialect.analysis.cycles.table import read_table, shipped
from pto_dialect.analysis.cycles.work import Work
from pto_dialect.driver.cycles import main

HEAD = "op,src_dtypes,dst_dtype,tile_rows,tile_cols,valid_rows,valid_cols,measured_cycles,target"
SHAPES = [(1, 64), (1, 640), (4, 128), (16, 320)]


def measurements(folder: Path, factor: float = 1.0) -> Path:
    """Exponentials that take ``factor`` times what the shipped table says."""
    lines = [HEAD]
    for rows, cols in SHAPES:
        work = Work("texp", "f32", "f32", rows, cols + 32, rows, cols)
        cycles = factor * estimate(work, shipped("a5")).cycles
        lines.append(f"texp,f32,f32,{rows},{cols + 32},{rows},{cols},{cycles},a5")
    path = folder / "m.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments])


def test_a_fitted_table_is_written_and_meets_the_measurements(tmp_path: Path) -> None:
    path = measurements(tmp_path, 1.2)
    result = run("fit", str(path), "-o", str(tmp_path / "t.csv"))
    assert result.exit_code == 0, result.output
    assert "20.0 % median error" not in result.stdout
    assert "median error before" in result.stderr
    table = read_table(tmp_path / "t.csv")
    for rows, cols in SHAPES:
        work = Work("texp", "f32", "f32", rows, cols + 32, rows, cols)
        expected = 1.2 * estimate(work, shipped("a5")).cycles
        assert abs(estimate(work, table).cycles / expected - 1) < 0.08
    again = run("compare", str(path), "--table", str(tmp_path / "t.csv"))
    assert len(again.stdout.splitlines()) == 1 + len(SHAPES)


def test_the_shipped_table_is_compared(tmp_path: Path) -> None:
    result = run("compare", str(measurements(tmp_path)))
    assert result.exit_code == 0
    assert "0.0 % median error" in result.stderr
    assert result.stdout.splitlines()[1].startswith("texp,f32,f32,1,64,")


def test_wrong_input_is_one_message(tmp_path: Path) -> None:
    path = measurements(tmp_path)
    assert run("fit", str(path), "--target", "a2a3").stderr == f"error: {path}: there are no measurements of a2a3\n"
    assert run("fit", "/nowhere").stderr.startswith("error: cannot read '/nowhere'")
    assert run("fit", str(path), "-o", str(tmp_path / "no" / "t.csv")).stderr.startswith("error: cannot write")
    path.write_text(HEAD + "\ntexp,f32,f32,1,64,1,64,-2,a5\n", encoding="utf-8")
    result = run("compare", str(path))
    assert (result.exit_code, result.stderr) == (2, f"error: {path}:2: measured_cycles: -2 is not positive\n")
