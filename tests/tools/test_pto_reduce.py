"""``pto reduce``: conditions, what is written, and what is refused."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from called_commands import call

ROOT = str(Path(__file__).parents[2])
TILE = "!pto.tile_buf<vec, 16x64xf32>"
PART = "!pto.partition_tensor_view<16x64xf32>"


def long_program(stages: int, wrong: int) -> str:
    """Functions with many stages, of which one adds what is no tile."""
    lines = ['module attributes {pto.target_arch = "a5"} {']
    for function in range(3):
        lines += [f"func.func @k{function}(%in: {PART}, %n: index) {{", "%c1 = arith.constant 1 : index"]
        for stage in range(stages):
            lines += [
                f"%a{stage} = arith.constant {4096 * stage} : i64",
                f"%t{stage} = pto.alloc_tile addr = %a{stage} : {TILE}",
                f"scf.for %i{stage} = %c1 to %n step %c1 {{",
                f"pto.tload ins(%in : {PART}) outs(%t{stage} : {TILE})",
                "pto.barrier <PIPE_ALL>",
            ]
            if (function, stage) == (1, wrong):
                lines.append(f"pto.tadd ins(%t{stage}, %in : {TILE}, {PART}) outs(%t{stage} : {TILE})")
            lines += ["}"]
        lines += ["return", "}"]
    return "\n".join([*lines, "}", ""])


def race(stages: int, wrong: int) -> str:
    """A function whose stages load and add; in one of them nothing waits for the load."""
    lines = [
        "func.func @k(%p: !pto.ptr<f32>, %n: index) {",
        "%c0 = arith.constant 0 : index",
        "%c1 = arith.constant 1 : index",
        "%c16 = arith.constant 16 : index",
        "%c64 = arith.constant 64 : index",
        "%v = pto.make_tensor_view %p, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<16x64xf32>",
        "%in = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c64] : !pto.tensor_view<16x64xf32> "
        f"-> {PART}",
    ]
    for stage in range(stages):
        lines += [
            f"%a{stage} = arith.constant {4096 * stage} : i64",
            f"%t{stage} = pto.alloc_tile addr = %a{stage} : {TILE}",
            f"pto.tload ins(%in : {PART}) outs(%t{stage} : {TILE})",
            *([] if stage == wrong else ["pto.barrier <PIPE_ALL>"]),
            f"pto.tadd ins(%t{stage}, %t{stage} : {TILE}, {TILE}) outs(%t{stage} : {TILE})",
            "pto.barrier <PIPE_ALL>",
        ]
    return "\n".join(['module attributes {pto.target_arch = "a5"} {', *lines, "return", "}", "}", ""])


def pto(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pto_dialect", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=200, env=os.environ | {"PYTHONPATH": ROOT})
    assert "Traceback" not in result.stderr
    return result


@pytest.fixture
def reduce(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def run(text: str, *arguments: str):
        path = Path("long.pto")
        path.write_text(text, encoding="utf-8")
        before = path.stat()
        result = pto("reduce", "long.pto", *arguments)
        assert path.read_text(encoding="utf-8") == text
        assert path.stat().st_mtime_ns == before.st_mtime_ns
        return result.returncode, result.stdout, result.stderr

    return run


def lines_of(text: str) -> list[str]:
    return text.splitlines()


def test_five_hundred_lines_with_an_error(reduce, tmp_path: Path) -> None:
    text = long_program(27, 13)
    assert len(lines_of(text)) > 500
    begin = time.monotonic()
    code, out, err = reduce(text)
    assert (code, len(lines_of(out)) <= 10) == (0, True)
    assert time.monotonic() - begin < 75
    assert f"{len(lines_of(text))} lines reduced to {len(lines_of(out))} in" in err
    Path("small.pto").write_text(out, encoding="utf-8")
    check = pto("check", "small.pto")
    assert check.returncode == 1 and "[tile-type]" in check.stderr
    assert check.stderr.count(" error: ") == 1


def test_a_finding_of_a_run(reduce) -> None:
    code, out, _ = reduce(race(5, 2), "--rule", "race-raw", "-o", "small.pto", "--", "run", "--auto", "--sanitize")
    assert (code, out) == (0, "")
    small = Path("small.pto").read_text(encoding="utf-8")
    assert len(lines_of(small)) <= 16
    run = pto("run", "small.pto", "--auto", "--sanitize")
    assert run.returncode == 3 and "[race-raw]" in run.stderr


def test_a_verdict_about_standard_input() -> None:
    pytest.importorskip("islpy", reason="verdicts need it")
    command = [sys.executable, "-m", "pto_dialect", "reduce", "-", "--rule", "order-refuted", "--", "prove"]
    environment = os.environ | {"PYTHONPATH": ROOT}
    done = subprocess.run(
        command, input=race(1, 0), capture_output=True, text=True, timeout=100, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    kept = [line.split()[0] for line in done.stdout.splitlines() if line.strip().startswith("pto.t")]
    assert kept == ["pto.tload", "pto.tadd"]
    assert "barrier" not in done.stdout


def test_text_on_standard_error_and_an_exit_code(reduce) -> None:
    code, out, _ = reduce(long_program(2, 1), "--stderr", "must be a tile", "--exit-code", "1", "--", "opt")
    assert code == 0 and len(lines_of(out)) <= 10


def test_a_difference_between_two_targets(reduce) -> None:
    """Tiles of 230,400 bytes fit into the memory of one of them."""
    large = f"%large = pto.alloc_tile : {TILE}".replace("16x64", "900x64")
    text = long_program(3, 5).replace(' attributes {pto.target_arch = "a5"}', "")
    text = text.replace("return", f"{large}\nreturn", 1)
    code, out, err = reduce(text, "--between", "--target a2a3", "--target a5", "--", "check")
    assert code == 0, err
    assert "900x64" in out and len(lines_of(out)) <= 4


def test_a_difference_between_two_pipelines(reduce) -> None:
    text = race(1, 5).replace("return", "%unused = arith.constant 5 : i32\nreturn")
    code, out, err = reduce(text, "--pipelines", "verify-structure", "canonicalize", "--", "opt")
    assert code == 0, err
    assert len(lines_of(out)) <= 5


def test_a_script(reduce, tmp_path: Path) -> None:
    script = tmp_path / "wanted.sh"
    script.write_text('#!/bin/sh\ngrep -q "pto.tadd" "$1"\n')
    assert reduce(long_program(3, 1), "--script", "wanted.sh")[0] == 2
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    code, out, _ = reduce(long_program(3, 1), "--script", "wanted.sh")
    assert (code, len(lines_of(out))) == (0, 1)
    assert "pto.tadd" in out


def test_settings_of_the_project_count(reduce) -> None:
    Path("pto.toml").write_text('allow = ["tile-type"]\n')
    code, _, err = reduce(long_program(2, 1))
    assert code == 1 and "the program does not show it" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "long.pto"), "would overwrite 'long.pto', which is read"),
        (("-o", "./long.pto"), "would overwrite"),
        (("-o", "no/such/folder.pto"), "cannot write 'no/such/folder.pto': No such file or directory"),
        (("-o", "page.html"), "cannot write 'page.html': it holds"),
        (("--rule", "race-rew"), "race-raw"),
        (("--", "lsp"), "one of check, opt, lower, run, prove"),
        (("--", "run", "--auto", "--html", "page.html"), "without --html"),
        (("--", "run", "--arg", "x=x.npy:inout"), ":inout writes its file"),
        (("--", "opt", "other.pto"), "names no other"),
        (("--", "opt", "--no-such"), "no-such"),
        (("--", "check", "--help"), "looks at no program"),
        (("--script", "long.pto", "--rule", "race-raw"), "decides alone"),
        (("--between", "'", "x"), "are no options"),
        (("--between", "", "--target a5", "--exit-code", "1"), "the whole condition"),
    ],
)
def test_refused(arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any trial, so that no process is needed."""
    monkeypatch.chdir(tmp_path)
    Path("page.html").write_text("<!DOCTYPE html>\n<html></html>\n")
    Path("long.pto").write_text(text := long_program(1, 0))
    result = call(["pto", "reduce", "long.pto", *arguments])
    assert (result.exit_code, result.stdout) == (2, ""), result.stderr
    assert message in result.stderr
    assert Path("long.pto").read_text() == text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rule", "race-raw"), "rules of its findings: tile-type"),
        (("--exit-code", "3"), "ends with 1"),
        (("--between", "", "--werror"), "both runs give the same"),
    ],
)
def test_not_shown(reduce, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = reduce(long_program(1, 0), *arguments)
    assert (code, out) == (1, "")
    assert message in err


def test_a_correct_program_shows_nothing(reduce) -> None:
    code, _, err = reduce(long_program(1, 5))
    assert code == 1 and "pto check accepts it" in err


def test_a_run_that_does_not_end_is_not_what_is_looked_for(reduce) -> None:
    loop = (
        "func.func @f(%p: !pto.ptr<i32>) {\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
        "%n = arith.constant 2000000000 : index\n%v = arith.constant 1 : i32\nscf.for %i = %c0 to %n step %c1 {\n"
        "pto.store_scalar %v, %p[%c0] : !pto.ptr<i32>, i32\n}\nreturn\n}\n"
    )
    code, _, err = reduce(loop, "--exit-code", "0", "--timeout", "1", "--", "run", "--auto")
    assert code == 1 and "pto run did not end in time" in err
