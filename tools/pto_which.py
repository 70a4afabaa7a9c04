"""The command ``pto which``: a wrong number, and the stage that makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .command_line import (
    BACKENDS,
    NumberRange,
    PtoCommand,
    color_option,
    output_format_option,
    read_stdin,
    release_option,
    version_option,
    wants_color,
    write_stderr,
    write_stdout,
)
from .cpp_options import cpp_options, with_cpp
from .run_options import content_value, given_value, pairs_of
from .target_choice import TargetChoice

if TYPE_CHECKING:
    from pto_dialect.driver.inputs import Input
    from pto_dialect.driver.run.request import Request
    from pto_dialect.driver.which.command import Wanted

WRONG = 1
"""Exit code: a stage differs, or the program is wrong."""


def _passes(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    from pto_dialect.passes.registry import PassOptionError, UnknownPassError, parse_pipeline  # deferred: start-up

    try:
        return tuple(call for text in texts for call in parse_pipeline(text))
    except (UnknownPassError, PassOptionError) as error:
        raise click.BadParameter(str(error), ctx, param) from None


@click.command(cls=PtoCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("path", metavar="FILE", type=click.Path())
@click.option(
    "--arg", "arguments", metavar="NAME=VALUE", multiple=True, callback=pairs_of(given_value, "NAME=VALUE"),
    help="Value of an argument, as for pto-run; others are generated.",
)  # fmt: skip
@click.option(
    "-p", "--passes", metavar="A,B", multiple=True, callback=_passes, help="Passes whose effect is compared, in order."
)
@click.option(
    "--device", metavar="NAME=VALUE", multiple=True, callback=pairs_of(content_value, "NAME=VALUE"),
    help="What a buffer or result held after a run elsewhere, such as out=y.npy.",
)  # fmt: skip
@click.option("--entry", metavar="NAME", help="Function to run, if there are several.")
@click.option("--blocks", type=click.IntRange(1, 65_535), default=1, show_default=True, help="Number of blocks.")
@click.option("--target", type=TargetChoice(), help="Chip, if the program states none or another one.")
@click.option("--backend", type=click.Choice(BACKENDS), help="Library that tile operations follow.")
@release_option("Release of the reference that is meant; otherwise what the module says, else the newest known.")
@click.option(
    "--rtol", type=NumberRange(min=0), metavar="X",
    help="Relative tolerance; without tolerances every bit counts.",
)  # fmt: skip
@click.option(
    "--atol", type=NumberRange(min=0), metavar="X",
    help="Absolute tolerance; without tolerances every bit counts.",
)  # fmt: skip
@click.option(
    "--timeout", type=NumberRange(min=0.1, max=86_400), default=60.0, show_default=True,
    metavar="SECONDS", help="Time of the run of each stage.",
)  # fmt: skip
@cpp_options
@output_format_option("Form of the result.", ("text", "json"))
@color_option
@version_option("pto which", "xDSL", "numpy")
@click.pass_context
def main(ctx: click.Context, path: str, **given: Any) -> None:
    """Name the stage that makes a wrong number: reader, pass, printer, C++ text, interpreter, order or device.

    The program in FILE (- is standard input) is run as it is, after each pass, read back from its text and generic
    form, through C++ where there is a compiler, without accelerations, and in other orders of its pipes. The first
    stage that differs is named, with its first element and operation.

    Exit code: 0 if no stage differs, 1 if one does or the program has errors, 2 if the command line is wrong.
    """
    from pto_dialect.driver.run.files import FileError  # deferred: start-up
    from pto_dialect.driver.run.status import Failure, Streams, exit_status  # deferred: start-up
    from pto_dialect.driver.which.command import compared  # deferred: start-up
    from pto_dialect.driver.which.show import as_json, as_text  # deferred: start-up
    from pto_dialect.driver.which.stages import StageError  # deferred: start-up
    from pto_dialect.runtime.errors import BindingError  # deferred: start-up

    [item] = with_cpp(ctx, [_input(ctx, path)], given, given["entry"])
    request, wanted = _request(ctx, given), _wanted(given)
    try:
        found = compared(item, request, wanted, Streams(lambda _: None, write_stderr, wants_color(given["color"])))
    except Failure as failure:
        ctx.exit(exit_status(failure.code))
    except (BindingError, FileError) as error:
        rule = error.rule if isinstance(error, BindingError) else ""
        write_stderr(f"error: {error}{f' [{rule}]' if rule else ''}\n")
        ctx.exit(2)
    except StageError as error:
        write_stderr(f"error: the program itself does not run, so nothing can be compared with it: {error}\n")
        ctx.exit(WRONG)
    write_stdout(as_json(found, item.name) if given["format"] == "json" else as_text(found))
    ctx.exit(WRONG if found.guilty else 0)


def _input(ctx: click.Context, path: str) -> Input:
    from pto_dialect.driver.inputs import InputError, collect  # deferred: start-up

    try:
        inputs = collect((path,), read_stdin)
    except InputError as error:
        raise click.UsageError(str(error), ctx) from None
    except OSError as error:
        raise click.UsageError(f"cannot read standard input: {error.strerror or error}", ctx) from None
    if len(inputs) != 1:
        raise click.UsageError(f"'{path}' has several programs; name one", ctx)
    return inputs[0]


def _request(ctx: click.Context, given: dict[str, Any]) -> Request:
    from pto_dialect.driver.run.request import Request  # deferred: start-up
    from pto_dialect.runtime.run.machine import RunOptions  # deferred: start-up

    for name, value in given["arguments"]:
        if value.write_back:
            raise click.UsageError(f"the program runs many times: '--arg {name}' cannot be written back", ctx)
    return Request(
        arguments=given["arguments"],
        entry=given["entry"],
        target=given["target"],
        release=given["reference_release"],
        blocks=given["blocks"],
        quiet=True,
        run=RunOptions(accumulate="exact", fill="zero", backend=given["backend"]),
    )


def _wanted(given: dict[str, Any]) -> Wanted:
    from pto_dialect.driver.run.compare import Tolerance  # deferred: start-up
    from pto_dialect.driver.which.command import Wanted  # deferred: start-up

    stated = given["rtol"] is not None or given["atol"] is not None
    tolerance = Tolerance(given["rtol"] or 0.0, given["atol"] or 0.0) if stated else None
    return Wanted(given["passes"], given["device"], tolerance, given["timeout"])


if __name__ == "__main__":
    main()
