"""``--reference-release``, and where a release is stated otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import pto_dialect
from pto_dialect import recording
from pto_dialect.analysis.release import release_of
from pto_dialect.driver.launch.document import Document
from pto_dialect.driver.sweep.points import at_point, points_of
from pto_dialect.lsp.program import document as texts
from pto_dialect.lsp.settings import Settings
from pto_dialect.targets.release import newest
from tools.pto_opt import main as pto_opt
from tools.pto_run import main as pto_run

TEXT = """module attributes {{{stated}pto.target_arch = "a5"}} {{
  func.func @k(%p: !pto.ptr<f32>, %q: !pto.ptr<i16>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %v = pto.make_tensor_view %p, shape = [%c1, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %vp = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c1, %c32]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x32xf32>
    %w = pto.make_tensor_view %q, shape = [%c1, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xi16>
    %wp = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%c1, %c32]
      : !pto.tensor_view<?x?xi16> -> !pto.partition_tensor_view<1x32xi16>
    %a = pto.alloc_tile : !pto.tile_buf<vec, 1x32xf32>
    %b = pto.alloc_tile : !pto.tile_buf<vec, 1x32xi16>
    pto.tload ins(%vp : !pto.partition_tensor_view<1x32xf32>) outs(%a : !pto.tile_buf<vec, 1x32xf32>)
    pto.tcvt ins(%a : !pto.tile_buf<vec, 1x32xf32>) outs(%b : !pto.tile_buf<vec, 1x32xi16>)
    pto.tstore ins(%b : !pto.tile_buf<vec, 1x32xi16>) outs(%wp : !pto.partition_tensor_view<1x32xi16>)
    return
  }}
}}
"""
CLAMPED, LOW_BITS = 32767, 70000 - 65536


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("p.npy", np.full(32, 70000, np.float32))
    np.save("q.npy", np.zeros(32, np.int16))
    Path("source.pto").write_text(TEXT.format(stated=""))
    return written("")


def written(stated: str) -> Path:
    Path("k.pto").write_text(TEXT.format(stated=f'pto.release = "{stated}", ' if stated else ""))
    return Path("k.pto")


def value(*options: str) -> int:
    arguments = ["k.pto", "--arg", "p=p.npy", "--arg", "q=q.npy", "--out", "q=out.npy", *options]
    found = CliRunner().invoke(pto_run, arguments)
    assert found.exit_code == 0, found.output
    return int(np.load("out.npy").flat[0])


def test_option_attribute_and_default(program: Path) -> None:
    assert value() == CLAMPED
    assert value("--reference-release", "0.61") == LOW_BITS
    written("0.61")
    assert value() == LOW_BITS
    assert value("--reference-release", "0.63") == CLAMPED


def test_settings_of_a_project(program: Path) -> None:
    Path("pto.toml").write_text('reference-release = "0.61"\n')
    assert value() == LOW_BITS
    assert value("--reference-release", "0.64") == CLAMPED
    found = CliRunner().invoke(pto_opt, ["k.pto"])
    assert 'pto.release = "0.61"' in found.output


@pytest.mark.parametrize("text", ['"0.99"', "0.63"])
def test_settings_that_name_no_release(program: Path, text: str) -> None:
    Path("pto.toml").write_text(f"reference-release = {text}\n")
    found = CliRunner().invoke(pto_opt, ["k.pto"])
    assert found.exit_code == 2
    assert "pto.toml:1:1: error:" in found.output and "known are 0.27 to 0.64" in found.output


def test_launch_files(program: Path) -> None:
    for number, (release, wanted) in enumerate((("", CLAMPED), ('reference-release = "0.61"', LOW_BITS))):
        np.save(f"{number}.npy", np.full(32, wanted, np.int16))
        text = f'program = "k.pto"\n{release}\n[arguments]\np = "p.npy"\nq = "q.npy"\n[expect]\nq = "{number}.npy"\n'
        Path(f"{number}.launch.toml").write_text(text)
    found = CliRunner().invoke(pto_run, ["0.launch.toml", "1.launch.toml"])
    assert found.exit_code == 0, found.output
    found = CliRunner().invoke(pto_run, ["1.launch.toml", "--reference-release", "0.64"])
    assert found.exit_code == 1
    Path("1.launch.toml").write_text('program = "k.pto"\nreference-release = "0.1"\n')
    found = CliRunner().invoke(pto_run, ["1.launch.toml"])
    assert found.exit_code == 2 and "1.launch.toml:2:" in found.output and "known are 0.27 to 0.64" in found.output


@pytest.mark.parametrize("command", [pto_opt, pto_run])
def test_an_unknown_release_is_an_error_of_the_command_line(program: Path, command: object) -> None:
    found = CliRunner().invoke(command, ["k.pto", "--reference-release", "0.70"])  # pyright: ignore[reportArgumentType]
    assert found.exit_code == 2
    assert "'0.70' is no known release of the reference; known are 0.27 to 0.64" in found.output


def test_the_option_is_written_to_the_module(program: Path) -> None:
    found = CliRunner().invoke(pto_opt, ["k.pto", "--reference-release", "v0.50"])
    assert 'pto.release = "0.50"' in found.output
    assert "pto.release" not in CliRunner().invoke(pto_opt, ["k.pto"]).output


def test_lowered_programs_saturate_as_the_release_says(program: Path) -> None:
    for release, wanted in (("0.61", LOW_BITS), ("0.64", CLAMPED)):
        options = ["-p", "assign-memory,lower-vector,insert-sync", "--reference-release", release, "-o", "lowered.pto"]
        found = CliRunner().invoke(pto_opt, ["source.pto", *options])
        assert found.exit_code == 0, found.output
        assert "pto.tcvt" not in Path("lowered.pto").read_text()
        Path("lowered.pto").replace("k.pto")
        assert value() == wanted


@pytest.mark.parametrize(("option", "wanted"), [((), "0.64"), (("--reference-release", "0.55"), "0.55")])
def test_reports_state_the_release(program: Path, option: tuple[str, ...], wanted: str) -> None:
    def said(command: object, *options: str) -> str:
        return CliRunner().invoke(command, ["k.pto", *options, *option]).output  # pyright: ignore[reportArgumentType]

    assert f"k.pto: @k (a5, release {wanted})" in said(pto_opt, "--stats")
    assert f"k.pto: @k (a5, release {wanted})" in said(pto_opt, "--memory-report")
    assert f"k.pto (a5, release {wanted}): " in said(pto_opt, "--cycles")
    for form in ("--stats=json", "--cycles=json"):
        assert json.loads(said(pto_opt, form))["programs"][0]["release"] == wanted
    report = json.loads(said(pto_opt, "--verify-only", "--diagnostics-format", "json"))
    assert report["reference_release"] == wanted
    sarif = json.loads(said(pto_opt, "--verify-only", "--diagnostics-format", "sarif"))
    assert sarif["runs"][0]["properties"] == {"referenceRelease": wanted}
    arguments = ("--arg", "p=p.npy", "--arg", "q=q.npy")
    assert f"(a5, release {wanted})" in said(pto_run, *arguments, "--cycles")
    said(pto_run, *arguments, "--sanitize", "--report", "found.json", "--html", "page.html")
    assert json.loads(Path("found.json").read_text())["reference_release"] == wanted
    assert (
        f'"release": "{wanted}"' in Path("page.html").read_text()
        or f'"release":"{wanted}"' in Path("page.html").read_text()
    )


@pytest.mark.parametrize("command", [pto_opt, pto_run])
def test_the_version_names_the_newest_release(command: object) -> None:
    assert "reference release 0.64" in CliRunner().invoke(command, ["--version"]).output  # pyright: ignore[reportArgumentType]


def run_text(release: str | None) -> int:
    module = pto_dialect.parse(TEXT.format(stated=""), release=release)
    arrays = {"p": np.full(32, 70000, np.float32), "q": np.zeros(32, np.int16)}
    return int(pto_dialect.run(module, arrays)["q"].flat[0])


def test_python_api() -> None:
    assert run_text(None) == run_text("0.63") == CLAMPED
    assert run_text("0.61") == LOW_BITS
    assert pto_dialect.check(TEXT.format(stated=""), release="0.61").ok
    for read in (pto_dialect.parse, pto_dialect.check):
        with pytest.raises(ValueError, match="no known release"):
            read(TEXT.format(stated=""), release="7")


def test_comparison_of_two_releases(program: Path) -> None:
    def compared(other: str) -> Result:
        return CliRunner().invoke(pto_run, ["k.pto", "--arg", "p=p.npy", "--arg", "q=q.npy", "--compare", other])

    assert compared("release:0.63").exit_code == 0
    found = compared("release:0.61")
    assert found.exit_code == 1
    assert "pto.tcvt" in found.output


def test_recordings_name_the_release(program: Path) -> None:
    value("--record", "k.pto-rec", "--reference-release", "0.61")
    with recording.open("k.pto-rec") as found:
        assert found.program.release == "0.61"


def test_sweep_over_releases() -> None:
    document = Document("k.launch.toml", '[sweep]\nreference_release = ["0.61", "0.63"]\n')
    found = [at_point(document, point).content["reference-release"] for point in points_of(document)]
    assert found == ["0.61", "0.63"]


def test_setting_of_the_language_server() -> None:
    assert Settings.read({"release": "0.61"}).release == "0.61"
    assert Settings.read({"release": "7"}).release is None
    document = texts.Document("untitled:k.pto", TEXT.format(stated=""))
    assert release_of(document.checked.functions[0].operations[0]) == newest()
    document.set_target(None, "0.61")
    assert str(release_of(document.checked.functions[0].operations[0])) == "0.61"
    document.set_target(None, None)
    assert release_of(document.checked.functions[0].operations[0]) == newest()
