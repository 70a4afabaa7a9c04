"""Where pto-opt writes printed modules."""

from pathlib import Path

import pytest

from run_lines import CommandResult, run_command

GOOD = "func.func @f() {\n  return\n}\n"
PRINTED = "module {\n  func.func @f() {\n    return\n  }\n}\n"
WRONG = "func.func @f() {\n  return %x : i32\n}\n"
BEFORE = "// as it was\n"


def opt(*arguments: object, stdin: str = "") -> CommandResult:
    result = run_command("pto-opt", [str(argument) for argument in arguments], stdin.encode())
    assert not result.crashed, result.stderr.decode()
    return result


def stderr(result: CommandResult) -> str:
    return result.stderr.decode()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in" / "f.pto"
    path.parent.mkdir()
    path.write_text(GOOD)
    return path


def test_a_file_is_written_instead_of_standard_output(source: Path, tmp_path: Path) -> None:
    result = opt(source, "-o", tmp_path / "out.pto")
    assert (result.exit_code, result.stdout, result.stderr) == (0, b"", b"")
    assert (tmp_path / "out.pto").read_text() == PRINTED
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out.pto"]


def test_a_dash_is_standard_output(source: Path) -> None:
    assert opt(source, "-o", "-").stdout.decode() == PRINTED


@pytest.mark.parametrize("way", ["itself", "link", "folder"])
def test_the_input_is_never_the_output(source: Path, tmp_path: Path, way: str) -> None:
    before = source.read_text()
    link = tmp_path / "link.pto"
    link.symlink_to(source)
    output = {"itself": source, "link": link, "folder": f"{source.parent}/"}[way]
    result = opt(source, "-o", output)
    assert result.exit_code == 2 and f"-o would overwrite '{source}', which is read" in result.stderr.decode()
    assert source.read_text() == before


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (WRONG, []),
        (GOOD + "// -----\n" + WRONG, ["--split-input-file"]),
        (GOOD + "// expected-error {{x}}\n", ["--verify-diagnostics"]),
    ],
)
def test_a_file_is_not_touched_when_there_are_errors(tmp_path: Path, text: str, options: list[str]) -> None:
    output = tmp_path / "out.pto"
    for existing in (False, True):
        if existing:
            output.write_text(BEFORE)
        result = opt("-", "-o", output, *options, stdin=text)
        assert (result.exit_code, result.stdout) == (1, b"")
        assert output.exists() == existing
    assert output.read_text() == BEFORE


def test_all_programs_of_a_file_are_written(tmp_path: Path) -> None:
    opt("-", "-o", tmp_path / "out.pto", "--split-input-file", stdin=GOOD + "// -----\n" + GOOD)
    assert (tmp_path / "out.pto").read_text() == PRINTED + "// -----\n" + PRINTED


def test_a_folder_that_does_not_exist(source: Path, tmp_path: Path) -> None:
    result = opt(source, "-o", tmp_path / "none" / "out.pto")
    assert result.exit_code == 2
    assert f"there is no folder '{tmp_path / 'none'}'" in stderr(result)


def test_a_file_that_cannot_be_written(source: Path) -> None:
    result = opt(source, "-o", source.parent / "f.pto" / "out.pto")
    assert result.exit_code == 2
    full = Path("/dev/full")
    if full.exists():
        result = opt(source, "-o", full)
        assert (result.exit_code, stderr(result)) == (
            2,
            "error: cannot write '/dev/full': No space left on device\n",
        )


def test_nothing_to_write(source: Path, tmp_path: Path) -> None:
    result = opt(source, "--verify-only", "-o", tmp_path / "out.pto")
    assert result.exit_code == 2
    assert "--verify-only prints no module" in stderr(result)


# ---------------------------------------------------------------- folders


def test_one_program_into_a_folder(source: Path, tmp_path: Path) -> None:
    (tmp_path / "existing").mkdir()
    for folder in (f"{tmp_path}/existing", f"{tmp_path}/new/"):
        assert opt(source, "-o", folder).exit_code == 0
        assert Path(folder, "f.pto").read_text() == PRINTED
    opt("-", "-o", tmp_path / "existing", stdin=GOOD)
    assert (tmp_path / "existing" / "stdin.pto").read_text() == PRINTED


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_many_programs_into_a_folder(source: Path, tmp_path: Path, jobs: str) -> None:
    (source.parent / "sub").mkdir()
    (source.parent / "sub" / "g.pto").write_text(GOOD)
    (source.parent / "wrong.pto").write_text(WRONG)
    other = tmp_path / "h.pto"
    other.write_text(GOOD)
    result = opt(source.parent, other, "-o", f"{tmp_path}/out/", "-j", jobs)
    assert (result.exit_code, result.stdout) == (1, b"")
    written = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.*")}
    assert written == {"f.pto", "sub/g.pto", "h.pto"}
    assert (tmp_path / "out" / "sub" / "g.pto").read_text() == PRINTED


@pytest.mark.parametrize("output", ["-", "file.pto"])
def test_many_programs_need_a_folder(source: Path, tmp_path: Path, output: str) -> None:
    target = output if output == "-" else str(tmp_path / output)
    result = opt(source.parent, "-o", target)
    assert result.exit_code == 2
    assert "several inputs cannot go to" in stderr(result)
    assert not (tmp_path / output).exists()


def test_two_programs_for_one_location(source: Path, tmp_path: Path) -> None:
    other = tmp_path / "f.pto"
    other.write_text(GOOD)
    result = opt(source, other, "-o", f"{tmp_path}/out/")
    assert result.exit_code == 2
    assert f"'{source}' and '{other}' would both be written to 'f.pto'" in stderr(result)


def test_a_folder_whose_name_a_file_has(source: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "f.pto").mkdir(parents=True)
    result = opt(source.parent, "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert "error: cannot write" in stderr(result)
