"""The command ``pto optimize``: the passes that make a kernel fast by the cycle model."""

from __future__ import annotations

import os
import shlex
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
from .target_choice import TargetChoice

if TYPE_CHECKING:
    from pto_dialect.driver.optimize.bench import Bench
    from pto_dialect.driver.optimize.show import Steps
    from pto_dialect.driver.tune.measure import Measured, Tuner


@click.command(cls=PtoCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("path", metavar="FILE", type=click.Path())
@click.option(
    "--arg",
    "arguments",
    metavar="NAME=VALUE",
    multiple=True,
    help="Value of an argument, as for pto-run; others are generated.",
)
@click.option("--expect", "expectations", metavar="NAME=VALUE", multiple=True, help="Expected content of an argument.")
@click.option("--entry", metavar="NAME", help="Function to run, if there are several.")
@click.option("--blocks", type=click.IntRange(1, 65_535), help="Number of blocks.")
@click.option("--target", type=TargetChoice(), help="Chip, if the program states none or another one.")
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
    help="Processes that share the pipelines, at most one for each processor.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), default=80, show_default=True, help="Limit of programs that run.")
@click.option(
    "--seconds", type=NumberRange(min=1, max=86_400), default=40.0, show_default=True,
    help="Processor time of the search in each process.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of generated arguments.")
@click.option("--no-cache", is_flag=True, help="Neither use nor keep results of earlier searches.")
@click.option("--compare", is_flag=True, help="Compare the results of the fastest program even if that takes long.")
@click.option("--all", "full", is_flag=True, help="Show every program and every reason.")
@click.option("--prove", is_flag=True, help="Run the program before and after the best passes on generated arguments.")
@output_format_option("Form of the result.", ("text", "json"))
@click.option("-o", "output", metavar="FILE", help="Write the fastest program.")
@cycle_parameters
@force_option
@version_option("pto optimize", "xDSL", "numpy")
@click.pass_context
def main(ctx: click.Context, path: str, **given: Any) -> None:
    """Search the passes with which a kernel takes the least time by the cycle model.

    FILE is a program, or a launch file with one launch. Each program that is tried is verified and timed. The fastest
    one is run under all checks; its results have to be those of the program without passes, bit by bit, with products
    summed exactly in the order of k.

    Exit code: 0 if a pipeline is right, 1 if none is or the proof fails, 2 if the command line is wrong.
    """
    from pto_dialect.driver.jobs import WorkerError, bounded  # deferred: start-up
    from pto_dialect.driver.launch.document import LaunchError  # deferred: start-up
    from pto_dialect.driver.report import render  # deferred: start-up
    from pto_dialect.driver.tune.space import SpaceError  # deferred: start-up

    if not os.path.isfile(path):
        raise click.UsageError(f"no such file: '{path}'", ctx)
    check_cycle_table(ctx, given["cycle_table"])
    given["jobs"], note = bounded(given["jobs"])
    write_stderr(note)
    try:
        bench, steps = _search(path, given)
    except SpaceError as error:
        raise click.UsageError(str(error), ctx) from None
    except LaunchError as error:
        write_stderr(render((error.diagnostic,), False))
        ctx.exit(2)
    except (WorkerError, OSError) as error:
        write_stderr(f"error: {error}\n")
        ctx.exit(2)
    _show(ctx, path, bench, steps, given)


def _search(path: str, given: dict[str, Any]) -> tuple[Bench, Steps]:
    """Searches, and follows the way to the best pipeline."""
    from pto_dialect.deadline import TimedOut, can_limit, deadline  # deferred: start-up
    from pto_dialect.driver.optimize.bench import Bench  # deferred: start-up
    from pto_dialect.driver.optimize.kept import kept_of  # deferred: start-up
    from pto_dialect.driver.optimize.launch import first_of, pairs_of  # deferred: start-up
    from pto_dialect.driver.optimize.search import search, steps  # deferred: start-up
    from pto_dialect.driver.optimize.space import stages_for  # deferred: start-up
    from pto_dialect.driver.options import CycleRequest  # deferred: start-up
    from pto_dialect.driver.tune.measure import Tuner  # deferred: start-up
    from pto_dialect.driver.tune.space import SpaceError  # deferred: start-up

    tuner = Tuner(
        path,
        given["target"],
        cycles=CycleRequest(given["cycle_table"], given["cycle_options"]),
        accumulate="exact",
    )
    launch: dict[str, Any] = {key: given[key] for key in ("entry", "blocks") if given[key] is not None}
    for key, texts in (("arguments", given["arguments"]), ("expect", given["expectations"])):
        launch[key] = pairs_of(texts)
    try:
        with deadline(given["seconds"] if can_limit() else None, processor=True):
            first = first_of(tuner, launch, given["seed"])
    except TimedOut:
        raise SpaceError("generating the arguments takes longer than the search may; --arg gives them") from None
    kept = None if given["no_cache"] else kept_of(tuner, first)
    bench = Bench(tuner, first, given["entry"], given["jobs"], given["limit"], given["seconds"], kept)
    stages = stages_for(tuner.program(first, verified=False), tuner.target, tuner.blocks_of(first))
    best = search(bench, stages, given["compare"])
    return bench, [] if best is None else steps(bench, stages, best)


def _show(ctx: click.Context, path: str, bench: Bench, steps: Steps, given: dict[str, Any]) -> None:
    """Prints what was tried and the best pipeline, and writes the program."""
    from pto_dialect.diagnostics.files import atomic_write  # deferred: start-up
    from pto_dialect.driver.optimize.show import document, tables  # deferred: start-up
    from pto_dialect.syntax.print.printer import print_module  # deferred: start-up

    json = given["format"] == "json"
    click.echo(document(bench, path, steps) if json else tables(bench, steps, given["full"]), nl=False)
    good = bench.good()
    if not good:
        ctx.exit(1)
    passes = ",".join(good[0].candidate.passes)
    if not json:
        target = f" --target {given['target']}" if given["target"] else ""
        program = bench.tuner.input_of(good[0].candidate).path
        click.echo(f"pto-opt -p {shlex.quote(passes)}{target} {shlex.quote(program)}")
    if given["prove"] and not _proven(bench.tuner, good[0]):
        ctx.exit(1)
    try:
        if given["output"] is not None:
            atomic_write(given["output"], print_module(bench.tuner.module(good[0])), "program")
    except OSError as error:
        write_stderr(f"error: cannot write '{given['output']}': {error.strerror or error}\n")
        ctx.exit(2)


def _proven(tuner: Tuner, best: Measured) -> bool:
    """Whether runs on generated arguments show no difference; says so."""
    from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions  # deferred: start-up
    from pto_dialect.driver.prove.pipeline import prove_passes  # deferred: start-up
    from pto_dialect.driver.report import render  # deferred: start-up

    module = tuner.program(best.candidate)
    if module is None:
        write_stderr("error: the program without passes is not legal, so nothing can be compared with it\n")
        return False
    engine = DiagnosticEngine(DiagnosticOptions(remarks=frozenset(("prove-done",))))
    proven = prove_passes(module, list(best.candidate.passes), engine, tuner.target, seconds=60)
    write_stderr(render(engine.diagnostics, False))
    return proven and not engine.has_errors


if __name__ == "__main__":
    main()
