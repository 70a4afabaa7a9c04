"""The command ``pto tune``: the best tile sizes, buffers and loop orders of a kernel by the cycle model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from .command_line import (
    NumberRange,
    PtoCommand,
    check_cycle_table,
    cycle_parameters,
    force_option,
    output_format_option,
    version_option,
    write_stderr,
)
from .cpp_options import compile_options
from .target_choice import TargetChoice

if TYPE_CHECKING:
    from pto_dialect.driver.launch.document import Document
    from pto_dialect.driver.tune.measure import Measured, Tuner

LAUNCH_SUFFIX = ".launch.toml"
LAUNCH_ONLY = ("params", "arguments", "expectations", "entry", "blocks")
"""Options that a launch file says itself."""


@click.command(cls=PtoCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("path", metavar="FILE", type=click.Path())
@click.option(
    "--param",
    "params",
    metavar="NAME=V,V,...",
    multiple=True,
    help="Values of ${NAME} in the program, or of the macro NAME of a C++ kernel.",
)
@click.option(
    "-p", "--passes", metavar="PASSES", multiple=True,
    help="Passes of each candidate; an option may have several values: 'tile-loops{rows=[16,32]}'.",
)  # fmt: skip
@click.option("--arg", "arguments", metavar="NAME=VALUE", multiple=True, help="Value of an argument, as for pto-run.")
@click.option("--expect", "expectations", metavar="NAME=VALUE", multiple=True, help="Expected content of an argument.")
@click.option("--entry", metavar="NAME", help="Function to run, if there are several.")
@click.option("--blocks", type=click.IntRange(1, 65_535), help="Number of blocks.")
@click.option("--target", type=TargetChoice(), help="Chip, if the program states none or another one.")
@click.option("--rtol", type=NumberRange(min=0), help="Relative tolerance of results; without it all bits count.")
@click.option("--atol", type=NumberRange(min=0), help="Absolute tolerance of results.")
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
    help="Processes that share the candidates, at most one for each processor.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), default=200, show_default=True, help="Limit of candidates.")
@output_format_option("Form of the result.", ("text", "json"))
@click.option("--json", "as_json", is_flag=True, hidden=True, help="As --output-format json.")
@click.option("--plot", "plot_file", metavar="FILE", help="Write time against memory: .png, .svg or .pdf (extra plot).")
@click.option("-o", "output", metavar="FILE", help="Write the program of the fastest candidate.")
@compile_options
@cycle_parameters
@click.option("--allow-outside", is_flag=True, help="The launch file may name files outside of its folder.")
@force_option
@version_option("pto tune", "xDSL", "numpy")
@click.pass_context
def main(ctx: click.Context, path: str, **given: Any) -> None:
    """Try a kernel with all combinations of values: of --param and -p, or of the table [tune] of a launch file.

    Each candidate is verified, run and compared with the others or the expectation; the cycle model estimates its time.

    Exit code: 0 if a candidate is right, 1 if none is, 2 if the command line or the launch file is wrong.
    """
    from pto_dialect.driver.jobs import WorkerError, bounded  # deferred: start-up
    from pto_dialect.driver.launch.document import LaunchError  # deferred: start-up
    from pto_dialect.driver.report import render  # deferred: start-up
    from pto_dialect.driver.tune.measure import mark_front  # deferred: start-up
    from pto_dialect.driver.tune.side_by_side import measured  # deferred: start-up
    from pto_dialect.driver.tune.space import SpaceError, candidates  # deferred: start-up
    from pto_dialect.driver.tune.unused import check_names  # deferred: start-up

    _check(ctx, path, given)
    given["jobs"], note = bounded(given["jobs"])
    write_stderr(note)
    tuner = _tuner(path, given)
    try:
        document = _document(path, given)
        ways = candidates(document)
        check_names(tuner, document, ways, path.endswith(LAUNCH_SUFFIX))
        chosen = ways[: given["limit"]]
        tuner.compare_with(chosen[0])
        found = measured(tuner, chosen, given["jobs"])
    except SpaceError as error:
        raise click.UsageError(str(error), ctx) from None
    except LaunchError as error:
        write_stderr(render((error.diagnostic,), False))
        ctx.exit(2)
    except WorkerError as error:
        write_stderr(f"error: {error}\n")
        ctx.exit(2)
    mark_front(found)
    _show(ctx, path, found, tuner, len(ways) - len(chosen), given)


def _check(ctx: click.Context, path: str, given: dict[str, Any]) -> None:
    """Options that go together, and a table and files that can be used."""
    if path.endswith(LAUNCH_SUFFIX):
        for name in LAUNCH_ONLY:
            if given[name]:
                option = {"params": "param", "arguments": "arg", "expectations": "expect"}.get(name, name)
                raise click.UsageError(f"--{option} does not go with a launch file, which says that itself", ctx)
    if not os.path.isfile(path):
        raise click.UsageError(f"no such file: '{path}'", ctx)
    check_cycle_table(ctx, given["cycle_table"])


def _document(path: str, given: dict[str, Any]) -> Document:
    """The launch file, or the options that replace it."""
    from pto_dialect.driver.launch.document import Document  # deferred: start-up
    from pto_dialect.driver.tune.space import SpaceError, document_of, with_passes  # deferred: start-up

    if path.endswith(LAUNCH_SUFFIX):
        with open(path, "rb") as stream:
            document = Document(path, stream.read().decode("utf-8-sig", "replace"))
        return with_passes(document, given["passes"])
    launch: dict[str, Any] = {}
    tolerances = ("rtol", "atol") if given["expectations"] else ()
    for key in ("entry", "blocks", *tolerances):
        if given[key] is not None:
            launch[key] = given[key]
    for key, texts in (("arguments", given["arguments"]), ("expect", given["expectations"])):
        pairs = [text.partition("=") for text in texts]
        for text, (name, equal, _) in zip(texts, pairs, strict=True):
            if not name or not equal:
                raise SpaceError(f"'{text}' is not written as NAME=VALUE")
        launch[key] = {name: value for name, _, value in pairs}
    return document_of(path, given["params"], given["passes"], launch)


def _tuner(path: str, given: dict[str, Any]) -> Tuner:
    from pto_dialect.driver.launch.cpp_keys import CppCommand, CppKeys  # deferred: start-up
    from pto_dialect.driver.options import CycleRequest  # deferred: start-up
    from pto_dialect.driver.run.compare import Tolerance  # deferred: start-up
    from pto_dialect.driver.tune.measure import Tuner  # deferred: start-up

    stated = given["rtol"] is not None or given["atol"] is not None
    tolerance = Tolerance(given["rtol"] or 0.0, given["atol"] or 0.0) if stated else None
    request = CycleRequest(given["cycle_table"], given["cycle_options"])
    cpp = CppCommand(CppKeys(given["defines"], given["includes"]), given["cxx"])
    return Tuner(path, given["target"], given["allow_outside"], request, tolerance, cpp)


def _show(ctx: click.Context, path: str, found: list[Measured], tuner: Tuner, left: int, given: dict[str, Any]) -> None:
    """Prints the result, and writes the requested files."""
    from pto_dialect.diagnostics.files import atomic_write  # deferred: start-up
    from pto_dialect.driver.tune.show import PlotError, document, fastest, plot, table_text  # deferred: start-up
    from pto_dialect.syntax.print.printer import print_module  # deferred: start-up

    if given["as_json"] or given["format"] == "json":
        click.echo(document(found, path, tuner.reference, left), nl=False)
    else:
        click.echo(table_text(found, tuner.reference, left), nl=False)
    good = [one for one in found if not one.reason]
    try:
        if given["plot_file"] is not None and good:
            plot(found, given["plot_file"])
        if given["output"] is not None and good:
            atomic_write(given["output"], print_module(tuner.module(fastest(good))), "program")
    except PlotError as error:
        write_stderr(f"error: {error}\n")
        ctx.exit(2)
    except OSError as error:
        write_stderr(f"error: cannot write '{given['output']}': {error.strerror or error}\n")
        ctx.exit(2)
    ctx.exit(0 if good else 1)


if __name__ == "__main__":
    main()
