"""``pto-opt --emit cpp``: what it writes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from run_lines import CommandResult, run_command

PROGRAM = """\
module attributes {pto.target_arch = "a2a3"} {
  func.func @k() attributes {pto.entry} {
    %a = pto.alloc_tile : !pto.tile_buf<vec, 8x64xf32>
    pto.tabs ins(%a : !pto.tile_buf<vec, 8x64xf32>) outs(%a : !pto.tile_buf<vec, 8x64xf32>)
    return
  }
}
"""
WITHOUT_FORM = """\
module attributes {pto.target_arch = "a5"} {
  func.func @k() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    pto.vecscope {
    }
    return
  }
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "k.pto").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "scope.pto").write_text(WITHOUT_FORM, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(line: str) -> CommandResult:
    name, *arguments = line.split()
    return run_command(name, arguments)


def test_text_of_a_program(folder: Path) -> None:
    done = command("pto-opt k.pto --emit cpp")
    assert done.exit_code == 0
    assert done.stdout.decode().splitlines() == [
        "// Made by pto-opt --emit cpp from k.pto, for a2a3.",
        "",
        "#include <pto/pto-inst.hpp>",
        "using namespace pto;",
        "",
        "using Vec_f32_8x64 = Tile<TileType::Vec, float, 8, 64>;",
        "",
        'extern "C" __global__ AICORE void k() {',
        "  Vec_f32_8x64 a;",
        "  TABS(a, a);",
        "}",
    ]


def test_lowered_program_has_addresses(folder: Path) -> None:
    done = command("pto-opt k.pto --lower --emit cpp")
    assert (done.exit_code, done.stdout.count(b"TASSIGN(a, 0x0);")) == (0, 1)


def test_files_of_a_folder_end_in_cpp(folder: Path) -> None:
    (folder / "in").mkdir()
    (folder / "in/one.pto").write_text(PROGRAM, encoding="utf-8")
    assert command("pto-opt in --emit cpp -o out/").exit_code == 0
    assert [path.name for path in (folder / "out").iterdir()] == ["one.cpp"]


def test_own_text_is_replaced_and_a_kernel_of_the_user_is_not(folder: Path) -> None:
    assert command("pto-opt k.pto --emit cpp -o k.cpp").exit_code == 0
    assert command("pto-opt k.pto --emit cpp -o k.cpp").exit_code == 0
    written = "#include <pto/pto-inst.hpp>\n// my kernel\n"
    (folder / "mine.cpp").write_text(written, encoding="utf-8")
    done = command("pto-opt k.pto --emit cpp -o mine.cpp")
    assert (done.exit_code, (folder / "mine.cpp").read_text()) == (2, written)


def test_operation_without_a_form_is_an_error_and_writes_nothing(folder: Path) -> None:
    done = command("pto-opt scope.pto --emit cpp -o scope.cpp")
    assert done.exit_code == 1
    assert done.stderr.decode().startswith("scope.pto:3:5: error: pto.vecscope has no counterpart in C++ [cpp-emit]\n")
    assert not (folder / "scope.cpp").exists()


@pytest.mark.parametrize("option", ["--print-op-generic", "--print-debuginfo", "--stats", "--verify-only", "--format"])
def test_options_about_the_form_of_pto_text_are_refused(folder: Path, option: str) -> None:
    done = command(f"pto-opt k.pto --emit cpp {option}")
    assert done.exit_code == 2
    assert f"--emit cpp prints C++ text; it does not go with {option}" in done.stderr.decode()
