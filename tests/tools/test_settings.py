"""Settings of projects in the commands."""

from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pto_dialect.driver.project.settings import read_project
from pto_dialect.driver.project.settings_path import settings_file

FLAG = 'func.func @f() attributes {pto.entry} {\n  pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]\n  return\n}\n'


def command(name: str, *args: object) -> Result:
    settings_file.cache_clear()
    read_project.cache_clear()
    return CliRunner().invoke(import_module(f"pto_dialect.tools.{name}").main, [*map(str, args)])


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "old").mkdir()
    for name in ("x.pto", "old/y.pto"):
        (tmp_path / name).write_text(FLAG)
    (tmp_path / "pto.toml").write_text(
        'deny = ["sync-unpaired"]\n[folder."old"]\nallow = ["sync-unpaired"]\n[format]\ncolumns = 30\n'
    )
    return tmp_path / "x.pto"


def test_each_folder_has_its_own_settings(program: Path) -> None:
    told = command("pto_opt", "--verify-only", program.parent)
    assert told.exit_code == 1
    assert "x.pto:2:3: error: flag" in told.stderr and "y.pto" not in told.stderr
    assert command("pto_opt", "--verify-only", program.parent / "old" / "y.pto").output == ""
    assert command("pto_opt", "--verify-only", "--allow", "sync-unpaired", program).output == ""


def test_no_config_does_without(program: Path) -> None:
    told = command("pto_opt", "--verify-only", "--no-config", program)
    assert told.exit_code == 0 and "warning: flag" in told.stderr


def test_runs_follow_the_settings(program: Path) -> None:
    assert "error: flag" in command("pto_run", program).stderr
    assert "warning: flag" in command("pto_run", "--no-config", program).stderr


def test_layout_follows_the_settings(program: Path) -> None:
    told = command("pto_fmt", "--diff", program)
    assert '\n+  pto.set_flag["PIPE_MTE2",\n' in told.stdout
    assert command("pto_fmt", "--diff", "--no-config", program).stdout == ""
    assert command("pto_opt", "--no-config", "--format", "--check", program).exit_code == 0
    assert command("pto_opt", "--allow", "sync-unpaired", "--format", "--check", program).exit_code == 1


@pytest.mark.parametrize("name", ["pto_opt", "pto_run", "pto_fmt"])
def test_settings_that_are_wrong_end_the_command(program: Path, name: str) -> None:
    (program.parent / "pto.toml").write_text("weror = true\n")
    told = command(name, program)
    assert told.exit_code == 2 and told.stdout == ""
    assert "pto.toml:1:1: error: unknown key 'weror' [config-invalid]" in told.stderr


@pytest.mark.parametrize("options", [("--verify-only",), ("-p", "check-sync", "-o", "out.pto")])
def test_the_comment_in_the_guide_suppresses_the_finding(tmp_path: Path, monkeypatch, options: tuple[str, ...]) -> None:
    monkeypatch.chdir(tmp_path)
    guide = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
    program = guide.split("```mlir\n")[1].split("```")[0]
    Path("x.pto").write_text(program)
    assert command("pto_opt", *options, "x.pto").output == ""
    Path("x.pto").write_text(program.replace("allow", "allowed"))
    assert "1 warning" in command("pto_opt", *options, "x.pto").output
