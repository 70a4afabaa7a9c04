"""Each sub-command of ``pto`` has a page with its help, and help names every pass, stage and value of an option."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from groups import in_groups

from pto_dialect.passes.registry import PASS_TABLE
from pto_dialect.passes.stages import STAGES
from pto_dialect.tools.subcommands import SUBCOMMANDS  # pyright: ignore[reportMissingImports]

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "docs" / "site"))
PAGES = import_module("command_pages")
MODULES = sorted({each.module for each in SUBCOMMANDS.values()})


def test_each_sub_command_has_a_current_page() -> None:
    written = {path.stem: path.read_text(encoding="utf-8") for path in PAGES.FOLDER.glob("*.md")}
    assert written == PAGES.pages(), "python docs/site/command_pages.py writes the pages again"


@in_groups("name", SUBCOMMANDS)
def test_page_has_an_example_and_a_guide(name: str) -> None:
    guide = PAGES.GUIDES[name]
    assert guide.example.startswith(f"pto {name}") and (ROOT / "docs" / guide.page).is_file()


def test_help_names_every_pass_and_stage() -> None:
    told = CliRunner().invoke(import_module("pto_dialect.tools.pto_opt").main, ["--help"], terminal_width=200).stdout
    rows = {line.split()[0] for line in told.splitlines() if line.startswith("  ") and line.split()}
    assert {*PASS_TABLE, *STAGES, "usual", "all"} <= rows


@pytest.mark.parametrize("module", MODULES)
def test_help_names_every_value_of_a_choice(module: str) -> None:
    command: click.Command = import_module(f"pto_dialect.tools.{module}").main
    told = CliRunner().invoke(command, ["--help"], terminal_width=200).stdout
    for parameter in command.params:
        if isinstance(parameter.type, click.Choice) and not getattr(parameter, "hidden", False):
            for value in parameter.type.choices:
                assert str(value) in told, (parameter.name, value)


@pytest.mark.parametrize("module", MODULES)
def test_json_has_one_spelling(module: str) -> None:
    """Options that print JSON take ``--output-format``; other spellings are hidden, or a value of another option."""
    command: click.Command = import_module(f"pto_dialect.tools.{module}").main
    shown = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    assert not [one for one in shown if "--json" in one.opts]
    if any("json" in getattr(one.type, "choices", ()) for one in shown):
        assert any("--output-format" in one.opts for one in shown)


@pytest.mark.parametrize(
    ("name", "has", "lacks"),
    [
        ("check", "--verify-diagnostics", "--print-op-generic"),
        ("fix", "--unsafe", "--lower"),
        ("lower", "--lower", "--fix"),
        ("explain", "Usage: pto explain [OPTIONS] WORD [PART]...", "--target"),
        ("launch", "--results", "--arg "),
        ("debug", "--break-on-finding", "--results"),
    ],
)
def test_help_of_a_sub_command_lists_the_options_of_its_task(name: str, has: str, lacks: str) -> None:
    text = (PAGES.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert has in text and f" {lacks}" not in text.replace("pto opt --list", "")


@pytest.mark.parametrize("name", ["check", "fix", "lower", "explain", "launch", "debug"])
def test_help_of_a_sub_command_names_options_of_its_command(name: str) -> None:
    command: click.Command = import_module(f"pto_dialect.tools.{SUBCOMMANDS[name].module}").main
    context = command.make_context(f"pto {name}", [], resilient_parsing=True)
    own = import_module("pto_dialect.tools.subcommand_help").help_of(context)
    assert own.options <= {parameter.name for parameter in command.params} | {"server"}


def test_a_request_for_help_is_no_name_to_explain() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pto_dialect", "explain", "--help"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0 and done.stdout.startswith("Usage: pto explain [OPTIONS] WORD [PART]...\n")
