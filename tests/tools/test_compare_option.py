"""``pto-run --compare`` states where two runs part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from debug_dialogues import PROGRAM

from tools.pto_run import main


@pytest.fixture
def programs(tmp_path: Path) -> tuple[Path, Path]:
    one, other = tmp_path / "one.pto", tmp_path / "other.pto"
    one.write_text(PROGRAM, encoding="utf-8")
    other.write_text(PROGRAM.replace("pto.tadd ins", "pto.tmul ins"), encoding="utf-8")
    np.save(tmp_path / "a.npy", np.arange(64, dtype=np.float32))
    return one, other


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def values(folder: Path) -> tuple[str, ...]:
    return ("--entry", "k", "--arg", f"a={folder / 'a.npy'}", "--arg", "b=zeros:f32:64")


def test_the_first_operation_and_element(programs: tuple[Path, Path]) -> None:
    one, other = programs
    code, output = run(one, "--compare", other, *values(one.parent))
    lines = output.split("\n")
    assert code == 1
    # After the first doubling x holds 2i: the sum is 4i, the product 4i², equal for 0 and 1.
    assert lines[0] == "the runs part at %x[0, 2]: 8 and 16; 62 of 64 elements differ"
    assert lines[1] == f"#5 block 0 core V {one}:24 [%i = 0]"
    assert "pto.tadd" in lines[2]
    assert lines[3] == f"#5 block 0 core V {other}:24 [%i = 0]"
    assert "pto.tmul" in lines[4]
    assert lines[5] == "2 writes and 128 elements before that are the same"


def test_the_same_program_twice(programs: tuple[Path, Path]) -> None:
    code, output = run(programs[0], "--compare", programs[0], *values(programs[0].parent))
    assert (code, output) == (0, "no difference in 8 writes and 640 elements\n")


def test_two_targets(programs: tuple[Path, Path]) -> None:
    code, output = run(programs[0], "--compare", "target:a2a3", "--target", "a5", *values(programs[0].parent))
    assert code == 0
    assert "no difference in " in output


def test_tolerances(programs: tuple[Path, Path]) -> None:
    one, other = programs
    other.write_text(PROGRAM.replace("2.0 : f32", "2.001 : f32"), encoding="utf-8")
    assert run(one, "--compare", other, *values(one.parent))[0] == 1
    assert run(one, "--compare", other, *values(one.parent), "--rtol", "0.1")[0] == 0


def test_programs_without_common_names_are_compared_in_the_end(programs: tuple[Path, Path]) -> None:
    one, other = programs
    text = other.read_text(encoding="utf-8")
    for name in ("x", "t", "bp"):
        text = text.replace(f"%{name} ", f"%new_{name} ").replace(f"%{name},", f"%new_{name},")
        text = text.replace(f"%{name})", f"%new_{name})").replace(f"%{name}:", f"%new_{name}:")
    other.write_text(text, encoding="utf-8")
    code, output = run(one, "--compare", other, *values(one.parent))
    assert code == 1
    assert output.startswith("%b[1] is 64 in the end, and ")


def test_what_does_not_go_is_refused(programs: tuple[Path, Path], tmp_path: Path) -> None:
    for other, options, says in (
        (tmp_path / "gone.pto", (), "gone.pto"),
        ("target:a9", (), "target:a9"),
        (programs[1], ("--out", f"b={tmp_path / 'b.npy'}"), "--compare does not go with --out"),
        (programs[1], ("--debug",), "--compare does not go with --debug"),
    ):
        code, output = run(programs[0], "--compare", other, *values(tmp_path), *options)
        assert code in (1, 2)
        assert says in " ".join(output.split())
        assert "Traceback" not in output
