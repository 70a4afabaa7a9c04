"""``pto-opt --fix`` and ``--format``."""

from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

WRONG = """// kept: arith.add %a %b
func.func @f(%a: i32) {
  %x = arith.add   %a, %a : i32   // kept as well
  %y = arith.addi %a %x : i32

  return
}
"""
RIGHT = WRONG.replace("arith.add  ", "arith.addi  ").replace("%a %x", "%a, %x")
GUESS = """func.func @f(%a: i32, %n: index) {
  %x = arith.addi %n, %a : index
  return
}
"""
FLAGS = """module attributes {pto.target_arch = "a5"} {
  func.func @f(%x: !pto.partition_tensor_view<16x64xf32>, %y: !pto.partition_tensor_view<16x64xf32>) {
    %a = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>
    pto.tload ins(%x : !pto.partition_tensor_view<16x64xf32>) outs(%a : !pto.tile_buf<vec, 16x64xf32>)
    pto.texp ins(%a : !pto.tile_buf<vec, 16x64xf32>) outs(%a : !pto.tile_buf<vec, 16x64xf32>)
    pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    pto.tstore ins(%a : !pto.tile_buf<vec, 16x64xf32>) outs(%y : !pto.partition_tensor_view<16x64xf32>)
    return
  }
}
"""


def opt(*args: str, input: str | None = None) -> Result:
    return CliRunner().invoke(import_module("pto_dialect.tools.pto_opt").main, [*args], input=input)


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    file = tmp_path / "x.pto"
    file.write_text(WRONG)
    return file


def test_files_are_rewritten_in_place_and_comments_and_layout_stay(wrong: Path) -> None:
    told = opt("--fix", str(wrong))
    assert (told.exit_code, told.stdout) == (0, "")
    assert told.stderr == (
        f"{wrong}: 2 fixes made\n  line 3: replace 'arith.add' by 'arith.addi'\n  line 4: insert ','\n"
    )
    assert wrong.read_text() == RIGHT
    assert sorted(path.name for path in wrong.parent.iterdir()) == ["x.pto"]
    again = opt("--fix", str(wrong))
    assert (again.exit_code, again.output, wrong.read_text()) == (0, "", RIGHT)


def test_standard_input_goes_to_standard_output() -> None:
    told = opt("--fix", "-", input=WRONG)
    assert (told.exit_code, told.stdout) == (0, RIGHT)


def test_line_ends_stay(wrong: Path) -> None:
    wrong.write_bytes(WRONG.replace("\n", "\r\n").encode())
    assert opt("--fix", str(wrong)).exit_code == 0
    assert wrong.read_bytes() == RIGHT.replace("\n", "\r\n").encode()


