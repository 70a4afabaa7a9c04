"""The command ``pto-run``: execute PTO programs on numpy arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from .command_line import (
    BACKENDS,
    TARGETS,
    cycle_model_options,
    cycle_request,
    no_config_option,
    progress,
    rated_progress,
    read_stdin,
    rule_ids,
    show_version,
    stated_options,
    verdicts_of,
    wants_color,
    write_over_progress,
    write_stderr,
)
from .run_options import (
    BESIDE,
    PtoRunCommand,
    check_debug,
    checks_of,
    compare,
    content_value,
    debug,
    given_value,
    number_of,
    order_of,
    output_value,
    pairs_of,
    record_options,
    reporter_of,
    schedule_of,
    size_of,
    timeout_of,
    with_settings,
)

if TYPE_CHECKING:
    from pto_dialect.diagnostics.engine import DiagnosticOptions
    from pto_dialect.driver.inputs import Input
    from pto_dialect.driver.launch.session import Settings
    from pto_dialect.driver.launch.suite import Outcome
    from pto_dialect.driver.options import CycleRequest
    from pto_dialect.driver.run.request import Request
    from pto_dialect.driver.run.sanitizing import Sanitizing

MOST_RANKS = 64
"""A context of communication has room for so many."""

MOST_BLOCKS = 65_535
"""The chips count blocks in 16 bits."""

FLOAT_MAX = 1.7976931348623157e308
MOST_SEED = 2**32 - 1
TIMEOUT_MAX = 10_000_000.0

NEEDED = {
    "sync": ("sanitize", "schedule"),
    "fix": ("sanitize",),
    "sanitize_max": ("sanitize",),
    "report": ("sanitize",),
    "suppressions": ("sanitize",),
    "trace_costs": ("trace",),
    "rtol": ("expectations", "reference", "compare"),
    "atol": ("expectations", "reference", "compare"),
    "seed": ("auto", "init_launch"),
    "windows": ("ranks",),
    "record_limit": ("record", "debug"),
    "break_on_finding": ("debug",),
}
"""Parameters that mean nothing without one of others."""

RUNS = ("outputs", "expectations", "dump", "profile", "cycles", "report", "trace", "html", "jobs", "quiet", "schedule",
        "fix", "auto", "reference", "record", "debug",
        "compare")  # fmt: skip
"""Parameters that are about a run, which there is none of with --emit-python and --list."""

RUNS_NOTHING = {"emit_python": "--emit-python", "listing": "--list"}


@click.command(cls=PtoRunCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("paths", metavar="FILE|DIR...", nargs=-1, required=True, type=click.Path())
@click.option("--entry", metavar="NAME", help="Function to run; by default the kernel, or the only function.")
@click.option("--target", type=click.Choice(TARGETS), help="Chip to run as; otherwise what the module says.")
@click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    help="Library that tile operations follow; otherwise what the module says, else emitc.",
)
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
    help="Processes that share the blocks, where these are independent, or the launch files.",
)  # fmt: skip
@click.option(
    "--ranks", type=click.IntRange(1, MOST_RANKS), metavar="N", is_eager=True,
    help="Ranks that run side by side; their values may be rank, ranks, context, windows and split:VALUE.",
)  # fmt: skip
@click.option(
    "--window", "windows", metavar="NAME=VALUE", multiple=True, callback=pairs_of(given_value, "NAME=VALUE"),
    help="Memory of each rank that its peers reach: an argument is NAME, or NAME@RANK for that of a peer.",
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
    "--rtol", type=click.FloatRange(0, FLOAT_MAX), callback=number_of, metavar="X",
    help="Relative tolerance; default by element type.",
)  # fmt: skip
@click.option(
    "--atol", type=click.FloatRange(0, FLOAT_MAX), callback=number_of, metavar="X",
    help="Absolute tolerance; default by element type.",
)  # fmt: skip
@click.option(
    "--timeout", type=click.FloatRange(0, TIMEOUT_MAX, min_open=True), callback=timeout_of, metavar="SECONDS",
    help="End a run, or each launch file of many, that takes longer.",
)  # fmt: skip
@click.option(
    "--max-memory", metavar="SIZE", callback=size_of,
    help="Refuse arrays that take more, e.g. 500M or 2G; by default 80 % of the free memory.",
)  # fmt: skip
@click.option("--allow-outside", is_flag=True, help="Launch files may name files outside of their folder.")
@click.option(
    "--cluster", metavar="ADDRESS|local:N",
    help="Run launch files and their sweeps on a Dask cluster, or on N processes of one (extra cluster).",
)  # fmt: skip
@click.option(
    "--results", metavar="FILE", help="Add a record for each launch to FILE.jsonl or FILE.parquet; go on where it ends."
)
@click.option("--junit", metavar="FILE", help="Write the results of launch files to this file as JUnit XML.")
@click.option(
    "--list", "listing", metavar="[=json]", type=click.Choice(["text", "json"]),
    help="List the functions with their arguments and run nothing.",
)  # fmt: skip
@click.option("--auto", is_flag=True, help="Make up the arguments that have no --arg, of sizes that fit.")
@click.option(
    "--seed", type=click.IntRange(0, MOST_SEED), default=0, show_default=True, metavar="N",
    help="What made-up arguments start from.",
)  # fmt: skip
@click.option(
    "--init-launch", metavar="[=FILE]",
    help="Write a launch file with made-up arguments to start from, by default beside the program; run nothing.",
)  # fmt: skip
@click.option(
    "--reference", metavar="FILE.py:FUNCTION",
    help="Compare what the program wrote with what this Python function, or MODULE:FUNCTION, computes.",
)  # fmt: skip
@click.option("--dump", is_flag=True, help="Print all numbers of what the program wrote.")
@click.option("--profile", is_flag=True, help="Print time and calls by operation.")
@cycle_model_options("Print what the run takes on the chip by its cycle model; --trace has its times.")
@click.option("--no-advice", is_flag=True, help="Do not try what would shorten the run that --cycles tells of.")
@click.option(
    "--output-format", "--diagnostics-format", "format", default="text", show_default=True,
    type=click.Choice(["text", "json", "sarif", "github", "gitlab", "junit"]),
    help="Form of the diagnostics on standard error, for a program that is not run from a launch file.",
)  # fmt: skip
@click.option("--quiet", is_flag=True, help="Print no summary of what the program wrote.")
@click.option("--emit-python", is_flag=True, help="Print the generated source and run nothing.")
@click.option(
    "--accumulate", type=click.Choice(["fast", "exact"]), default="fast", show_default=True,
    help="Matrix products by BLAS, or in the chip's order of fused multiply-adds.",
)  # fmt: skip
@click.option(
    "--fill", type=click.Choice(["zero", "poison", "random"]),
    help="What on-chip memory holds at the start; zero, or poison with --sanitize.",
)  # fmt: skip
@click.option(
    "--sanitize", metavar="[=CHECK,...]", multiple=True, callback=checks_of,
    help="Watch the run: race, deadlock, init, bounds, overlap, sync, all of them without a list; or numeric.",
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
    help="What pipes and cores do first within the order that flags allow; results of a right program do not change.",
)  # fmt: skip
@click.option(
    "--cross-core", type=click.Choice(["auto", "block", "p2p"]), default="auto", show_default=True,
    help="Whom sync.set and sync.wait without ffts_mode mean on a5; by default what the text suggests.",
)  # fmt: skip
@click.option("--report", metavar="FILE", help="Write the findings as JSON, or as SARIF to a FILE.sarif.")
@click.option(
    "--fix", metavar="[=FILE]",
    help="Write the program with what findings advise to standard output or FILE, which may be the program itself.",
)  # fmt: skip
@click.option("--suppressions", metavar="FILE", help="Leave out findings: a rule, a place and a reason per line.")
@click.option("--trace", metavar="FILE", help="Write a timeline of pipes and signals for Perfetto.")
@record_options
@click.option("--html", metavar="FILE", help="Write the run as a page: source, timeline, memory, tiles, findings.")
@click.option("--trace-costs", is_flag=True, help="Durations in the timeline from a simple model instead of 1.")
@click.option(
    "--max-errors", type=click.IntRange(min=0), default=20, show_default=True, metavar="N",
    help="Errors shown; 0 for all.",
)  # fmt: skip
@click.option("--allow", metavar="RULE", multiple=True, callback=rule_ids, help="Ignore this rule.")
@click.option("--deny", metavar="RULE", multiple=True, callback=rule_ids, help="Make this rule's findings errors.")
@click.option("--werror", is_flag=True, help="Make warnings errors.")
@click.option("--pedantic", is_flag=True, help="Show remarks as well.")
@no_config_option
@click.option("--no-cache", is_flag=True, help="Check the program although an earlier run found nothing in it.")
@click.option("--no-plans", is_flag=True, help="Let the grammar read statements that are like earlier ones.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_version("pto-run", "xDSL", "numpy"),
    help="Show the version and exit.",
)
@click.pass_context
def main(ctx: click.Context, paths: tuple[str, ...], **given: Any) -> None:
    """Run a function of the PTO program in FILE (- is standard input), or launch files.

    Every argument of the function needs an --arg. What the program wrote is summarised on standard output and
    stored where --out and :inout say, but only if the run and all --expect went well.

    Launch files (*.launch.toml, alone, several, or all of a folder) say all that themselves.

    Exit code: 0 if all is well, 1 if a program or its result is wrong, 2 if the command line or a launch file is,
    3 if a sanitizer has found an error.
    """
    from pto_dialect.driver.run.program import Streams, exit_status, run_program

    path, *others = paths
    if not given["no_config"]:
        with_settings(ctx, path, given)
    if others or os.path.isdir(path) or path.endswith(LAUNCH_SUFFIX):
        ctx.exit(_launches(ctx, paths, given))
    _check_options(ctx)
    for parameter in LAUNCH_ONLY & stated_options(ctx):
        raise click.UsageError(f"{_option(ctx, parameter)} goes with launch files only", ctx)
    if given["profile"] and (given["sanitize"] or given["trace"] or given["record"]):
        raise click.UsageError("--profile times plain runs; it does not go with --sanitize, --trace and --record", ctx)
    if given["cycles"] and (given["profile"] or given["fix"]):
        raise click.UsageError("--cycles does not go with --profile and --fix", ctx)
    if given["html"] is not None and (given["profile"] or given["fix"] or given["record"]):
        raise click.UsageError("--html does not go with --profile, --fix and --record", ctx)
    given["cycle_request"] = cycle_request(ctx, given)
    if given["no_advice"] and not given["cycles"]:
        raise click.UsageError("--no-advice has no meaning without --cycles", ctx)
    if given["ranks"]:
        ctx.exit(_ranks(ctx, path, given))
    check_debug(ctx, path, given)
    item = _input(ctx, path)
    reporter = reporter_of(given["format"])
    collect = None if reporter is None else lambda found, counts: reporter.add(tuple(found), counts)
    streams = Streams(_write_stdout, write_stderr, wants_color(given["color"]), collect)
    if given["init_launch"] == BESIDE:
        given["init_launch"] = _beside(ctx, path)
    request = _request(given)
    _check_files(ctx, given, (path, *request.inputs()), request.output_files())
    if given["compare"]:
        ctx.exit(exit_status(compare(ctx, item, request, streams, given)))
    if given["debug"]:
        ctx.exit(exit_status(debug(item, request, streams, given)))
    code = run_program(item, request, streams)
    if reporter is not None:
        reporter.finish("")
    ctx.exit(exit_status(code))


def _option(ctx: click.Context, name: str) -> str:
    return next(max(parameter.opts, key=len) for parameter in ctx.command.params if parameter.name == name)


def _check_options(ctx: click.Context) -> None:
    """Complains about options that would change nothing."""
    stated = stated_options(ctx)
    for name, others in NEEDED.items():
        if name in stated and not stated & {*others}:
            needed = " or ".join(_option(ctx, other) for other in others)
            raise click.UsageError(f"{_option(ctx, name)} has no meaning without {needed}", ctx)
    for option, text in RUNS_NOTHING.items():
        for name in RUNS if option in stated else ():
            if name in stated:
                raise click.UsageError(f"{text} runs nothing, so there is nothing for {_option(ctx, name)}", ctx)


def _check_files(
    ctx: click.Context, given: dict[str, Any], inputs: Sequence[str], outputs: Sequence[tuple[str, str]]
) -> None:
    """Complains about outputs that are inputs or each other; ``outputs`` are those of buffers, which may be inputs."""
    from pto_dialect.driver.output import OutputError, check_distinct

    files = ("report", "trace", "html", "junit", "record")
    own = [(f"--{name}", given[name]) for name in files if given[name] is not None]
    if given["fix"] not in (None, "-") and given["fix"] not in inputs:
        # Naming the program itself asks for it to be replaced.
        own.append(("--fix", given["fix"]))
    suppressions = [given["suppressions"]] if given["suppressions"] is not None else []
    try:
        check_distinct(own, [*inputs, *suppressions], outputs)
    except OutputError as error:
        raise click.UsageError(str(error), ctx) from None


def _beside(ctx: click.Context, path: str) -> str:
    """The launch file of the program in ``path``."""
    from pto_dialect.driver.explore.first_launch import launch_path

    if path == "-":
        raise click.UsageError("--init-launch needs a FILE for a program from standard input", ctx)
    return launch_path(path)


def _write_stdout(text: str) -> None:
    click.echo(text, nl=False)


def _input(ctx: click.Context, path: str) -> Input:
    from pto_dialect.driver.inputs import InputError, collect

    try:
        return collect((path,), read_stdin)[0]
    except InputError as error:
        raise click.UsageError(str(error), ctx) from None
    except OSError as error:
        raise click.UsageError(f"cannot read standard input: {error.strerror or error}", ctx) from None


# ------------------------------------------------------------ launch files

LAUNCH_SUFFIX = ".launch.toml"

ALONE = (
    *("format", "profile", "cycles", "no_advice", "html", "emit_python", "fix"),
    *("listing", "auto", "init_launch", "reference", "record", "debug", "compare"),
)
"""Parameters that are about the run of one kernel."""

PROGRAM_ONLY = (
    *(
        "entry",
        "format",
        "blocks",
        "windows",
        "arguments",
        "outputs",
        "expectations",
        "rtol",
        "atol",
        "profile",
        "cycles",
        "no_advice",
        "cycle_table",
    ),
    *("cycle_options", "emit_python"),
    *("report", "trace", "trace_costs", "html", "fix", "listing", "auto", "seed", "init_launch", "reference", "record"),
    "debug",
    "compare",
)
"""Parameters that a launch file says itself, or that look at one run."""

LAUNCH_ONLY = {"junit", "allow_outside", "cluster", "results"}


def _launches(ctx: click.Context, paths: tuple[str, ...], given: dict[str, Any]) -> int:
    """Runs the launch files that ``paths`` name."""
    from pto_dialect.driver.batch import WorkerError
    from pto_dialect.driver.inputs import InputError
    from pto_dialect.driver.launch import suite
    from pto_dialect.driver.run.program import Streams, exit_status
    from pto_dialect.driver.sweep.places import has_sweep

    stated = stated_options(ctx)
    for name in PROGRAM_ONLY:
        if name in stated:
            raise click.UsageError(f"{_option(ctx, name)} does not go with launch files", ctx)
    _check_options(ctx)
    try:
        files = suite.launch_files(paths)
    except InputError as error:
        raise click.UsageError(str(error), ctx) from None
    color = wants_color(given["color"])
    many = len(files) > 1 or os.path.isdir(paths[0])
    settings = _settings(ctx, given, many)
    if given["junit"] is not None and os.path.exists(given["junit"]):
        _check_files(ctx, given, suite.input_files(files, settings), ())
    if given["cluster"] is not None or given["results"] is not None or has_sweep(files):
        return _points(files, settings, given, color)
    if not many and given["junit"] is None:
        return exit_status(suite.run_file(files[0], settings, Streams(_write_stdout, write_stderr, color)))
    try:
        if many:
            streams = Streams(_write_stdout, write_over_progress, color)
            results = suite.run_suite(files, settings, given["jobs"], streams, progress)
        else:
            results = [suite.outcome_of(files[0], settings, color)]
            _write_stdout(results[0].out)
            write_stderr(results[0].err)
    except WorkerError as error:
        write_stderr(f"error: {error}\n")
        return 1
    if given["junit"] is not None and not _write_junit(given["junit"], results):
        return 2
    return suite.exit_code(results)


def _points(files: list[str], settings: Settings, given: dict[str, Any], color: bool) -> int:
    """Runs all points of launch files."""
    from pto_dialect.driver.batch import WorkerError
    from pto_dialect.driver.launch.suite import exit_code
    from pto_dialect.driver.run.program import Streams
    from pto_dialect.driver.sweep.cluster import ClusterError
    from pto_dialect.driver.sweep.run import WriteError, run_points
    from pto_dialect.driver.sweep.store import StoreError

    streams = Streams(_write_stdout, write_over_progress, color)
    where = {"jobs": given["jobs"], "cluster": given["cluster"], "results": given["results"]}
    try:
        results = run_points(files, settings, streams, rated_progress, **where)
    except (ClusterError, StoreError, WriteError) as error:
        write_stderr(f"error: {error}\n")
        return 2
    except WorkerError as error:
        write_stderr(f"error: {error}\n")
        return 1
    if given["junit"] is not None and not _write_junit(given["junit"], results):
        return 2
    return exit_code(results)


def _ranks(ctx: click.Context, path: str, given: dict[str, Any]) -> int:
    """Runs the program in ``path`` on several ranks."""
    from pto_dialect.driver.launch.rank_command import run_ranks_of
    from pto_dialect.driver.run.program import Streams, exit_status

    for name in (name for name in ALONE if name in stated_options(ctx)):
        raise click.UsageError(f"{_option(ctx, name)} does not go with --ranks", ctx)
    streams = Streams(_write_stdout, write_stderr, wants_color(given["color"]))
    return exit_status(run_ranks_of(path, given, _settings(ctx, given, False), streams))


def _settings(ctx: click.Context, given: dict[str, Any], many: bool) -> Settings:
    from pto_dialect.driver.launch.session import Settings

    def stated(name: str) -> str | None:
        return None if ctx.get_parameter_source(name) is ParameterSource.DEFAULT else given[name]

    return Settings(
        target=given["target"],
        backend=given["backend"],
        accumulate=stated("accumulate"),
        fill=stated("fill"),
        jobs=1 if many else given["jobs"],
        ranks=given["ranks"],
        dump=given["dump"],
        quiet=given["quiet"],
        policy=_policy(given),
        sanitizing=_sanitizing(given),
        timeout=given["timeout"],
        max_memory=given["max_memory"],
        allow_outside=given["allow_outside"],
        schedule=order_of(given),
        cross_core=given["cross_core"],
        plans=not given["no_plans"],
        verdicts=verdicts_of(given["no_cache"]),
    )


def _write_junit(path: str, results: list[Outcome]) -> bool:
    from pto_dialect.diagnostics.files import atomic_write
    from pto_dialect.driver.launch.junit import junit_xml

    try:
        atomic_write(path, junit_xml(results))
    except OSError as error:
        write_stderr(f"error: cannot write '{path}': {error.strerror or error}\n")
        return False
    return True


def _policy(given: dict[str, Any]) -> DiagnosticOptions:
    from pto_dialect.diagnostics.engine import DiagnosticOptions

    policy = DiagnosticOptions(given["allow"], given["deny"], given["werror"], given["pedantic"], given["max_errors"])
    return policy._replace(warn=given.get("warn", frozenset()))


def _request(given: dict[str, Any]) -> Request:
    from pto_dialect.driver.run.compare import Tolerance
    from pto_dialect.driver.run.request import Request
    from pto_dialect.runtime.run.machine import RunOptions

    watched = _sanitizing(given)
    return Request(
        arguments=given["arguments"],
        outputs=given["outputs"],
        expectations=given["expectations"],
        entry=given["entry"],
        target=given["target"],
        blocks=given["blocks"],
        jobs=given["jobs"],
        tolerance=Tolerance(given["rtol"], given["atol"]),
        run=RunOptions(
            accumulate=given["accumulate"],
            fill=given["fill"] or ("poison" if given["sanitize"] or given["trace"] else "zero"),
            backend=given["backend"],
            schedule=order_of(given),
            cross_core=given["cross_core"],
        ),
        policy=_policy(given),
        dump=given["dump"],
        profile=given["profile"],
        cycles=given["cycles"],
        advice=not given["no_advice"],
        quiet=given["quiet"],
        emit_python=given["emit_python"],
        sanitizing=watched,
        timeout=given["timeout"],
        max_memory=given["max_memory"],
        plans=not given["no_plans"],
        verdicts=verdicts_of(given["no_cache"]),
        listing=given["listing"],
        auto=given["auto"],
        seed=given["seed"],
        init_launch=given["init_launch"],
        reference=given["reference"],
    )


def _sanitizing(given: dict[str, Any]) -> Sanitizing | None:
    cycles: CycleRequest | None = given.get("cycle_request")
    files = [given[one] for one in ("trace", "html", "record")]
    if not given["sanitize"] and cycles is None and files == [None] * 3 and not (given["debug"] or given["compare"]):
        return None
    from pto_dialect.driver.run.sanitizing import Sanitizing
    from pto_dialect.sanitize.options import SanitizeOptions

    options = SanitizeOptions(given["sanitize"], given["sync"])
    files = (given["report"], given["suppressions"], given["trace"])
    shown = (given["record"], given["record_limit"], given["html"])
    return Sanitizing(options, given["sanitize_max"], *files, given["trace_costs"], given["fix"], cycles, *shown)


if __name__ == "__main__":
    main()
