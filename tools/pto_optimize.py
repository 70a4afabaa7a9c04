"""The command ``pto optimize``: the passes that make a kernel fast by the cycle model."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

import click

from .command_line import (
    TARGETS,
    check_cycle_table,
    cycle_parameters,
    force_option,
    output_format_option,
    version_option,
    write_stderr,
)

if TYPE_CHECKING:
    from pto_dialect.driver.tune.measure import Measured, Tuner
    from pto_dialect.driver.tune.space import Candidate


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("path", metavar="FILE", type=click.Path())
@click.option("--arg", "arguments", metavar="NAME=VALUE", multiple=True, help="Value of an argument, as for pto-run.")
@click.option("--expect", "expectations", metavar="NAME=VALUE", multiple=True, help="Expected content of an argument.")
@click.option("--entry", metavar="NAME", help="Function to run, if there are several.")
@click.option("--blocks", type=click.IntRange(1, 65_535), help="Number of blocks.")
@click.option("--target", type=click.Choice(TARGETS), help="Chip, if the program states none or another one.")
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
    help="Processes that share the pipelines of a stage.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), default=60, show_default=True, help="Limit of pipelines.")
@click.option("--prove", is_flag=True, help="Run the program before and after the best passes on generated arguments.")
@output_format_option("Form of the result.", ("text", "json"))
@click.option("-o", "output", metavar="FILE", help="Write the fastest program.")
@cycle_parameters
@force_option
@version_option("pto optimize", "xDSL", "numpy")
@click.pass_context
def main(ctx: click.Context, path: str, **given: Any) -> None:
    """Search the passes with which a kernel takes the least time by the cycle model.

    Each pipeline that is tried is verified, and run under all checks; its results have to be those of the program
    without passes, bit by bit, with products summed exactly in the order of k.

    Exit code: 0 if a pipeline is right, 1 if none is or the proof fails, 2 if the command line is wrong.
    """
    from pto_dialect.driver.jobs import WorkerError  # deferred: start-up
    from pto_dialect.driver.launch.document import LaunchError  # deferred: start-up
    from pto_dialect.driver.optimize.search import search, stages_for  # deferred: start-up
    from pto_dialect.driver.report import render  # deferred: start-up
    from pto_dialect.driver.tune.measure import mark_front  # deferred: start-up
    from pto_dialect.driver.tune.space import SpaceError  # deferred: start-up

    if not os.path.isfile(path):
        raise click.UsageError(f"no such file: '{path}'", ctx)
    check_cycle_table(ctx, given["cycle_table"])
    tuner = _tuner(path, given)
    try:
        first = _first(path, given)
        tuner.compare_with(first)
        found = search(tuner, first.document, stages_for(tuner.program(first)), given["jobs"], given["limit"])
    except SpaceError as error:
        raise click.UsageError(str(error), ctx) from None
    except LaunchError as error:
        write_stderr(render((error.diagnostic,), False))
        ctx.exit(2)
    except WorkerError as error:
        write_stderr(f"error: {error}\n")
        ctx.exit(2)
    mark_front(found)
    _show(ctx, path, found, tuner, first, given)


def _tuner(path: str, given: dict[str, Any]) -> Tuner:
    from pto_dialect.driver.options import CycleRequest  # deferred: start-up
    from pto_dialect.driver.tune.measure import Tuner  # deferred: start-up

    request = CycleRequest(given["cycle_table"], given["cycle_options"])
    return Tuner(path, given["target"], cycles=request, accumulate="exact")


def _first(path: str, given: dict[str, Any]) -> Candidate:
    """The candidate without alternatives: its launch has the options of the command line."""
    from pto_dialect.driver.optimize.search import PASSES  # deferred: start-up
    from pto_dialect.driver.tune.space import SpaceError, candidates, document_of  # deferred: start-up

    launch: dict[str, Any] = {key: given[key] for key in ("entry", "blocks") if given[key] is not None}
    for key, texts in (("arguments", given["arguments"]), ("expect", given["expectations"])):
        pairs = [text.partition("=") for text in texts]
        for text, (name, equal, _) in zip(texts, pairs, strict=True):
            if not name or not equal:
                raise SpaceError(f"'{text}' is not written as NAME=VALUE")
        launch[key] = {name: value for name, _, value in pairs}
    document = document_of(os.path.basename(path), (), ("assign-memory,insert-sync",), launch)
    return candidates(document)[0]._replace(point={PASSES: ""})


def _show(
    ctx: click.Context, path: str, found: list[Measured], tuner: Tuner, first: Candidate, given: dict[str, Any]
) -> None:
    """Prints what was tried and the best pipeline, and writes the program."""
    from pto_dialect.diagnostics.files import atomic_write  # deferred: start-up
    from pto_dialect.driver.tune.show import document, fastest, table_text  # deferred: start-up
    from pto_dialect.syntax.print.printer import print_module  # deferred: start-up

    json = given["format"] == "json"
    click.echo(document(found, path, tuner.reference, 0) if json else table_text(found, tuner.reference, 0), nl=False)
    good = [one for one in found if not one.reason]
    if not good:
        ctx.exit(1)
    best = fastest(good)
    passes = ",".join(best.candidate.passes)
    if not json:
        click.echo(f"pto-opt -p {shlex.quote(passes)} {shlex.quote(path)}")
    if given["prove"] and not _proven(tuner, first, best):
        ctx.exit(1)
    try:
        if given["output"] is not None:
            atomic_write(given["output"], print_module(tuner.module(best)), "program")
    except OSError as error:
        write_stderr(f"error: cannot write '{given['output']}': {error.strerror or error}\n")
        ctx.exit(2)


def _proven(tuner: Tuner, first: Candidate, best: Measured) -> bool:
    """Whether runs on generated arguments show no difference; says so."""
    from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions  # deferred: start-up
    from pto_dialect.driver.prove.pipeline import prove_passes  # deferred: start-up
    from pto_dialect.driver.report import render  # deferred: start-up

    module = tuner.program(first)
    if module is None:
        write_stderr("error: the program without passes is not legal, so nothing can be compared with it\n")
        return False
    engine = DiagnosticEngine(DiagnosticOptions(remarks=frozenset(("prove-done",))))
    proven = prove_passes(module, list(best.candidate.passes), engine, tuner.target, seconds=60)
    write_stderr(render(engine.diagnostics, False))
    return proven and not engine.has_errors


if __name__ == "__main__":
    main()