def test_diff_and_check_change_nothing(wrong: Path) -> None:
    told = opt("--fix", "--diff", str(wrong))
    assert told.exit_code == 0
    changed = [line for line in told.stdout.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert changed == [
        "-  %x = arith.add   %a, %a : i32   // kept as well",
        "-  %y = arith.addi %a %x : i32",
        "+  %x = arith.addi   %a, %a : i32   // kept as well",
        "+  %y = arith.addi %a, %x : i32",
    ]
    checked = opt("--fix", "--check", str(wrong))
    assert checked.exit_code == 1 and f"{wrong}: would change\n" in checked.stderr
    assert wrong.read_text() == WRONG


def test_guesses_are_made_only_on_request(tmp_path: Path) -> None:
    file = tmp_path / "x.pto"
    file.write_text(GUESS)
    told = opt("--fix", str(file))
    assert told.exit_code == 1 and "but index is stated here" in told.stderr and file.read_text() == GUESS
    assert opt("--fix", "--unsafe", str(file)).exit_code == 0
    assert "%a_index = arith.index_cast %a : i32 to index\n  %x = arith.addi %n, %a_index" in file.read_text()


def test_flags_that_are_missing_are_put_in(tmp_path: Path) -> None:
    file = tmp_path / "x.pto"
    file.write_text(FLAGS)
    passes = ("-p", "verify-structure,check-sync")
    assert opt("--fix", *passes, str(file)).exit_code == 1
    assert opt("--fix", "--unsafe", *passes, str(file)).exit_code == 0
    lines = [line.strip() for line in file.read_text().splitlines()]
    place = next(n for n, line in enumerate(lines) if line.startswith("pto.texp"))
    assert lines[place - 2 : place] == [
        f'pto.{end}_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]' for end in ("set", "wait")
    ]


@pytest.mark.parametrize("end", ["set", "wait"])
def test_the_other_end_of_a_flag_is_put_in(tmp_path: Path, end: str) -> None:
    file = tmp_path / "x.pto"
    line = f'    pto.{end}_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]\n'
    file.write_text(FLAGS.replace(line, ""))
    assert opt("--werror", "--fix", "--unsafe", str(file)).exit_code == 0
    assert file.read_text() == FLAGS


def test_programs_of_a_file_are_fixed_one_by_one(tmp_path: Path) -> None:
    file = tmp_path / "x.pto"
    purpose = "// expected-error@+1 {{unknown operation}}\nfoo.bar\n"
    file.write_text(f"{WRONG}// -----\n{purpose}// -----\n{WRONG}")
    told = opt("--fix", "--split-input-file", str(file))
    assert file.read_text() == f"{RIGHT}// -----\n{purpose}// -----\n{RIGHT}"
    assert "  line 15: insert ','\n" in told.stderr


def test_many_comments_of_another_language_are_one_fix(tmp_path: Path) -> None:
    file = tmp_path / "x.pto"
    file.write_text('# one\nfunc.func @f() { # two "#"\n  # three\n  return\n}\n')
    assert opt("--fix", str(file)).exit_code == 0
    assert file.read_text() == '// one\nfunc.func @f() { // two "#"\n  // three\n  return\n}\n'


def test_a_file_with_many_mistakes_is_fixed(tmp_path: Path) -> None:
    file = tmp_path / "x.pto"
    lines = "".join(
        f"  %x{n} = arith.{'add' if n % 2 else 'addi'} %a{' ' if n % 3 else ', '}%a : i32\n" for n in range(40)
    )
    file.write_text(f"func.func @f(%a: i32) {{\n{lines}  return\n}}\n")
    assert opt("--fix", str(file)).exit_code == 0


def test_a_difference_alone_is_that_of_the_fixes(wrong: Path) -> None:
    alone, fixes = opt("--diff", str(wrong)), opt("--fix", "--diff", str(wrong))
    assert (alone.exit_code, alone.stdout, alone.stderr) == (fixes.exit_code, fixes.stdout, fixes.stderr)
    layout = opt("--format", "--diff", str(wrong))
    assert "arith.addi" not in "".join(line for line in layout.stdout.splitlines() if line.startswith("+"))
    assert wrong.read_text() == WRONG


def test_format_lays_programs_out_after_the_fixes(wrong: Path) -> None:
    assert opt("--format", str(wrong)).exit_code == 1
    assert wrong.read_text() == WRONG
    assert opt("--fix", "--format", str(wrong)).exit_code == 0
    assert "  %x = arith.addi %a, %a : i32  // kept as well\n" in wrong.read_text()
    assert opt("--format", "--check", str(wrong)).exit_code == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--unsafe",), "--unsafe has no meaning without --fix"),
        (("--check",), "--check has no meaning without --fix or --format"),
        (("--diff", "--emit", "cpp"), "it does not go with --diff"),
        (("--format", "--unsafe"), "--unsafe has no meaning without --fix"),
        (("--fix", "-o", "y.pto"), "--fix rewrites the inputs; it does not go with -o"),
        (("--format", "--stats"), "--format rewrites the inputs; it does not go with --stats"),
    ],
)
def test_options_that_do_not_go_together(wrong: Path, args: tuple[str, ...], message: str) -> None:
    told = opt(*args, str(wrong))
    assert told.exit_code == 2 and message in told.stderr
