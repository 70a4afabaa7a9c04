"""The command ``pto prove``: the order of the pipes for all arguments and numbers of iterations."""

from __future__ import annotations

import sys
from typing import Any

import click

from .command_line import (
    NumberRange,
    PtoCommand,
    check_settings,
    color_option,
    no_config_option,
    output_format_option,
    read_stdin,
    stated_options,
    version_option,
    wants_color,
    write_stderr,
)
from .cpp_options import cpp_options, with_cpp
from .shell_words import matching
from .target_choice import TargetChoice

NOT_INSTALLED, UNDECIDED = 2, 4
"""Exit codes: an optional package is missing; a function has no certificate."""


@click.command(cls=PtoCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("paths", metavar="[FILE|DIR|-]...", nargs=-1, type=click.Path(), callback=matching)
@click.option("--target", type=TargetChoice(), help="Chip, if the program states none or another one.")
@click.option(
    "--assume", "assumptions", metavar="CONDITION", multiple=True,
    help="A condition on arguments that each call satisfies, such as 'n % 16 == 0'.",
)  # fmt: skip
@click.option(
    "--seconds", type=NumberRange(min=0.01), default=2.0, show_default=True,
    help="Processor time for each function; one that needs more is undecided.",
)  # fmt: skip
@click.option("--replay/--no-replay", "replays", default=True, show_default=True, help="Run each witness.")
@click.option(
    "--certificate", "certificate", metavar="FILE", type=click.Path(dir_okay=False),
    help="Write certificates of the proofs, one a line.",
)  # fmt: skip
@click.option(
    "--check", "check", metavar="FILE", type=click.Path(),
    help="Prove nothing: check certificates of a program.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Replace a file that holds no certificates.")
@click.option(
    "--allow-undecided", is_flag=True, help="Exit with 0 although functions are undecided, or have no certificate."
)
@click.option("--entry", metavar="NAME", help="The only function that is proven.")
@no_config_option
@cpp_options
@output_format_option("Form of the verdicts.", ("text", "json", "sarif"))
@color_option
@version_option("pto prove", "xDSL")
@click.pass_context
def main(ctx: click.Context, paths: tuple[str, ...], **given: Any) -> None:
    """Prove the order of the pipes in each function, for all arguments and numbers of iterations.

    A function is proven, refuted (with the smallest call in which something is wrong), or undecided. The last line has
    the number of functions in each class. Each FILE is one program; a DIR means all .pto files in it; - is standard
    input.

    Exit code: 0 if all functions are proven, 1 if a program has errors or a certificate is refused, 2 if the command
    line is wrong, 3 if a function is refuted, 4 if one is undecided or, with --check, has no certificate.
    """
    from pto_dialect.driver.inputs import InputError, collect  # deferred: start-up
    from pto_dialect.driver.prove.order import as_json, as_sarif, prove  # deferred: start-up
    from pto_dialect.driver.report import render  # deferred: start-up
    from pto_dialect.prove.assumed import AssumptionError  # deferred: start-up
    from pto_dialect.prove.functions import EXTRA  # deferred: start-up
    from pto_dialect.prove.relations import library  # deferred: start-up

    stated = None if given["no_config"] else stated_options(ctx)
    if given["check"] is not None:
        ctx.exit(_check(ctx, given, paths, stated))
    try:
        library()
    except ModuleNotFoundError:
        write_stderr(f"error: pto prove needs the package islpy: {EXTRA}\n")
        ctx.exit(NOT_INSTALLED)
    if not paths and sys.stdin is not None and sys.stdin.isatty():
        raise click.UsageError("name a file, a folder, or - for standard input", ctx)
    try:
        inputs = with_cpp(ctx, collect(paths or ("-",), read_stdin), given, given["entry"], every=True)
        check_settings(ctx, inputs, given["no_config"], given["color"], given["format"])
        output = given["certificate"]
        if output is not None and len(inputs) > 1:
            raise click.UsageError("--certificate takes the certificates of one program", ctx)
        if output == "-":
            raise click.UsageError("--certificate takes the name of a file, and standard output has the verdicts", ctx)
        proof = prove(
            inputs, given["target"], given["assumptions"], given["seconds"], given["replays"], output is not None,
            given["entry"], stated,
        )  # fmt: skip
    except (InputError, AssumptionError) as error:
        raise click.UsageError(str(error), ctx) from None
    except OSError as error:
        raise click.UsageError(f"cannot read standard input: {error.strerror or error}", ctx) from None
    if given["entry"] is not None and not proof.verdicts and not proof.errors:
        raise click.UsageError(f"there is no function '{given['entry']}' that no other one calls", ctx)
    for text in proof.unknown:
        write_stderr(f"warning: {text}\n")
    if output is not None:
        _write(ctx, output, "".join(one.line for one in proof.certificates if one is not None), given["force"])
    if given["format"] == "text":
        found = tuple(proof.diagnostics)
        click.echo(render(found, wants_color(given["color"])) if found else "", nl=False)
        click.echo(proof.summary)
    else:
        click.echo(as_json(proof, given["assumptions"]) if given["format"] == "json" else as_sarif(proof), nl=False)
        if proof.errors:
            write_stderr(render(tuple(proof.errors), wants_color(given["color"])))
        write_stderr(proof.summary + "\n")
    ctx.exit(proof.exit_code(given["allow_undecided"]))


def _write(ctx: click.Context, path: str, text: str, force: bool) -> None:
    """Writes certificates."""
    from pto_dialect.diagnostics.file_kinds import forcing  # deferred: start-up
    from pto_dialect.diagnostics.files import atomic_write  # deferred: start-up

    try:
        with forcing(force):
            atomic_write(path, text, "certificate")
    except OSError as error:
        raise click.UsageError(f"cannot write '{path}': {error.strerror or error}", ctx) from None


def _check(ctx: click.Context, given: dict[str, Any], paths: tuple[str, ...], stated: frozenset[str] | None) -> int:
    """Checks certificates; the exit code."""
    from pto_dialect.driver.inputs import InputError, collect  # deferred: start-up
    from pto_dialect.driver.prove.certificates import checked  # deferred: start-up
    from pto_dialect.driver.report import render  # deferred: start-up

    certificates, color = given["check"], wants_color(given["color"])
    try:
        inputs = collect((certificates,), read_stdin), collect(paths, read_stdin)
    except InputError as error:
        raise click.UsageError(str(error), ctx) from None
    if [len(one) for one in inputs] != [1, 1]:
        raise click.UsageError("--check takes one file of certificates and one program", ctx)
    [program] = with_cpp(ctx, inputs[1], given, given["entry"], every=True)
    check_settings(ctx, [program], given["no_config"], given["color"])
    lines, uncovered, errors = checked(inputs[0][0], program, given["target"], stated)
    if errors:
        click.echo(render(tuple(errors), color), nl=False)
        return 1
    for one in lines:
        click.echo(f"{certificates}: {one.text}")
    for name in uncovered:
        click.echo(f"{program.name}: no certificate for @{name}")
    refused = sum(one.reason is not None for one in lines)
    without = f", {len(uncovered)} function{'s' if len(uncovered) != 1 else ''} without one" if uncovered else ""
    click.echo(f"{len(lines)} certificate{'s' if len(lines) != 1 else ''}: {refused} refused{without}")
    if refused:
        return 1
    return UNDECIDED if uncovered and not given["allow_undecided"] else 0


if __name__ == "__main__":
    main()
