"""C++ kernels in launch files, in `pto tune` and in sweeps: definitions, folders of headers, templates."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from run_lines import CommandResult, run_command

TUNE = import_module("pto_dialect.tools.pto_tune").main

SCALE = """\
#include <pto/pto-inst.hpp>
#include <factor.h>
using namespace pto;

template <typename T, int W>
__global__ AICORE void scale(__gm__ T *x, __gm__ T *y, int rows) {
  using Row = GlobalTensor<T, Shape<1, 1, 1, 1, W>, Stride<W, W, W, W, 1>>;
  Tile<TileType::Vec, T, 1, W> t;
  TASSIGN(t, 0);
  for (int i = 0; i < rows * 64 / W; ++i) {
    Row gx(x + i * W), gy(y + i * W);
    TLOAD(t, gx);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TMULS(t, t, static_cast<T>(FACTOR * TIMES));
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(gy, t);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  }
}
"""
LAUNCH = """\
program = "scale.cpp"
entry = "scale<float, 64>"
defines = { TIMES = 2 }
includes = ["include"]
arguments = { x = "ones:f32:256", y = "zeros:f32:256", rows = 4 }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "factor.h").write_text("constexpr float FACTOR = 10.f;\n", encoding="utf-8")
    (tmp_path / "scale.cpp").write_text(SCALE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def launch(text: str, *options: str, command: str = "pto-run") -> CommandResult:
    Path("t.launch.toml").write_text(text, encoding="utf-8")
    return run_command(command, ["t.launch.toml", *options])


def lines(result: CommandResult) -> list[str]:
    return (result.stdout + result.stderr).decode().splitlines()


def test_template_with_definitions_and_headers(folder: Path) -> None:
    assert lines(launch(LAUNCH)) == ["y: f32 256, min 20, max 20, mean 20"]


def test_definitions_of_the_command_line_prevail(folder: Path) -> None:
    assert lines(launch(LAUNCH, "-D", "TIMES=3")) == ["y: f32 256, min 30, max 30, mean 30"]
    again = launch(LAUNCH.replace('includes = ["include"]\n', ""), "-I", "include", "-DTIMES=0.5")
    assert lines(again) == ["y: f32 256, min 5, max 5, mean 5"]


def test_launches_of_one_file_are_compiled_each_as_it_says(folder: Path) -> None:
    text = """\
program = "scale.cpp"
includes = ["include"]
defines = { TIMES = 2 }
[buffers]
h = "ones:f32:64"
[[launch]]
entry = "scale<float, 64>"
arguments = { x = "h", y = "h", rows = 1 }
[[launch]]
entry = "scale<float, 32>"
defines = { TIMES = "FACTOR" }
arguments = { x = "h", y = "h", rows = 1 }
[expect]
h = 2000
"""
    result = launch(text, "--quiet")
    assert (result.exit_code, result.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("TIMES = 2", "TIMES = false", "expected a number, a string of one line, or true for a macro without a value"),
        ("TIMES = 2", "TIMES = [2]", "expected a number, a string of one line, or true for a macro without a value"),
        ("TIMES = 2", 'TIMES = "2\\n#include \\"x\\""', "expected a number, a string of one line, or true for a macro"),
        ("TIMES = 2", '"A(x)" = 2', "a macro has letters, digits and _"),
        ('"include"', '"../include"', "'../include' lies outside of the folder of the launch file"),
        ('["include"]', '"include"', "expected an array of strings"),
        ("scale.cpp", "other.pto", "defines: it is about C++ kernels, and there is none"),
        ("defines", 'cxx = "sh"\ndefines', "unknown key"),
        ('["include"]', '["missing"]', "-I names 'missing', which is no folder"),
        ("<float, 64>", "<float, 64", "'scale<float, 64' is no function, nor a template with its arguments"),
    ],
)
def test_wrong_keys(folder: Path, old: str, new: str, message: str) -> None:
    (folder / "other.pto").write_text("module {}", encoding="utf-8")
    assert old in LAUNCH
    result = launch(LAUNCH.replace(old, new))
    assert (result.exit_code, message in result.stderr.decode()) == (2, True), result.stderr.decode()


def test_first_launch_file_has_what_the_command_line_says(folder: Path) -> None:
    options = ["--entry", "scale<float, 64>", "-D", "TIMES=2", "-D", "NDEBUG", "-I", "include"]
    given = ["--arg", "rows=4", "--arg", "x=ones:f32:256"]
    assert run_command("pto-run", ["scale.cpp", *options, *given, "--init-launch"]).exit_code == 0
    text = Path("scale.launch.toml").read_text(encoding="utf-8")
    assert 'entry = "scale<float, 64>"\ndefines = { TIMES = "2", NDEBUG = true }\nincludes = ["include"]\n' in text
    assert lines(run_command("pto-run", ["scale.launch.toml"])) == ["y: f32 256, min 20, max 20, mean 20"]


