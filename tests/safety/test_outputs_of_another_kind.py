"""An output replaces files of its own kind, and no others without --force."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from pto_dialect.diagnostics.file_kinds import kind_of
from pto_dialect.integrations.pypto import assembler

ADD = Path(__file__).parents[1] / "tools" / "programs" / "add.pto"
VALUES = ("--arg", "x=ones:f32:4x8", "--arg", "y=ones:f32:4x8", "--arg", "z=zeros:f32:4x8")
LAUNCH = 'program = "add.pto"\n[arguments]\nx = "ones:f32:4x8"\ny = "ones:f32:4x8"\nz = "zeros:f32:4x8"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(ADD, tmp_path / "add.pto")
    (tmp_path / "a.launch.toml").write_text(LAUNCH, encoding="utf-8")
    out = LAUNCH + '[outputs]\nz = "out"\n'
    for ending in ("npy", "npz", "bin"):
        (tmp_path / f"{ending}.launch.toml").write_text(out.replace('"out"', f'"out.{ending}"'), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(module: str, *arguments: str) -> tuple[int, str]:
    command: Any = import_module(f"pto_dialect.tools.{module}").main
    told = CliRunner().invoke(command, arguments)
    assert told.exception is None or isinstance(told.exception, SystemExit), told.exc_info
    return told.exit_code, told.output


OUTPUTS = {
    "page": ("pto_run", ["add.pto", *VALUES, "--html", "out.html"], "out.html"),
    "timeline": ("pto_run", ["add.pto", *VALUES, "--trace", "out.json"], "out.json"),
    "recording": ("pto_run", ["add.pto", *VALUES, "--record", "out.pto-rec"], "out.pto-rec"),
    "report": ("pto_run", ["add.pto", *VALUES, "--sanitize", "--report", "out.json"], "out.json"),
    "sarif": ("pto_run", ["add.pto", *VALUES, "--sanitize", "--report", "out.sarif"], "out.sarif"),
    "fix": ("pto_run", ["add.pto", *VALUES, "--sanitize", "--fix=out.pto"], "out.pto"),
    "npy": ("pto_run", ["add.pto", *VALUES, "--out", "z=out.npy"], "out.npy"),
    "npz": ("pto_run", ["add.pto", *VALUES, "--out", "z=out.npz:z"], "out.npz"),
    "bin": ("pto_run", ["add.pto", *VALUES, "--out", "z=out.bin"], "out.bin"),
    "launch npy": ("pto_run", ["npy.launch.toml"], "out.npy"),
    "launch npz": ("pto_run", ["npz.launch.toml"], "out.npz"),
    "launch bin": ("pto_run", ["bin.launch.toml"], "out.bin"),
    "launch page": ("pto_run", ["a.launch.toml", "--html", "out.html"], "out.html"),
    "launch recording": ("pto_run", ["a.launch.toml", "--record", "out.pto-rec"], "out.pto-rec"),
    "junit": ("pto_run", ["a.launch.toml", "--junit", "out.xml"], "out.xml"),
    "module": ("pto_opt", ["add.pto", "-o", "out.pto"], "out.pto"),
    "modules": ("pto_opt", ["add.pto", "-o", "outs/"], "outs/add.pto"),
}
FOREIGN = {
    "source": b"import os\nprint('precious')\n",
    "C++": b"// a program of mine\nint main() { return 0; }\n",
    "text": b"# Notes\n\nfunc.func is a word.\n",
    "toml": b'[tool]\nname = "mine"\n',
    "json": b'{"name": "mine", "scripts": {}}\n',
    "page": b"<!doctype html>\n<html><head><title>mine</title></head></html>\n",
    "xml": b"<?xml version='1.0'?>\n<project/>\n",
    "archive": b"PK\x03\x04" + bytes(22) + b"\x05\x00\x00\x00mimet" + bytes(20),
    "library": b"\x7fELF" + bytes(60),
}
OWN = {"bin": {"fix", "module", "modules"}}


@pytest.mark.parametrize("name", OUTPUTS)
def test_own_outputs_are_replaced_and_others_stay(folder: Path, name: str) -> None:
    module, arguments, path = OUTPUTS[name]
    place = folder / path
    first = call(module, *arguments)
    assert (first[0], place.is_file()) == (0, True), first
    assert call(module, *arguments) == first
    place.write_bytes(b"")
    assert call(module, *arguments)[0] == 0
    assert place.stat().st_size
    others = {**FOREIGN, "program": ADD.read_bytes()}
    if name in ("fix", "module", "modules"):
        del others["program"]
    for other, content in others.items():
        place.write_bytes(content)
        code, told = call(module, *arguments)
        assert place.read_bytes() == content, other
        assert code != 0, other
        assert "--force does so" in told and Path(path).name in told, (other, told)
    place.write_bytes(FOREIGN["text"])
    assert call(module, *arguments, "--force")[0] == 0
    assert place.read_bytes() != FOREIGN["text"]


def test_a_page_over_the_program_of_somebody_else(folder: Path) -> None:
    (folder / "other.pto").write_text("func.func @g() {\n  return\n}\n", encoding="utf-8")
    code, told = call("pto_run", "--html", "other.pto", "add.pto", *VALUES)
    assert code == 2
    assert (
        "--html cannot write 'other.pto': it holds a program, and would be replaced by a page; --force does so" in told
    )
    assert (folder / "other.pto").read_text(encoding="utf-8").startswith("func.func @g")


def test_pages_of_recordings(folder: Path) -> None:
    assert call("pto_run", "add.pto", *VALUES, "--record", "run.pto-rec")[0] == 0
    assert call("pto_report", "run.pto-rec")[0] == 0
    assert call("pto_report", "run.pto-rec")[0] == 0
    (folder / "run.html").write_bytes(FOREIGN["page"])
    assert call("pto_report", "run.pto-rec")[0] == 2
    assert (folder / "run.html").read_bytes() == FOREIGN["page"]
    assert call("pto_report", "run.pto-rec", "--force")[0] == 0


def test_assembled_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["add.pto", "-o", "add.cpp"]
    assert assembler.main(arguments) == assembler.main(arguments) == 0
    for content in (*FOREIGN.values(), ADD.read_bytes()):
        (folder / "add.cpp").write_bytes(content)
        assert assembler.main(arguments) == 1
        assert (folder / "add.cpp").read_bytes() == content
        told = capsys.readouterr().err
        assert told.startswith("ptoas: -o cannot write 'add.cpp': ") and "--force does so" in told
    assert assembler.main([*arguments, "--force"]) == 0
    assert (folder / "add.cpp").read_text(encoding="utf-8").startswith("#include")


def test_logs_of_the_language_server(folder: Path) -> None:
    for name, content in {**FOREIGN, "program": ADD.read_bytes()}.items():
        (folder / "out.log").write_bytes(content)
        code, told = call("pto_lsp", "--log", "out.log")
        assert code == 2, name
        assert "--log cannot write 'out.log': " in told and "--force does so" in told
        assert (folder / "out.log").read_bytes() == content


def test_a_program_is_fixed_in_place(folder: Path) -> None:
    assert call("pto_run", "add.pto", *VALUES, "--sanitize", "--fix=add.pto")[0] == 0
    (folder / "wrong.pto").write_text("func.func @f() {\n  retur\n}\n", encoding="utf-8")
    assert call("pto_opt", "--fix", "wrong.pto")[0] == 0
    assert "  return\n" in (folder / "wrong.pto").read_text(encoding="utf-8")


def test_what_is_no_file_is_written_to(folder: Path) -> None:
    assert call("pto_run", "add.pto", *VALUES, "--html", "/dev/null", "--trace", "/dev/null")[0] == 0


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"// a comment\n\n  // another\nmodule {\n}\n", "program"),
        (b"// only a comment", "program"),
        (b"!T = !pto.ptr<f32>\nfunc.func @f() {", "program"),
        (b"#map = affine_map<(d0) -> (d0)>\n", "program"),
        (b'"builtin.module"() ({', "program"),
        (b"%c = arith.constant 0 : index\n", "program"),
        (b"# comment\nblocks = 2\n[[launch]]\n", "launch"),
        (np.zeros(4, np.float32).tobytes(), ""),
        (b"law,name,type,parameter\n", "table"),
        (b"\x89PNG\r\n", "picture"),
        (b"2026-01-02 03:04:05,678 INFO Starting IO server\n", "log"),
        (b'#include "pto/pto-inst.hpp"\n', "cpp"),
        (b"module.exports = 1\n", "other"),
        (b"#include <stdio.h>\n", "other"),
        (b"#!/bin/sh\n", "other"),
    ],
)
def test_kinds(head: bytes, kind: str) -> None:
    assert kind_of(head) == kind
