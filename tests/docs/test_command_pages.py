"""Each sub-command of ``pto`` has a page with its help, and help names every pass, stage and value of an option."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

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


@pytest.mark.parametrize("name", SUBCOMMANDS)
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