def tune(*arguments: str) -> Result:
    return CliRunner().invoke(TUNE, arguments)


def candidates(result: Result) -> list[tuple[object, bool]]:
    return [(one["values"], one["right"]) for one in json.loads(result.stdout)["candidates"]]


def test_tuned_by_a_definition(folder: Path) -> None:
    text = SCALE.replace("template <typename T, int W>\n", "").replace("__gm__ T", "__gm__ float")
    (folder / "wide.cpp").write_text(text.replace("T, ", "float, ").replace("<T>", "<float>"), encoding="utf-8")
    given = ["--arg", "x=random:f32:1024", "--arg", "y=zeros:f32:1024", "--arg", "rows=16"]
    given += ["-D", "TIMES=2", "-I", "include", "--output-format", "json"]
    result = tune("wide.cpp", "--param", "W=64,256,1024,0,A", *given)
    right = [({"W": 64}, True), ({"W": 256}, True), ({"W": 1024}, True), ({"W": 0}, False), ({"W": "A"}, False)]
    assert candidates(result) == right
    cycles = [one["cycles"] for one in json.loads(result.stdout)["candidates"][:3]]
    assert cycles == sorted(cycles, reverse=True)
    reason = json.loads(result.stdout)["candidates"][4]["reason"]
    assert reason == "line 6: use of undeclared identifier 'A' [cpp-compile]"


def test_tuned_by_a_launch_file(folder: Path) -> None:
    text = LAUNCH.replace("<float, 64>", "<float, {W}>") + "[tune]\nW = [64, 128]\n"
    Path("t.launch.toml").write_text(text, encoding="utf-8")
    result = tune("t.launch.toml", "--output-format", "json")
    assert candidates(result) == [({"W": 64}, True), ({"W": 128}, True)]


def test_nothing_to_tune(folder: Path) -> None:
    result = tune("scale.cpp")
    assert (result.exit_code, "give --param NAME=16,32 for the macro NAME of the kernel" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-D", "TIMES=2", "--param", "TIMES=1,2"], "TIMES is both -D and --param"),
        (["-D", "TIMES=2", "--param", "Q=1,2"], "nothing uses Q; the kernel has no macro Q"),
    ],
)
def test_values_that_would_have_no_effect_are_refused(folder: Path, options: list[str], message: str) -> None:
    result = tune("scale.cpp", "-I", "include", "--entry", "scale<float, 64>", *options)
    assert (result.exit_code, message in result.stderr, result.stdout) == (2, True, "")


def test_definition_that_a_launch_file_varies_is_not_given_as_well(folder: Path) -> None:
    text = LAUNCH.replace("TIMES = 2", 'TIMES = "{times}"') + "[tune]\ntimes = [1, 2]\n"
    Path("t.launch.toml").write_text(text, encoding="utf-8")
    result = tune("t.launch.toml", "-D", "TIMES=3")
    assert (result.exit_code, "TIMES is both -D and [tune]" in result.stderr) == (2, True)


def test_name_that_a_launch_file_does_not_use_is_reported_with_the_definition_to_write(folder: Path) -> None:
    Path("t.launch.toml").write_text(LAUNCH + "[tune]\nW = [64, 128]\n", encoding="utf-8")
    result = tune("t.launch.toml")
    assert result.exit_code == 2 and "nothing uses W" in result.stderr
    assert 'help: write defines = { W = "{W}" }' in result.stderr


def test_swept_by_a_definition(folder: Path) -> None:
    header = (folder / "include" / "factor.h").read_text(encoding="utf-8")
    (folder / "scale.cpp").write_text(SCALE.replace("#include <factor.h>\n", header), encoding="utf-8")
    text = LAUNCH.replace("TIMES = 2", 'TIMES = "{times}"').replace('includes = ["include"]\n', "")
    text += '[sweep]\ntimes = [1, 2]\n[outputs]\ny = "y{times}.npy"\n'
    assert launch(text).exit_code == 0
    for times in (1, 2):
        assert np.all(np.load(folder / f"y{times}.npy") == 10 * times)


def test_kernel_with_headers_of_its_own_is_not_swept(folder: Path) -> None:
    result = launch(LAUNCH.replace("TIMES = 2", 'TIMES = "{times}"') + "[sweep]\ntimes = [1, 2]\n")
    assert result.exit_code == 2
    assert b"'scale.cpp' includes files of its own, which a job of a sweep does not have" in result.stderr
