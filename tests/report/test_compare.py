"""Two recorded runs as one page: its figures are those of both runs. Source: docs/report.md, "Two runs as one page"."""

from __future__ import annotations

import json
import re
import zipfile
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tools.pto_report import main as report
from tools.pto_run import main as run

HOSTILE = "</pre><script>alert(1)</script>"
TILE, PART = "!pto.tile_buf<vec, 8x16xf32>", "!pto.partition_tensor_view<8x16xf32>"


def scale(factor: str, tiles: int) -> str:
    """Multiplies 32 rows, 8 at a time, with as many tiles alternately."""
    view = "!pto.tensor_view<?x?xf32>"
    body = "".join(
        f"""
    %p{k} = pto.partition_view %v, offsets = [%r{k}, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> {PART}
    pto.tload ins(%p{k} : {PART}) outs(%x{k % tiles} : {TILE})
    pto.tmuls ins(%x{k % tiles}, %f : {TILE}, f32) outs(%x{k % tiles} : {TILE})
    pto.tstore ins(%x{k % tiles} : {TILE}) outs(%p{k} : {PART})"""
        for k in range(4)
    )
    rows = "".join(f"\n    %r{k} = arith.constant {8 * k} : index" for k in range(4))
    allocations = "".join(f"\n    %x{k} = pto.alloc_tile : {TILE}" for k in range(tiles))
    return f"""// {HOSTILE if tiles > 1 else "one tile"}
module attributes {{pto.target_arch = "a5"}} {{
  func.func @scale(%a: !pto.ptr<f32>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %f = arith.constant {factor} : f32{rows}
    %v = pto.make_tensor_view %a, shape = [%c32, %c16], strides = [%c16, %c1] : {view}{allocations}{body}
    return
  }}
}}
"""


def recorded(folder: Path, name: str, text: str, *options: str) -> dict[str, float]:
    """Records a run; its whole time by ``--cycles``."""
    (folder / f"{name}.pto").write_text(text, encoding="utf-8")
    np.save(folder / "a.npy", np.arange(512, dtype=np.float32).reshape(32, 16))
    files = ["--record", str(folder / f"{name}.pto-rec"), "--arg", f"a={folder}/a.npy", str(folder / f"{name}.pto")]
    result = CliRunner().invoke(run, ["--quiet", *options, *files])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["programs"][0]["whole"] if options else {}


def compared(folder: Path) -> str:
    files = [str(folder / "one.pto-rec"), "--compare", str(folder / "two.pto-rec"), "-o", str(folder / "page.html")]
    result = CliRunner().invoke(report, files)
    assert (result.exit_code, result.output) == (0, f"{folder}/page.html\n")
    return (folder / "page.html").read_text(encoding="utf-8")


def rows_of(page: str, head: str) -> dict[str, list[str]]:
    """The rows of the table after a heading by their first cell."""
    table = page.split(f"<h2>{head}</h2>")[1].split("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)[1:]
    cells = [[unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in rows]
    return {row[0]: row[1:] for row in cells}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, float], dict[str, float]]:
    folder = tmp_path_factory.mktemp("compare")
    one = recorded(folder, "one", scale("2.0", 1), "--cycles=json", "--no-advice")
    two = recorded(folder, "two", scale("2.0", 4), "--cycles=json", "--no-advice")
    return compared(folder), one, two


def test_the_times_are_those_of_both_runs(pages: tuple[str, dict[str, float], dict[str, float]]) -> None:
    page, one, two = pages
    saved = 100 * (1 - two["cycles"] / one["cycles"])
    assert saved > 20
    assert f"The run takes {saved:.1f} % less" in page
    for each in (one, two):
        assert f"{each['microseconds']:.2f} µs ({each['cycles']:,.0f} cycles)" in page
    assert "Before limited by: " in page and "After limited by: " in page
    # Four loads of 512 bytes: 264 cycles and 128 bytes in each, one after the other in both runs.
    assert rows_of(page, "Pipes")["MTE2"][:3] == ["1,072", "1,072", "same"]
    assert rows_of(page, "Operations")["pto.tload"] == ["4", "4", "1,072", "1,072", "same"]
    assert rows_of(page, "Use of the chip")["vector cores"] == ["1 of 64", "1 of 64"]


def test_results_and_texts_are_compared(pages: tuple[str, dict[str, float], dict[str, float]], tmp_path: Path) -> None:
    page, _, _ = pages
    assert rows_of(page, "Buffers at the end") == {"a": ["the same bits"]}
    assert "<span class='removed'>-// one tile</span>" in page
    recorded(tmp_path, "one", scale("2.0", 1))
    recorded(tmp_path, "two", scale("3.0", 1))
    page = compared(tmp_path)
    # All but the first element, which is 0.
    assert rows_of(page, "Buffers at the end") == {"a": ["511 of 512 elements differ"]}
    assert "record with --cycles" in page and "<h2>Pipes</h2>" not in page
    assert rows_of(page, "Operations")["pto.tload"][:2] == ["4", "4"]


def test_texts_of_programs_make_no_elements(pages: tuple[str, dict[str, float], dict[str, float]]) -> None:
    page, _, _ = pages
    assert "alert(1)" in page and "<script" not in page
    assert "default-src 'none'" in page


def test_times_of_other_chips_are_compared_in_microseconds(tmp_path: Path) -> None:
    one = recorded(tmp_path, "one", scale("2.0", 1), "--cycles=json", "--no-advice")
    two = recorded(tmp_path, "two", scale("2.0", 1).replace("a5", "a2a3"), "--cycles=json", "--no-advice")
    saved = 100 * (1 - two["microseconds"] / one["microseconds"])
    assert abs(saved - 100 * (1 - two["cycles"] / one["cycles"])) > 1
    assert f"The run takes {abs(saved):.1f} % {'less' if saved > 0 else 'more'}" in compared(tmp_path)


@pytest.mark.parametrize("part", ["target", "memory"])
def test_a_damaged_recording_is_one_message(part: str, tmp_path: Path) -> None:
    recorded(tmp_path, "one", scale("2.0", 1))
    with zipfile.ZipFile(tmp_path / "one.pto-rec") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["recording.json"])
    if part == "target":
        header["program"]["target"] = "a9"
    else:
        header["memories"][0][0] = 10**30
    with zipfile.ZipFile(tmp_path / "two.pto-rec", "w") as archive:
        for name, content in {**members, "recording.json": json.dumps(header)}.items():
            archive.writestr(name, content)
    result = CliRunner().invoke(report, [str(tmp_path / "one.pto-rec"), "--compare", str(tmp_path / "two.pto-rec")])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ") and "is damaged" in result.stderr


def test_a_program_is_no_recording(tmp_path: Path) -> None:
    recorded(tmp_path, "one", scale("2.0", 1))
    result = CliRunner().invoke(report, [str(tmp_path / "one.pto"), "--compare", str(tmp_path / "one.pto-rec")])
    assert result.exit_code == 2
    assert "is no recording" in result.stderr


def test_what_is_no_recording_is_one_message(tmp_path: Path) -> None:
    recorded(tmp_path, "one", scale("2.0", 1))
    for other, said in (("missing.pto-rec", "cannot read"), ("one.pto", "is no recording")):
        result = CliRunner().invoke(report, [str(tmp_path / "one.pto-rec"), "--compare", str(tmp_path / other)])
        assert result.exit_code == 2
        assert result.stderr.startswith("error: ") and said in result.stderr
    result = CliRunner().invoke(report, [str(tmp_path / "one.pto-rec"), "--compare", "x", "--serve"])
    assert result.exit_code == 2 and "nothing for --serve" in result.stderr
