"""Options as users of MLIR's tools spell them: understood, or refused with what to use."""

from __future__ import annotations

from importlib import import_module

import click
import pytest
from click.testing import CliRunner, Result
from groups import in_groups

from tools.pto import main as PTO
from tools.spellings import REFUSED, flags_of, own_spelling
from tools.subcommands import SUBCOMMANDS

MAIN = import_module("pto_dialect.tools.pto_opt").main
PROGRAM = 'module attributes {pto.target_arch = "a5"} {\n  func.func @f() {\n    return\n  }\n}\n'


def opt(*arguments: str, text: str = PROGRAM) -> Result:
    return CliRunner().invoke(MAIN, [*arguments, "--no-cache", "-"], input=text, prog_name="pto-opt")


@pytest.mark.parametrize(
    "option", ["-verify-only", "-target=a5", "-print-op-generic", "-mlir-print-op-generic", "-stats", "-lower=memory"]
)
def test_one_dash_means_two(option: str) -> None:
    one, two = opt(option), opt(f"-{option}")
    assert (one.exit_code, one.stdout, one.stderr) == (0, two.stdout, "")


@pytest.mark.parametrize(
    "pipeline",
    [
        "canonicalize,cse",
        "builtin.module(canonicalize,cse)",
        "builtin.module(func.func(canonicalize,cse))",
        "builtin.module(canonicalize,func.func(cse),assign-memory{reuse=none})",
        "any(cse)",
    ],
)
@in_groups("option", ["-pass-pipeline=", "--pass-pipeline=", "-p", "--passes="])
def test_pipelines(option: str, pipeline: str) -> None:
    unused = PROGRAM.replace("    return", "    %c = arith.constant 3 : i64\n    return")
    result = opt(f"{option}{pipeline}", text=unused)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == PROGRAM


def test_a_pass_of_modules_inside_a_function() -> None:
    result = opt("-pass-pipeline=builtin.module(func.func(insert-sync))")
    assert result.exit_code == 2
    assert "insert-sync is a pass of modules: write builtin.module(insert-sync)" in result.stderr


@pytest.mark.parametrize("option", ["-cse", "--cse", "-canonicalize", "--assign-memory=reuse=none"])
def test_passes_are_no_options(option: str) -> None:
    name = option.lstrip("-").partition("=")[0]
    result = opt(option)
    assert result.exit_code == 2
    assert f"{name} is a pass: write -p {name}" in result.stderr


@pytest.mark.parametrize("name", REFUSED)
@in_groups("form", ["-{}", "--{}", "--{}=x"])
def test_other_options_of_mlir_have_a_reason(name: str, form: str) -> None:
    result = opt(form.format(name))
    assert result.exit_code == 2
    assert REFUSED[name] in " ".join(result.stderr.split())


def test_no_refused_option_exists() -> None:
    own = {name.lstrip("-") for parameter in MAIN.params for name in (*parameter.opts, *parameter.secondary_opts)}
    assert not own & REFUSED.keys()


COMMANDS = [*SUBCOMMANDS, "completion"]


@in_groups("name", COMMANDS)
def test_help_with_one_dash(name: str) -> None:
    command = PTO.get_command(click.Context(PTO), name)
    assert command is not None
    one, two = (CliRunner().invoke(command, [option]) for option in ("-help", "--help"))
    assert (one.exit_code, one.output) == (0, two.output)
    assert one.output.startswith("Usage: ")


def test_one_dash_before_a_sub_command() -> None:
    assert CliRunner().invoke(PTO, ["-help"]).output == CliRunner().invoke(PTO, ["--help"]).output
    assert CliRunner().invoke(PTO, ["-version"]).output.startswith("pto ")


@pytest.mark.parametrize(
    ("words", "whole", "near"),
    [
        (["check", "-verify-onyl"], "-verify-onyl", "--verify-only"),
        (["run", "-sanitise", "x.pto"], "-sanitise", "--sanitize"),
        (["tune", "-limti=3"], "-limti", "--limit"),
        (["sweep", "show", "-plott"], "-plott", "--plot"),
        (["-verison"], "-verison", "--version"),
        (["check", "--targte"], "--targte", "--target"),
    ],
)
def test_unknown_options_are_named_as_a_whole(words: list[str], whole: str, near: str) -> None:
    result = CliRunner().invoke(PTO, words)
    assert result.exit_code == 2
    assert f"'{whole}'" in result.output
    assert f"'{near}'" in result.output.partition(whole)[2]


def test_a_letter_that_is_no_option() -> None:
    assert "'-e'" in opt("-e").output


def test_a_flag_stays_one_where_another_command_has_a_value() -> None:
    """``--prove`` takes seconds in pto-opt and nothing in pto optimize."""
    assert own_spelling("--prove", {"--prove"}) == "--prove=60"
    command = PTO.get_command(click.Context(PTO), "optimize")
    assert command is not None
    assert own_spelling("--prove", {"--prove"}, flags_of(command)) == "--prove"
