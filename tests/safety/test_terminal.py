"""Programs, settings and names with control characters: no command writes one to a terminal or to a log."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from groups import in_groups

from pto_dialect.terminal import shown

EVIL = "\x1b[31mX\x1b]0;t\x07\u202e\u2066\x9b31m\x85\u200b"
PROGRAM = f"""// {EVIL} ::error::pwned
// ::set-env name=x::y ##[error]z
module attributes {{note = "a{EVIL}b", "pto.x{EVIL}" = 1 : i32}} {{
func.func @"k{EVIL}"(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {{pto.kernel, n = "{EVIL}"}} {{
  // {EVIL}
  %c0 = arith.constant 0 : index
  %v = pto.load_scalar %x[%c0] : !pto.ptr<f32> -> f32 // {EVIL}
  pto.store_scalar %v, %y[%c0] : !pto.ptr<f32>, f32 loc("{EVIL}.py":1:2)
  return
}}
}}
"""
WRONG = f"""func.func @f() {{
  // {EVIL}
  %{EVIL} = arith.constant 0 : index "{EVIL}"
 ::error::hi {EVIL}
  retur ##[error]z
}}
"""
VALUES = ("--arg", "x=ones:f32:4", "--arg", "y=zeros:f32:4")
FORMS = ("text", "github", "json", "sarif", "gitlab", "junit")
OPT = [
    ["a.pto"],
    ["--verify-only", "--pedantic", "a.pto", "wrong.pto"],
    *(["--stats", "a.pto"], ["--stats=json", "a.pto"], ["--memory-report", "a.pto"], ["--cycles", "a.pto"]),
    *(["--lower", "a.pto"], ["--print-op-generic", "a.pto"], ["--print-debuginfo", "a.pto"], ["--explain", EVIL]),
    *(["--output-format", form, "wrong.pto"] for form in FORMS),
    *(["--fix", "--diff", "wrong.pto"], ["--format", "--diff", "a.pto"], ["--verify-diagnostics", "wrong.pto"]),
    *([f"no{EVIL}.pto"], [f"--target={EVIL}", "a.pto"], ["--allow", EVIL, "a.pto"], ["-p", EVIL, "a.pto"]),
]
RUN = [
    *(["--list", "a.pto"], ["--list=json", "a.pto"], ["--auto", "a.pto"], ["--emit-python", "a.pto"]),
    *(["--init-launch=first.launch.toml", "a.pto"], ["first.launch.toml"], [".", "--junit", "j.xml"]),
    *([option, "a.pto", *VALUES] for option in ("--profile", "--cycles", "--sanitize", "--dump", "--quiet")),
    *(["--output-format", form, "--sanitize", "a.pto", *VALUES] for form in FORMS),
    *(["--sanitize", "--sync", "strict", "a.pto", *VALUES], ["--schedule", EVIL, "a.pto", *VALUES]),
    *(["a.pto", "--record", "r.pto-rec", *VALUES], ["--debug", "r.pto-rec"], ["--html", "h.html", "a.pto", *VALUES]),
    *(["a.pto", "--arg", f"x{EVIL}=3"], ["a.pto", "--expect", "y=5", *VALUES]),
    ["a.pto", "--compare", "wrong.pto", *VALUES],
    *(["--ranks", "2", "a.pto", *VALUES], ["wrong.pto", *VALUES], ["a.pto", "--arg", f"x={EVIL}.npy"]),
]  # fmt: skip
FMT = [["--diff", "a.pto"], ["--check", "a.pto"], ["--diff", "wrong.pto"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("terminal")
    (found / "a.pto").write_text(PROGRAM, encoding="utf-8")
    (found / "wrong.pto").write_text(WRONG, encoding="utf-8")
    return found


def check(text: str, annotations: bool = False) -> None:
    assert {char for char in text if not char.isprintable() and char not in "\n\t"} == set()
    assert "##[" not in text
    for line in text.split("\n"):
        ours = annotations and re.match(r"::(error|warning|notice) (file|title)=", line)
        assert ours or not line.lstrip().startswith("::"), line


def call(module: str, arguments: list[str]) -> None:
    command: Any = import_module(f"pto_dialect.tools.{module}").main
    told = CliRunner().invoke(command, arguments, input="list\nwhere\nbt\nprint %v\nnext\nfinding\nquit\n")
    assert told.exception is None or isinstance(told.exception, SystemExit), told.exc_info
    assert "Traceback" not in told.output
    printed = module == "pto_opt" and not set(arguments[0]) & {"-"}
    check(told.stderr, "github" in arguments)
    if not printed:
        check(told.stdout)


CALLS = [(module, words) for module, lists in (("pto_opt", OPT), ("pto_run", RUN), ("pto_fmt", FMT)) for words in lists]


@pytest.mark.parametrize(
    ("module", "arguments"), CALLS, ids=[f"{one[0]} {ascii(' '.join(one[1]))[:60]}" for one in CALLS]
)
def test_nothing_but_text(folder: Path, monkeypatch: pytest.MonkeyPatch, module: str, arguments: list[str]) -> None:
    monkeypatch.chdir(folder)
    call(module, arguments)


def test_settings_are_reported_as_annotations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.pto").write_text("func.func @f() {\n  return\n}\n", encoding="utf-8")
    for text in (f"::error::pwned = 1 # {EVIL}\n", 'target = "::x"\n', f'"##[error]{EVIL}" = 1\n'):
        (tmp_path / "pto.toml").write_text(text, encoding="utf-8")
        for form in FORMS:
            for module in ("pto_opt", "pto_run"):
                command: Any = import_module(f"pto_dialect.tools.{module}").main
                told = CliRunner().invoke(command, ["--output-format", form, "a.pto"])
                assert told.exit_code == 2
                check(told.output, form == "github")
                if form == "github":
                    assert told.stderr.startswith("::error file=pto.toml,line=1,")


def test_settings_that_are_a_link_reveal_nothing_of_its_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.pto").write_text("func.func @f() {\n  return\n}\n", encoding="utf-8")
    command: Any = import_module("pto_dialect.tools.pto_opt").main
    texts = ("root:secret:0\n", "secret = 1 # [tool.pto\n", "[tool.pto]\nsecret = 1\n", "[tool.pto\xff secret")
    for name in ("pto.toml", "pyproject.toml"):
        for text in texts:
            (tmp_path / "secret").write_bytes(text.encode("latin-1"))
            (tmp_path / name).symlink_to(tmp_path / "secret")
            for form in ("text", "github"):
                told = CliRunner().invoke(command, ["--output-format", form, "a.pto"])
                assert told.exit_code == 2 if name == "pto.toml" else told.exit_code in (0, 2)
                assert "secret" not in told.output
            (tmp_path / name).unlink()


def test_json_is_json_whatever_it_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    command: Any = import_module("pto_dialect.tools.pto_opt").main
    for form in ("json", "sarif", "gitlab"):
        (folder / "x.pto").write_text(
            'func.func @"##[error]x"() {\n  return %a : i32\n}\nfunc.func @"##[error]x"() {\n', "utf-8"
        )
        told = CliRunner().invoke(command, ["--output-format", form, "x.pto"])
        assert json.loads(told.stderr)
        assert "##[" not in told.stderr


TEXTS = {
    "plain\ttext\n": "plain\ttext\n",
    "Größe × 2\n": "Größe × 2\n",
    "a::b": "a::b",
    "x\r\n": "x\\r\n",
    " ::error::x": " \\u003a:error::x",
    "a\n\t::x": "a\n\t\\u003a:x",
    "x ##[error]y": "x #\\u0023[error]y",
    "\x1b[31mred": "\\x1b[31mred",
    "\udc80\u2028\x7f": "\\udc80\\u2028\\x7f",
}


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_shown(text: str) -> None:
    assert shown(text) == TEXTS[text]


def test_what_is_let_through() -> None:
    painted = "\x1b[1;31merror:\x1b[0m \x1b[1mx\x1b[0m \x1b[2J \x1b[31m"
    assert shown(painted, colors=True) == painted.replace("\x1b[2J", "\\x1b[2J").replace(" \x1b[31m", " \\x1b[31m")
    annotation = "::error file=a::x\n ::error file=a::x\n::set-env name=a::x\n"
    assert shown(annotation, annotations=True).split("\n") == [
        "::error file=a::x", " \\u003a:error file=a::x", "\\u003a:set-env name=a::x", "",
    ]  # fmt: skip


@in_groups("letter", [chr(code) for code in range(0x101)])
def test_letters_are_shown_where_they_are_printable(letter: str) -> None:
    is_shown = letter.isprintable() or letter in "\n\t"
    assert (shown(f"a{letter}b") == f"a{letter}b") is is_shown
