"""The commands on C++ kernels: what they print, what they name, and their exit codes."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pto_dialect
from pto_dialect import recording
from run_lines import CommandResult, run_command

GUIDE = Path(__file__).parents[2] / "docs" / "cpp.md"
KERNEL = (Path(__file__).parents[2] / "examples" / "cpp" / "add_exp.cpp").read_text(encoding="utf-8")
WAIT = "    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "add.cpp").write_text(KERNEL, encoding="utf-8")
    (tmp_path / "race.cpp").write_text(KERNEL.replace(WAIT, "\n"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(line: str) -> CommandResult:
    name, *arguments = line.split()
    return run_command(name, arguments)


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_program_of_a_kernel_is_printed_and_runs_itself(folder: Path) -> None:
    printed = command("pto-opt add.cpp")
    assert (printed.exit_code, printed.stderr) == (0, b"")
    (folder / "made.pto").write_bytes(printed.stdout)
    run = command("pto-run made.pto --auto --sanitize")
    assert (run.exit_code, run.stderr) == (0, b"")
    located = command("pto-opt add.cpp --print-debuginfo").stdout.decode()
    line = next(one for one in located.splitlines() if "pto.texp" in one)
    assert line.endswith(f'loc("add.cpp":{line_of(KERNEL, "TEXP")}:5)')


@pytest.mark.parametrize(
    "line",
    [
        "pto-opt --fix add.cpp",
        "pto-opt --format add.cpp",
        "pto-opt --fix --diff add.cpp",
        "pto-run race.cpp --auto --sanitize --fix=race.cpp",
    ],
)
def test_kernel_is_not_rewritten(folder: Path, line: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    refused = command(line)
    assert (refused.exit_code, refused.stdout) == (2, b"")
    assert b" .pto programs; C++ kernels are changed by hand" in refused.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_result_of_a_kernel(folder: Path) -> None:
    x, y = np.linspace(-2, 2, 1024, dtype=np.float32), np.linspace(0, 1, 1024, dtype=np.float32)
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", y)
    arguments = "--arg x=x.npy --arg y=y.npy --arg z=zeros:f32:1024 --arg n=4 --out z=z.npy"
    assert command(f"pto-run add.cpp {arguments}").exit_code == 0
    np.testing.assert_allclose(np.load(folder / "z.npy"), np.exp(x + y), rtol=1e-6)


def test_race_is_named_at_its_line_in_terms_of_cpp(folder: Path) -> None:
    result = command("pto-run race.cpp --auto --sanitize")
    assert result.exit_code == 3
    text = result.stderr.decode()
    reads, writes = line_of(KERNEL, "TSTORE"), line_of(KERNEL, "TEXP")
    assert f"race.cpp:{reads}:5: error: MTE3 of core reads" in text
    assert f"(through c) that V of core writes in TEXP (line {writes})" in text
    assert f"help: set_flag(PIPE_V, PIPE_MTE3, EVENT_IDn) after line {writes} and wait_flag(PIPE_V, PIPE_MTE3" in text
    assert "    TSTORE(gz, c);\n" in text
    assert "pto." not in text and "%" not in text


def test_race_for_other_programs(folder: Path) -> None:
    result = command("pto-run race.cpp --auto --sanitize --output-format json")
    [error] = [one for one in json.loads(result.stderr)["diagnostics"] if one["severity"] == "error"]
    assert error["location"]["file"] == "race.cpp"
    assert error["location"]["start"] == {"line": line_of(KERNEL, "TSTORE"), "column": 5}
    assert "fixes" not in error


def test_expectations_in_the_cpp_text(folder: Path) -> None:
    text = KERNEL.replace("TASSIGN(b, 0x1000);", "TASSIGN(b, 0x1001); // expected-error {{32}}")
    (folder / "odd.cpp").write_text(text, encoding="utf-8")
    result = command("pto-opt --verify-diagnostics odd.cpp --verify-only")
    assert (result.exit_code, result.stderr) == (0, b""), result.stderr.decode()


def test_error_of_the_compiler(folder: Path) -> None:
    (folder / "add.cpp").write_text(KERNEL.replace("TADD(c, a, b)", "TADD(c, a, d)"), encoding="utf-8")
    for line in ("pto-opt add.cpp", "pto-run add.cpp --auto"):
        result = command(line)
        assert result.exit_code == 1
        text = result.stderr.decode()
        assert text.startswith(f"add.cpp:{line_of(KERNEL, 'TADD')}:16: error: use of undeclared identifier 'd'")
        assert "    TADD(c, a, d);\n" in text


def test_definitions_reach_the_compiler(folder: Path) -> None:
    text = KERNEL.replace("constexpr int W = 256;", "constexpr int W = WIDTH;")
    (folder / "add.cpp").write_text(text, encoding="utf-8")
    assert b"1x64xf32" in command("pto-opt add.cpp -DWIDTH=64").stdout
    assert command("pto-opt add.cpp").exit_code == 1
    wrong = command("pto-opt add.cpp -D=3")
    assert (wrong.exit_code, b"'=3' is no definition" in wrong.stderr) == (2, True)


def test_commands_that_compile(folder: Path) -> None:
    result = command("pto-opt --show-compile add.cpp --target a5 -DX=1")
    assert result.exit_code == 0
    [shown] = result.stdout.decode().splitlines()
    assert "-std=c++20" in shown and "-D__NPU_ARCH__=3510" in shown and shown.endswith("add.cpp")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("pto-opt add.cpp --cxx no-such-compiler", "install one with `pip install 'pto-dialect[cpp]'`"),
        ("pto-run add.cpp --auto --cxx no-such-compiler", "install one with `pip install 'pto-dialect[cpp]'`"),
        ("pto-opt a.pto -DX", "-D is about C++ kernels"),
        ("pto-opt add.cpp --fix", "C++ kernels are changed by hand"),
        ("pto-opt add.cpp -I missing", "-I names 'missing', which is no folder"),
    ],
)
def test_wrong_command_lines(folder: Path, line: str, text: str) -> None:
    (folder / "a.pto").write_text("module {}", encoding="utf-8")
    result = command(line)
    assert result.exit_code == 2
    assert text in " ".join(result.stderr.decode().split())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "\ntemplate <typename T>\n__global__ AICORE void k(__gm__ T *x) {}",
            "k.cpp:3:1: error: the kernel k is a template",
        ),
        ("void k() {}", "k.cpp:1:1: error: the file has no kernel"),
    ],
)
def test_file_without_a_kernel_is_named(folder: Path, text: str, message: str) -> None:
    (folder / "k.cpp").write_text(text, encoding="utf-8")
    result = command("pto-opt k.cpp")
    assert (result.exit_code, result.stderr.decode().splitlines()[0].split(" [")[0]) == (1, message)


SEVERAL = """#include <pto/pto-inst.hpp>
using namespace pto;
namespace my {
template <typename T, int W> __global__ AICORE void copy(__gm__ T *x, __gm__ T *z) {
  using G = GlobalTensor<T, Shape<1, 1, 1, 1, W>, Stride<W, W, W, W, 1>>;
  Tile<TileType::Vec, T, 1, W> a;
  TASSIGN(a, 0);
  G gx(x), gz(z);
  TLOAD(a, gx);
  if constexpr (W == LOCKED)
    set_ctrl(1);
  TSTORE(gz, a);
}
}
template <typename T> void launch(void *s, T *x, T *z) {
  my::copy<T, 64><<<1, nullptr, s>>>(x, z);
  my::copy<T, 32><<<1, nullptr, s>>>(x, z);
}
template void launch<float>(void *, float *, float *);
template void launch<half>(void *, half *, half *);
#ifdef MORE
__global__ AICORE void other(__gm__ float *x) {}
#endif
"""
COPIES = ", ".join(f"--entry 'my::copy<{one}>'" for one in ("float, 64", "float, 32", "half, 64", "half, 32"))


def test_all_kernels_of_a_file_are_printed(folder: Path) -> None:
    (folder / "k.cpp").write_text(SEVERAL, encoding="utf-8")
    printed = command("pto-opt k.cpp -DLOCKED=0 -DMORE").stdout.decode()
    names = ["copy_float_64", "copy_float_32", "copy_half_64", "copy_half_32", "other"]
    assert re.findall(r"func\.func @(\w+)", printed) == names


def test_all_kernels_of_a_file_are_checked(folder: Path) -> None:
    (folder / "k.cpp").write_text(SEVERAL, encoding="utf-8")
    assert command("pto-opt k.cpp -DLOCKED=0").exit_code == 0
    result = command("pto-opt k.cpp -DLOCKED=64")
    line = line_of(SEVERAL, "set_ctrl")
    errors = [one for one in result.stderr.decode().splitlines() if "error" in one]
    assert result.exit_code == 1
    assert [one[: one.index(" has")] for one in errors[:-1]] == [f"k.cpp:{line}:5: error: set_ctrl"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("nope", "the file has no kernel nope"),
        ("plus<float, 64, 3>", "the arguments of plus<float, 64, 3> are wrong: they do not fit its parameters"),
        ("plus<nope, 3>", "the arguments of plus<nope, 3> are wrong: use of undeclared identifier 'nope'"),
    ],
)
def test_entry_that_is_none_is_an_error_of_the_command_line(folder: Path, entry: str, message: str) -> None:
    text = """#include <pto/pto-inst.hpp>
    __global__ AICORE void one(__gm__ int *x) { x[0] = 1; }
    template <typename T, int N> __global__ AICORE void plus(__gm__ T *x) { x[0] = N; }
    """
    (folder / "k.cpp").write_text(text, encoding="utf-8")
    result = run_command("pto-opt", ["k.cpp", "--entry", entry])
    assert result.stderr.decode() == (
        f"error: --entry: {message} [cpp-option]\n  help: name one: --entry one, --entry 'plus<...>'\n1 error\n"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-DMORE", f"the file has several kernels|name one: {COPIES}, --entry other"),
        ("--entry copy", f"the file launches the template copy with several lists of arguments|name one: {COPIES}"),
    ],
)
def test_run_of_one_of_several_kernels_names_them(folder: Path, options: str, message: str) -> None:
    (folder / "k.cpp").write_text(SEVERAL, encoding="utf-8")
    result = command(f"pto-run k.cpp --auto -DLOCKED=0 {options}")
    assert result.exit_code == 1
    for part in message.split("|"):
        assert part in result.stderr.decode()
    for entry in re.findall(r"--entry '(.*?)'", message):
        assert run_command("pto-run", ["k.cpp", "--auto", "-DLOCKED=0", "--entry", entry]).exit_code == 0


def test_template_that_is_launched_once_needs_no_arguments(folder: Path) -> None:
    text = SEVERAL.replace("template void launch<half>", "//").replace("  my::copy<T, 32>", "  //")
    (folder / "k.cpp").write_text(text, encoding="utf-8")
    for entry in ("copy", "my::copy"):
        result = command(f"pto-run k.cpp --auto -DLOCKED=0 --entry {entry}")
        assert (result.exit_code, "f32 64" in result.stdout.decode()) == (0, True)


@pytest.mark.parametrize(
    ("included", "outside", "place"),
    [
        ("", '#include "/etc/passwd"\n', "k.cpp:2:10"),
        ("a.h", '#include "/etc/passwd"\n', "/a.h:3:10"),
        ("", '#define HDR "/etc/passwd"\n#include HDR\n', "k.cpp:3:10"),
        ("a.h", '#define HDR "/etc/passwd"\n#include HDR\n', "/a.h:4:10"),
    ],
)
def test_include_from_outside_is_named_at_its_line(folder: Path, included: str, outside: str, place: str) -> None:
    (folder / "a.h").write_text("\n\n" + outside, encoding="utf-8")
    (folder / "k.cpp").write_text(f'\n#include "{included}"\n' if included else "\n" + outside, encoding="utf-8")
    result = command("pto-opt k.cpp")
    assert result.exit_code == 1
    assert f"{place}: error: '/etc/passwd' is outside of the project" in result.stderr.decode().splitlines()[0]


@pytest.mark.parametrize(("size", "value"), [(0, "2"), (4, "1")])
def test_array_without_elements_is_a_null_pointer(folder: Path, size: int, value: str) -> None:
    text = 'extern "C" __global__ AICORE void k(__gm__ float *x, __gm__ int *p) { x[0] = p == nullptr ? 2.f : 1.f; }'
    (folder / "k.cpp").write_text(f"#include <pto/pto-inst.hpp>\n{text}", encoding="utf-8")
    run = command(f"pto-run k.cpp --arg x=zeros:f32:1 --arg p=zeros:i32:{size} --dump")
    assert (run.exit_code, run.stderr) == (0, b"")
    assert f"[{value}.]" in run.stdout.decode()


def test_compiled_from_python(folder: Path) -> None:
    kernel = pto_dialect.compile_cpp("add.cpp")
    assert kernel.entry == "add_exp"
    x, z = np.ones(512, np.float32), np.zeros(512, np.float32)
    pto_dialect.run(kernel.module, {"x": x, "y": x, "z": z, "n": 2})
    np.testing.assert_allclose(z, np.exp(np.float32(2)), rtol=1e-6)
    with pytest.raises(ValueError, match=r"<kernel>.cpp:\d+:16: error: use of undeclared identifier 'd'"):
        pto_dialect.compile_cpp(KERNEL.replace("TADD(c, a, b)", "TADD(c, a, d)"))
    with pytest.raises(FileNotFoundError):
        pto_dialect.compile_cpp("missing.cpp")


def test_documented_calls_from_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "add_exp.cpp").write_text(KERNEL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    [shown] = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {"np": np, "pto_dialect": pto_dialect}
    exec(shown, names)
    np.testing.assert_allclose(names["z"], np.exp(np.float32(2)), rtol=1e-6)


def test_debugger_shows_the_cpp_text(folder: Path) -> None:
    arguments = "--arg x=ones:f32:512 --arg y=ones:f32:512 --arg z=zeros:f32:512 --arg n=2"
    assert command(f"pto-run add.cpp {arguments} --record run.pto-rec --quiet").exit_code == 0
    with recording.open("run.pto-rec") as run:
        assert (run.program.file, run.program.text) == ("add.cpp", KERNEL)
        [exp] = [one for one in run.statements if one.name == "pto.texp"]
        assert (exp.line, exp.col, exp.text) == (line_of(KERNEL, "TEXP"), 5, "TEXP(c, c);")
        [loop] = [one for one in run.statements if one.name == "scf.for"]
        assert (loop.line, loop.end_line) == (
            line_of(KERNEL, "for (int i"),
            line_of(KERNEL, "set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);\n  }"),
        )


def test_page_of_a_run_has_the_cpp_text(folder: Path) -> None:
    assert command("pto-run race.cpp --auto --sanitize --quiet --html page.html").exit_code == 3
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert '"name":"race.cpp","text":"#include' in page
    assert "in TEXP (line" in page


def test_launch_file_of_a_kernel(folder: Path) -> None:
    text = 'arguments = { x = "ones:f32:512", y = "ones:f32:512", z = "zeros:f32:512", n = 2 }\n'
    (folder / "add.launch.toml").write_text(text, encoding="utf-8")
    assert command("pto-run add.launch.toml --sanitize").exit_code == 0
    (folder / "race.launch.toml").write_text(f'program = "race.cpp"\n{text}', encoding="utf-8")
    result = command("pto-run race.launch.toml --sanitize")
    assert (result.exit_code, f"race.cpp:{line_of(KERNEL, 'TSTORE')}:5: error".encode() in result.stderr) == (3, True)


def test_folder_of_kernels_names_no_program(folder: Path) -> None:
    result = command("pto-opt --verify-only .")
    assert (result.exit_code, b"name the C++ kernels in it one by one" in result.stderr) == (2, True)


def test_cycles_name_operations_of_cpp(folder: Path) -> None:
    table = command("pto-run add.cpp --auto --quiet --cycles").stdout.decode()
    line = line_of(KERNEL, "TEXP")
    assert re.search(rf"^TEXP +{line} +V ", table, re.MULTILINE)
    assert "comes after TLOAD (line" in table
    assert "pto." not in table and "%a" not in table


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"\xff\xbe", "k.cpp:1:1: error: the input is not UTF-8 text, found byte 0xff"), (b"a\0b", "NUL character")],
)
def test_file_that_is_no_text_has_one_error(folder: Path, data: bytes, message: str) -> None:
    (folder / "k.cpp").write_bytes(data)
    result = command("pto-opt --verify-only k.cpp")
    assert result.exit_code == 1
    assert message in result.stderr.decode() and result.stderr.decode().endswith("1 error\n")


@pytest.mark.parametrize(("n", "message"), [(10, "n is small"), (1, "n > 2")])
def test_assertion_says_its_message_or_its_condition(folder: Path, n: int, message: str) -> None:
    text = """#include <pto/pto-inst.hpp>
    __global__ AICORE void one(__gm__ int *x, int n) { PTO_ASSERT(n < 9, "n is small"); PTO_ASSERT(n > 2); x[0] = n; }
    """
    (folder / "k.cpp").write_text(text, encoding="utf-8")
    result = run_command("pto-run", ["k.cpp", "--arg", "x=zeros:i32:4", "--arg", f"n={n}"])
    assert f"error: {message} [assertion]" in result.stderr.decode()


def test_documented_output(folder: Path) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    (folder / "add_exp.cpp").write_text(KERNEL.replace(WAIT, ""), encoding="utf-8")
    found = command("pto-run add_exp.cpp --auto --sanitize").stderr.decode()
    for shown in re.findall(r"```text\n\.\.\.\n(.*?)```", text, re.DOTALL):
        assert shown in found
    (folder / "add_exp.cpp").write_text(KERNEL, encoding="utf-8")
    printed = command("pto-opt add_exp.cpp --emit cpp").stdout.decode()
    [loop] = re.findall(r"```cpp\n(for \(int64_t.*?)  \.\.\.\n}\n```", text, re.DOTALL)
    assert "".join(f"  {line}\n" for line in loop.splitlines()) in printed
