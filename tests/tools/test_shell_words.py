"""Files of arguments, and patterns, on command lines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from tools.shell_words import ResponseError, matching, with_responses


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---------------------------------------------------------------- files of arguments


def test_words_of_a_file_are_quoted_as_in_a_shell(folder: Path) -> None:
    (folder / "arguments").write_text("--target a5 'a name.pto'\n\"b.pto\" c\\ d.pto\n")
    assert with_responses(["check", "@arguments", "-j2"]) == [
        *("check", "--target", "a5", "a name.pto", "b.pto", "c d.pto", "-j2")
    ]


def test_a_file_may_name_more_files(folder: Path) -> None:
    (folder / "outer").write_text("a.pto @inner")
    (folder / "inner").write_text("b.pto")
    assert with_responses(["@outer", "@inner"]) == ["a.pto", "b.pto", "b.pto"]


def test_words_without_a_file_and_words_of_another_command_stay(folder: Path) -> None:
    (folder / "arguments").write_text("--target a5")
    assert with_responses(["--entry", "@f", "@", "--", "@arguments"]) == ["--entry", "@f", "@", "--", "@arguments"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x @arguments", "the file of arguments 'arguments' names itself"),
        (b"'open", "'arguments' is no file of arguments: No closing quotation"),
        (b"\xff", "'arguments' is no file of arguments: 'utf-8' codec"),
    ],
)
def test_files_that_cannot_be_used(folder: Path, content: bytes, message: str) -> None:
    (folder / "arguments").write_bytes(content)
    with pytest.raises(ResponseError) as error:
        with_responses(["@arguments"])
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [("--list-ops --family comm", 0, "pto.comm.tput"), ("'", 2, "error: 'arguments' is no file")],
)
def test_commands_read_files_of_arguments(folder: Path, content: str, code: int, said: str) -> None:
    (folder / "arguments").write_text(content)
    line = [sys.executable, "-m", "pto_dialect", "check", "@arguments"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, said in done.stdout + done.stderr) == (code, True), done


# ---------------------------------------------------------------- patterns


def matched(*paths: str) -> tuple[str, ...]:
    parameter = click.Argument(["paths"])
    return matching(click.Context(click.Command("check")), parameter, paths)


def test_a_pattern_is_what_it_matches_in_order(folder: Path) -> None:
    for name in ("b.pto", "a.pto", "deep/er/c.pto", ".hidden/d.pto", "[x].pto"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    assert matched("z.pto", "?.pto", "-") == ("z.pto", "a.pto", "b.pto", "-")
    assert matched("**/*.pto") == ("[x].pto", "a.pto", "b.pto", "deep/er/c.pto")
    assert matched("[x].pto") == ("[x].pto",)


def test_a_pattern_that_matches_nothing_is_an_error(folder: Path) -> None:
    with pytest.raises(click.UsageError, match=r"no file or folder matches 'x\*\.pto'"):
        matched("x*.pto")
