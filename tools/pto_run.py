"""The command ``pto-run``: execute PTO programs on numpy arrays."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from .command_line import (
    BACKENDS,
    NumberRange,
    color_option,
    cycle_model_options,
    cycle_request,
    findings_options,
    force_option,
    no_plans_option,
    output_format_option,
    plain_option,
    read_stdin,
    release_option,
    say,
    stated_options,
    version_option,
    watch_option,
    write_stderr,
)
from .cpp_options import READERS, cpp_options, with_cpp
from .run_checks import LAUNCH_ONLY, LAUNCH_SUFFIX, check_files, check_options, option_of, refuse_with_cache
from .run_options import (
    BESIDE,
    PtoRunCommand,
    check_debug,
    checks_of,
    compare,
    content_value,
    debug,
    given_value,
    output_value,
    pairs_of,
    record_options,
    reporter_of,
    schedule_of,
    size_of,
    timeout_of,
    with_settings,
)
from .shell_words import matching
from .streams import wants_color
from .target_choice import TargetChoice

if TYPE_CHECKING:
    from pto_dialect.driver.inputs import Input

MOST_RANKS = 64
"""A context of communication has room for so many."""

MOST_BLOCKS = 65_535
"""The chips count blocks in 16 bits."""

FLOAT_MAX = 1.7976931348623157e308
MOST_SEED = 2**32 - 1
TIMEOUT_MAX = 10_000_000.0


@click.command(cls=PtoRunCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("paths", metavar="FILE|DIR...", nargs=-1, required=True, type=click.Path(),
                callback=matching)  # fmt: skip
@click.option("--entry", metavar="NAME", help="Function to run; by default the kernel, or the only function.")
@click.option("--target", type=TargetChoice(), help="Chip to run as; by default that of the module.")
@click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    help="Library that tile operations follow; by default that of the module, else emitc.",
)
@release_option("Release of the reference that is meant; otherwise what the module says, else the newest known.")
@click.option(
    "--blocks",
    type=click.IntRange(1, MOST_BLOCKS),
    default=1,
    show_default=True,
    metavar="N",
    help="Blocks to launch.",
)
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
    help="Processes that share independent blocks, or the launch files.",
)  # fmt: skip
@click.option(
    "--ranks", type=click.IntRange(1, MOST_RANKS), metavar="N", is_eager=True,
    help="Ranks that run concurrently; their values may be rank, ranks, context, windows and split:VALUE.",
)  # fmt: skip
@click.option(
    "--window", "windows", metavar="NAME=VALUE", multiple=True, callback=pairs_of(given_value, "NAME=VALUE"),
    help="Memory of each rank that its peers access: an argument is NAME, or NAME@RANK for that of a peer.",
)  # fmt: skip
@click.option(
    "--arg", "arguments", metavar="NAME=VALUE", multiple=True, callback=pairs_of(given_value, "NAME=VALUE"),
    help="Argument by name or position: x.npy, x.npz:KEY, x.bin:TYPE:SHAPE, zeros:TYPE:SHAPE, "
    "ones:TYPE:SHAPE, random:TYPE:SHAPE:seed=N, a number, or per-core:EXPR|FILE; with :inout the file receives the "
    "buffer.",
)  # fmt: skip
@click.option(
    "--out", "outputs", metavar="NAME=FILE", multiple=True, callback=pairs_of(output_value, "NAME=FILE"),
    help="Write a buffer or result to y.npy, y.npz:KEY or y.bin.",
)  # fmt: skip
@click.option(
    "--expect", "expectations", metavar="NAME=VALUE", multiple=True, callback=pairs_of(content_value, "NAME=VALUE"),
    help="Compare a buffer or result with these numbers.",
)  # fmt: skip
@click.option(
    "--rtol", type=NumberRange(0, FLOAT_MAX), metavar="X",
    help="Relative tolerance; default by element type.",
)  # fmt: skip
@click.option(
    "--atol", type=NumberRange(0, FLOAT_MAX), metavar="X",
    help="Absolute tolerance; default by element type.",
)  # fmt: skip
@click.option(
    "--timeout", type=NumberRange(0, TIMEOUT_MAX, min_open=True), callback=timeout_of, metavar="SECONDS",
    help="End a run, or each launch file of many, that takes longer.",
)  # fmt: skip
@click.option(
    "--max-memory", metavar="SIZE", callback=size_of,
    help="Refuse arrays that need more memory, e.g. 500M or 2G; by default 80 % of the free memory.",
)  # fmt: skip
@click.option("--allow-outside", is_flag=True, help="Launch files may name files outside of their folder.")
@click.option(
    "--cluster", metavar="ADDRESS|local:N",
    help="Run launch files and their sweeps on a Dask cluster, or on N processes of one (extra cluster).",
)  # fmt: skip
@click.option("--insecure", is_flag=True, help="Use a cluster without TLS, in which others can run code.")
@click.option("--dashboard", is_flag=True, help="Serve Dask's dashboard of --cluster local:N on this machine.")
@click.option(
    "--results",
    metavar="FILE",
    help="Add a record for each launch to FILE.jsonl or FILE.parquet; continue where it ends.",
)
@click.option("--junit", metavar="FILE", help="Write the results of launch files to this file as JUnit XML.")
@click.option(
    "--list", "listing", metavar="[=text|json]", type=click.Choice(["text", "json"]),
    help="List the functions with their arguments and run nothing.",
)  # fmt: skip
@click.option("--auto", is_flag=True, help="Generate the arguments without --arg, with sizes that fit.")
@click.option(
    "--seed", type=click.IntRange(0, MOST_SEED), default=0, show_default=True, metavar="N",
    help="Seed of generated arguments.",
)  # fmt: skip
@click.option(
    "--init-launch", metavar="[=FILE]",
    help="Write a launch file with generated arguments, by default beside the program; run nothing.",
)  # fmt: skip
@click.option(
    "--reference", metavar="FILE.py:FUNCTION",
    help="Compare what the program wrote with the result of this Python function, or of MODULE:FUNCTION.",
)  # fmt: skip
@click.option("--dump", is_flag=True, help="Print all numbers of what the program wrote.")
@click.option("--profile", is_flag=True, help="Print time and calls by operation.")
@cycle_model_options("Print what the run takes on the chip by its cycle model; --trace has its times.")
@click.option("--no-advice", is_flag=True, help="Do not try changes for the advice of --cycles.")
@output_format_option(
    "Form of the diagnostics on standard error, for a program that is not run from a launch file, and of --list and "
    "--cycles: text or JSON."
)
@click.option("--quiet", is_flag=True, help="Print no summary of what the program wrote.")
@click.option("--emit-python", is_flag=True, help="Print the generated source and run nothing.")
@click.option(
    "--accumulate", type=click.Choice(["fast", "exact"]), default="fast", show_default=True,
    help="Matrix products by BLAS, or in the chip's order of fused multiply-adds.",
)  # fmt: skip
@click.option(
    "--fill", type=click.Choice(["zero", "poison", "random"]),
    help="Initial content of on-chip memory; zero, or poison with --sanitize.",
)  # fmt: skip
@click.option(
    "--sanitize", metavar="[=CHECK,...]", multiple=True, callback=checks_of,
    help="Sanitize the run: race, deadlock, init, bounds, overlap, cache, sync (all by default); or numeric.",
)  # fmt: skip
@click.option(
    "--sync", type=click.Choice(["auto", "strict"]), default="auto", show_default=True,
    help="Check the order of pipes only in programs that order them, or in all.",
)  # fmt: skip
@click.option(
    "--sanitize-max", type=click.IntRange(min=0), default=20, show_default=True, metavar="N",
    help="Sanitizer errors shown; 0 for all.",
)  # fmt: skip
@click.option(
    "--schedule", metavar="text|oldest|newest|random:SEED", callback=schedule_of,
    help="Order in which pipes and cores run, as far as flags allow; results of a correct program do not change.",
)  # fmt: skip
@click.option(
    "--scalar-cache",
    is_flag=True,
    help="Model the data caches of the scalar units: stores may be lost, loads may be stale, as on the chip.",
)
@click.option(
    "--cross-core", type=click.Choice(["auto", "block", "p2p"]), default="auto", show_default=True,
    help="Cores that sync.set and sync.wait without ffts_mode signal on a5; by default inferred from the text.",
)  # fmt: skip
@click.option("--report", metavar="FILE", help="Write the findings as JSON, or as SARIF to a FILE.sarif.")
@click.option(
    "--fix", metavar="[=FILE]",
    help="Write the program with the fixes of its findings to standard output or FILE, maybe the program itself.",
)  # fmt: skip
@click.option(
    "--suppressions", metavar="FILE", help="Suppress findings: a rule, a source location and a reason per line."
)
@click.option("--trace", metavar="FILE", help="Write a timeline of pipes and signals for Perfetto.")
@record_options
@click.option("--html", metavar="FILE", help="Write the run as a page: source, timeline, memory, tiles, findings.")
@click.option("--trace-costs", is_flag=True, help="Durations in the timeline from a simple model instead of 1.")
@cpp_options
@findings_options("Errors shown; 0 for all.")
@click.option("--no-cache", is_flag=True, help="Verify the program even if an earlier run had no findings.")
@no_plans_option
@plain_option
@force_option
@color_option
@watch_option
@version_option("pto-run", "xDSL", "numpy")
@click.pass_context
def main(ctx: click.Context, paths: tuple[str, ...], **given: Any) -> None:
    """Run a function of the PTO program in FILE (- is standard input), or launch files.

    Every argument of the function needs an --arg. What the program wrote is summarised on standard output and
    stored as --out and :inout specify, but only if the run and all --expect succeeded.

    Launch files (*.launch.toml, alone, several, or all of a folder) have all of that themselves.

    Exit code: 0 on success, 1 if a program or its result is wrong, 2 if the command line or a launch file is,
    3 if a sanitizer reported an error.
    """
    if given.pop("watch"):
        from .watching import watch  # deferred: start-up

        watch(paths, "run")
        return
    path, *others = paths
    if not given["no_config"]:
        with_settings(ctx, path, given)
    refuse_with_cache(ctx, given)
    given["cycle_request"] = cycle_request(ctx, given)
    if given["no_advice"] and not given["cycles"]:
        raise click.UsageError("--no-advice has no meaning without --cycles", ctx)
    if others or os.path.isdir(path) or path.endswith(LAUNCH_SUFFIX):
        from .run_launches import run_launches  # deferred: start-up

        ctx.exit(run_launches(ctx, paths, given))
    check_options(ctx)
    for parameter in LAUNCH_ONLY & stated_options(ctx):
        raise click.UsageError(f"{option_of(ctx, parameter)} goes with launch files only", ctx)
    if given["profile"] and (given["sanitize"] or given["trace"] or given["record"]):
        raise click.UsageError("--profile times plain runs; it does not go with --sanitize, --trace and --record", ctx)
    if given["cycles"] and (given["profile"] or given["fix"]):
        raise click.UsageError("--cycles does not go with --profile and --fix", ctx)
    if given["html"] is not None and (given["profile"] or given["fix"]):
        raise click.UsageError("--html does not go with --profile and --fix", ctx)
    if given["ranks"]:
        from .run_launches import run_ranks  # deferred: start-up

        ctx.exit(run_ranks(ctx, path, given))
    check_debug(ctx, path, given)
    [item] = with_cpp(ctx, [_input(ctx, path)], given, given["entry"], _modules(given))
    from pto_dialect.driver.run.command import run_program  # deferred: start-up
    from pto_dialect.driver.run.status import Streams, exit_status  # deferred: start-up

    from .run_requests import request_of  # deferred: start-up

    reporter = reporter_of(given["format"])
    collect = None if reporter is None else lambda found, counts: reporter.add(tuple(found), counts)
    streams = Streams(say, write_stderr, wants_color(given["color"]), collect)
    if given["init_launch"] == BESIDE:
        given["init_launch"] = _beside(ctx, path)
    request = request_of(given)
    check_files(ctx, given, (path, *request.inputs()), request.output_files())
    if given["compare"]:
        ctx.exit(exit_status(compare(ctx, item, request, streams, given)))
    if given["debug"]:
        ctx.exit(exit_status(debug(item, request, streams, given)))
    code = run_program(item, request, streams)
    if reporter is not None:
        reporter.finish("")
    ctx.exit(exit_status(code))


def _modules(given: dict[str, Any]) -> tuple[str, ...]:
    """Modules that the run of a C++ kernel needs."""
    watching = ("pto_dialect.driver.run.sanitizing", "pto_dialect.sanitize.launch") if given["sanitize"] else ()
    return (*READERS, "pto_dialect.driver.run.command", *watching)


def _beside(ctx: click.Context, path: str) -> str:
    """The launch file of the program in ``path``."""
    from pto_dialect.driver.explore.first_launch import launch_path  # deferred: start-up

    if path == "-":
        raise click.UsageError("--init-launch needs a FILE for a program from standard input", ctx)
    return launch_path(path)


def _input(ctx: click.Context, path: str) -> Input:
    from pto_dialect.driver.inputs import InputError, collect  # deferred: start-up

    try:
        return collect((path,), read_stdin)[0]
    except InputError as error:
        raise click.UsageError(str(error), ctx) from None
    except OSError as error:
        raise click.UsageError(f"cannot read standard input: {error.strerror or error}", ctx) from None


if __name__ == "__main__":
    main()
