"""The command ``pto-opt``: parse, verify and print PTO programs."""

from __future__ import annotations

import os
import sys
from math import inf
from typing import TYPE_CHECKING, Any

import click

from pto_dialect.terminal import shown

from .command_line import (
    PtoCommand,
    check_settings,
    color_option,
    cycle_model_options,
    cycle_request,
    findings_options,
    force_option,
    no_plans_option,
    output_format_option,
    plain_option,
    progress,
    read_stdin,
    release_option,
    stated_options,
    verdicts_of,
    version_option,
    watch_option,
    write_over_progress,
    write_releases,
    write_stderr,
)
from .constants import NO_CACHE, SERVER_OPTION
from .cpp_options import READERS, cpp_options, with_cpp
from .ir_options import ir_printing, ir_printing_options
from .shell_words import matching
from .spellings import REFUSED
from .streams import let_annotations_through, wants_color, write_stdout
from .target_choice import TargetChoice

if TYPE_CHECKING:
    from pto_dialect.driver.batch import Task
    from pto_dialect.driver.inputs import Input

UNREGISTERED = "dialect-unregistered"
PROOF_REMARKS = ("prove-open", "prove-done")
PASS_REMARKS = frozenset(
    (
        *("insert-sync-left-alone", "insert-sync-shared-flag", "order-proven", "order-undecided"),
        *(
            "delay-pops-unchanged",
            "double-buffer-one-slot",
            "double-buffer-unchanged",
            "fuse-loops-apart",
            "fuse-loops-arguments",
            "join-transfers-unchanged",
            "resize-panels-slots",
            "resize-panels-unchanged",
            "tile-cube-unchanged",
            "tile-loops-arguments",
            "tile-loops-products",
            "tile-loops-unchanged",
            "unroll-unchanged",
        ),
    )
)
"""Remarks that are shown without ``--pedantic``: a pass did not do what its name says, or what it did is
right under a condition."""

WRONG_PROGRAM = 1
WRONG_COMMAND_LINE = 2


def _pipeline(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...] | None:
    from pto_dialect.passes.registry import PassOptionError, UnknownPassError, parse_pipeline  # deferred: start-up

    if not texts:
        return None
    try:
        return tuple(name for text in texts for name in parse_pipeline(text))
    except (UnknownPassError, PassOptionError) as error:
        raise click.BadParameter(str(error), ctx, param) from None


def _lowering(ctx: click.Context, param: click.Parameter, text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    from pto_dialect.passes.stages import UnknownStageError, lowering  # deferred: start-up

    try:
        return lowering(text)
    except UnknownStageError as error:
        raise click.BadParameter(str(error), ctx, param) from None


ALLOW_OPEN = "allow-open"


def _proving(ctx: click.Context, param: click.Parameter, text: str | None) -> tuple[float, bool] | None:
    """The seconds of a proof, and whether it may stay open."""
    from pto_dialect.driver.options import PROOF_SECONDS  # deferred: start-up

    if text is None:
        return None
    words = text.split(",")
    seconds, allow_open = PROOF_SECONDS, ALLOW_OPEN in words
    for word in words:
        if word == ALLOW_OPEN:
            continue
        try:
            seconds = float(word)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds < inf:
            raise click.BadParameter(f"'{word}' is no number of seconds above 0, and not {ALLOW_OPEN}", ctx, param)
    return seconds, allow_open


class OptCommand(PtoCommand):
    """Lists the passes after the options, and accepts passes as options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As other commands; for passes written as options, and for other options of mlir-opt, the message names what
        is used instead."""
        given = [*args]
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption:
            from pto_dialect.passes.registry import PASS_TABLE  # deferred: start-up

            for option in (one for one in given if one.startswith("-")):
                name = option.lstrip("-").partition("=")[0]
                if name in PASS_TABLE:
                    raise click.UsageError(f"{name} is a pass: write -p {name}", ctx) from None
                if name in REFUSED:
                    raise click.UsageError(f"there is no option --{name}: {REFUSED[name]}", ctx) from None
            raise

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The passes and stages, from their tables, which are read for the help only."""
        from pto_dialect.passes.registry import PASS_TABLE  # deferred: start-up
        from pto_dialect.passes.stages import STAGES  # deferred: start-up

        with formatter.section("Passes"):
            formatter.write_dl([(name, entry.summary) for name, entry in PASS_TABLE.items()])
        usual = (
            "usual",
            ", ".join(name for name, stage in STAGES.items() if stage.usual) + ": what --lower runs alone",
        )
        with formatter.section("Stages of --lower"):
            rows = [(name, ", ".join(stage.passes)) for name, stage in STAGES.items()]
            formatter.write_dl([*rows, usual, ("all", "all stages")])
        write_releases(formatter)


@click.command(cls=OptCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("paths", metavar="[FILE|DIR|-]...", nargs=-1, type=click.Path(), callback=matching)
@click.option(
    "-o",
    "output",
    metavar="FILE|DIR",
    help="Write to this file instead of standard output; a folder for many.",
)
@click.option("--target", type=TargetChoice(), help="Chip to check for; by default that of the module.")
@release_option("Release of the reference that is meant; otherwise what the module says, else the newest known.")
@click.option(
    "-p", "--passes", metavar="A,B", multiple=True, callback=_pipeline,
    help="Passes to run, in this order; all verify passes by default, '' for none.",
)  # fmt: skip
@click.option(
    "--lower", metavar="[=STAGE,…]", callback=_lowering,
    help="Lower the checked program to what a chip runs, or run only these stages, or all.",
)  # fmt: skip
@click.option(
    "--prove", metavar="[=SECONDS|allow-open]", callback=_proving,
    help="Run the program before and after each pass and compare, with this time limit (a minute).",
)  # fmt: skip
@ir_printing_options
@click.option("--verify-only", is_flag=True, help="Print no module.")
@click.option("--verify-diagnostics", is_flag=True, help="Compare diagnostics with '// expected-error {{…}}' comments.")
@click.option("--split-input-file", is_flag=True, help="Treat the parts between '// -----' lines as separate programs.")
@click.option(
    "--emit", "language", type=click.Choice(("pto", "cpp")), default="pto", show_default=True,
    help="Print the module as .pto text, or as C++ text for the compiler of the chip.",
)  # fmt: skip
@click.option("--print-op-generic", is_flag=True, help="Print every operation in generic form.")
@click.option("--exact-generic", is_flag=True, help="In generic form, keep memrefs that only PTO tools can parse.")
@click.option("--print-debuginfo", is_flag=True, help="Print the location of every operation.")
@click.option(
    "--no-unregistered-dialect/--allow-unregistered-dialect", "registered_only", default=None,
    help="Refuse, or accept without a warning, operations of unknown dialects.",
)  # fmt: skip
@click.option(
    "--stats", type=click.Choice(["text", "json"]), metavar="[=text|json]",
    help="Print counts of operations, memory and flags instead of the module.",
)  # fmt: skip
@cycle_model_options("Print what operations take on the chip by its cycle model instead of the module.")
@click.option(
    "--memory-report", type=click.Choice(["text", "json"]), metavar="[=text|json]",
    help="Print addresses and live ranges of on-chip buffers instead of the module.",
)  # fmt: skip
@click.option("--fix", is_flag=True, help="Correct unambiguous mistakes in place; print the rest, no module.")
@click.option("--unsafe", is_flag=True, help="Make guesses and add statements as well; goes with --fix.")
@click.option("--format", "layout", is_flag=True, help="Format programs in place as pto-fmt does, after --fix.")
@click.option("--diff", is_flag=True, help="Change nothing and print what --fix, or --format, would change.")
@click.option(
    "--check", is_flag=True,
    help="Change nothing; exit with 1 if a file would change; goes with --fix and --format.",
)  # fmt: skip
@click.option("--allow-schematic", is_flag=True, help="Accept '...' in types, as in documentation.")
@output_format_option("Form of the diagnostics on standard error, and of lists, statistics and reports: text or JSON.")
@click.option("--entry", metavar="NAME", help="Kernel of a C++ file, or a template with arguments: 'k<half, 128>'.")
@cpp_options
@findings_options("Errors shown for each program; 0 for all.")
@click.option(NO_CACHE, is_flag=True, help="Neither use nor store results of other runs.")
@no_plans_option
@plain_option
@click.option(
    SERVER_OPTION, is_flag=True, expose_value=False,
    help="Let a resident process execute the call, as with PTO_SERVER=1.",
)  # fmt: skip
@watch_option
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes for many inputs, at most one for each processor.",
)
@force_option
@color_option
@click.option(
    "--explain", "explained", metavar="WORD",
    help="Explain a rule, an operation, a type or another name, or search operations, and exit.",
)  # fmt: skip
@click.option("--list-rules", is_flag=True, help="List all rules and exit.")
@click.option("--list-ops", is_flag=True, help="List all operations (of --family, of --target) and exit.")
@click.option("--family", metavar="NAME", help="List the operations of this family only.")
@click.option("--json", "as_json", is_flag=True, hidden=True, help="As --output-format json, for lists.")
@version_option("pto-opt", "xDSL")
@click.pass_context
def main(ctx: click.Context, paths: tuple[str, ...], explained: str | None, list_rules: bool, **given: Any) -> None:
    """Parse, verify and print PTO programs.

    Each FILE is one program; a DIR means all .pto files in it; - is standard input, which is also read
    when nothing is named. The module goes to standard output, diagnostics go to standard error. Several
    inputs are only checked, unless -o names a folder for their modules.

    Exit code: 0 if all programs are correct, 1 if one has errors, 2 if the command line is wrong.
    """
    if given.pop("watch"):
        from .watching import watch  # deferred: start-up

        watch(paths)
        return
    listed: bool = given.pop("list_ops")
    family, as_json = given.pop("family"), given.pop("as_json") or given["format"] == "json"
    if explained is not None or list_rules or listed:
        write_stdout(shown(_told(ctx, explained, listed, family, given["target"], as_json)))
        return
    if family is not None:
        raise click.UsageError("--family goes with --list-ops", ctx)
    from pto_dialect.driver.command import run_many, run_one  # deferred: start-up
    from pto_dialect.driver.jobs import WorkerError  # deferred: start-up
    from pto_dialect.driver.output import OutputError  # deferred: start-up
    from pto_dialect.driver.report import Reporter  # deferred: start-up

    from .known_runs import Known  # deferred: start-up

    inputs, batch = _inputs(ctx, paths)
    inputs = with_cpp(ctx, inputs, given, given.pop("entry"), READERS, every=True)
    if given["language"] == "cpp":
        _check_emitting(ctx, given)
        inputs = [item._replace(relative=os.path.splitext(item.relative)[0] + ".cpp") for item in inputs]
    if given["format"] == "github":
        let_annotations_through()
    check_settings(ctx, inputs, given["no_config"], given["color"], given["format"])
    rewriting = _rewriting(ctx, given)
    task = _task(ctx, inputs, batch, **given)
    if rewriting:
        from .in_place import Showing, mend, refuse_cpp, rewrite  # deferred: start-up

        refuse_cpp(ctx, inputs, "--fix and --format rewrite")
        change = mend(task, **rewriting)
        failed, changed = rewrite(
            inputs, change, Showing(given["check"], given["diff"], given["color"], "would change")
        )
        ctx.exit(WRONG_PROGRAM if failed or (given["check"] and changed) else 0)
    known = Known(paths, inputs, batch, task)
    write_error = known.recording(write_over_progress if batch else write_stderr)
    reporter = Reporter(task.format, task.color, write_error, task.verdicts, release=given["reference_release"])
    try:
        if batch:
            code = run_many(inputs, task, reporter, given["jobs"], progress, known.write)
        else:
            code = run_one(inputs[0], task, reporter, known.write)
        known.keep(code)
    except (OutputError, WorkerError) as error:
        write_stderr(f"error: {error}\n")
        code = WRONG_COMMAND_LINE if isinstance(error, OutputError) else WRONG_PROGRAM
    ctx.exit(code)


def _check_emitting(ctx: click.Context, given: dict[str, Any]) -> None:
    """Refuses options about the form of .pto text, and others that print no module, together with ``--emit cpp``."""
    for option, name in (
        *(
            ("print_op_generic", "--print-op-generic"),
            ("print_debuginfo", "--print-debuginfo"),
            ("verify_only", "--verify-only"),
        ),
        *(("split_input_file", "--split-input-file"), ("verify_diagnostics", "--verify-diagnostics")),
        *(("stats", "--stats"), ("cycles", "--cycles"), ("memory_report", "--memory-report")),
        *(("fix", "--fix"), ("diff", "--diff"), ("layout", "--format"), ("exact_generic", "--exact-generic")),
    ):
        if given[option]:
            raise click.UsageError(f"--emit cpp prints C++ text; it does not go with {name}", ctx)


def _rewriting(ctx: click.Context, given: dict[str, Any]) -> dict[str, bool] | None:
    """What ``--fix``, ``--format`` and ``--diff`` ask for, ``None`` without them."""
    layout = given["layout"]
    # As in ruff, a difference alone is that of the fixes.
    fix = given["fix"] = given["fix"] or (given["diff"] and not layout)
    if not (fix or layout):
        for option in ("unsafe", "check"):
            if given[option]:
                raise click.UsageError(
                    f"--{option} has no meaning without --fix{' or --format' * (option != 'unsafe')}", ctx
                )
        return None
    if given["unsafe"] and not fix:
        raise click.UsageError("--unsafe has no meaning without --fix", ctx)
    for option, name in (
        *(("output", "-o"), ("verify_diagnostics", "--verify-diagnostics"), ("stats", "--stats"), ("lower", "--lower")),
        *(("cycles", "--cycles"), ("memory_report", "--memory-report"), ("prove", "--prove")),
    ):
        if given[option]:
            raise click.UsageError(
                f"--{'fix' if fix else 'format'} rewrites the inputs; it does not go with {name}", ctx
            )
    return {"fix": fix, "unsafe": given["unsafe"], "layout": layout, "diff": given["diff"] or given["check"]}


def _inputs(ctx: click.Context, paths: tuple[str, ...]) -> tuple[list[Input], bool]:
    """What the command line names, and whether that is more than one program to print."""
    from pto_dialect.driver.inputs import InputError, collect  # deferred: start-up

    if not paths and sys.stdin is not None and sys.stdin.isatty():
        raise click.UsageError("name a file, a folder, or - for standard input", ctx)
    try:
        inputs = collect(paths or ("-",), read_stdin)
    except InputError as error:
        raise click.UsageError(str(error), ctx) from None
    except OSError as error:
        raise click.UsageError(f"cannot read standard input: {error.strerror or error}", ctx) from None
    return inputs, len(inputs) > 1 or any(os.path.isdir(path) for path in paths)


def _task(ctx: click.Context, inputs: list[Input], batch: bool, **given: Any) -> Task:
    from pto_dialect.diagnostics.engine import DiagnosticOptions  # deferred: start-up
    from pto_dialect.driver.batch import Task  # deferred: start-up
    from pto_dialect.driver.options import Options  # deferred: start-up
    from pto_dialect.passes.registry import PASS_TABLE, VERIFY_PASSES  # deferred: start-up

    output: str | None = given["output"]
    if output is not None:
        _check_output(ctx, output, inputs, batch, given)
    allow, deny = given["allow"], given["deny"]
    registered_only: bool | None = given["registered_only"]
    if registered_only is not None:
        allow, deny = (allow, deny | {UNREGISTERED}) if registered_only else (allow | {UNREGISTERED}, deny)
    proving, allow_open = given["prove"] or (None, False)
    remarks = PASS_REMARKS | frozenset(PROOF_REMARKS if proving is not None else ())
    policy = DiagnosticOptions(allow, deny, given["werror"], given["pedantic"], given["max_errors"], remarks)
    passes: tuple[str, ...] | None = given["passes"]
    lowering: tuple[str, ...] | None = given["lower"]
    if passes is not None and lowering is not None:
        raise click.UsageError("--lower names passes already, so -p cannot name others", ctx)
    if passes is None:
        passes = (*VERIFY_PASSES, *(lowering or ()))
    if given["stats"] is not None and given["memory_report"] is not None:
        raise click.UsageError("--stats and --memory-report print in place of the module, choose one", ctx)
    form: str | None = given["stats"] or given["memory_report"]
    memory: str | None = None
    if given["memory_report"] is not None:
        # The report plans by itself: an operation that has an address already does not state when it is needed.
        memory = _reuse(passes)
        passes = tuple(call for call in passes if not PASS_TABLE[call.partition("{")[0]].changes)
    if proving is not None and not any(PASS_TABLE[call.partition("{")[0]].changes for call in passes):
        raise click.UsageError("--prove needs a pass that changes the program: --lower, or -p", ctx)
    options = Options(
        target=given["target"],
        release=given["reference_release"],
        language=given["language"],
        passes=passes,
        proving=proving,
        allow_open=allow_open,
        printing=not (given["verify_only"] or form or given["cycles"]) and (not batch or output is not None),
        verify_diagnostics=given["verify_diagnostics"],
        split_input=given["split_input_file"],
        generic=given["print_op_generic"],
        portable=not given["exact_generic"],
        debuginfo=given["print_debuginfo"],
        schematic=given["allow_schematic"],
        statistics=form is not None,
        memory=memory,
        cycles=cycle_request(ctx, given),
        plans=not given["no_plans"],
        policy=policy,
        ir_printing=ir_printing(ctx, given, passes, batch, write_stderr),
    )
    # How far a proof comes depends on the machine; what is printed between passes is printed while they run.
    verdicts = verdicts_of(given["no_cache"] or proving is not None or options.ir_printing is not None)
    stated = None if given["no_config"] else stated_options(ctx)
    color = wants_color(given["color"])
    return Task(options, output, given["format"], color, form, verdicts, given["cycles"], stated)


def _check_output(ctx: click.Context, output: str, inputs: list[Input], batch: bool, given: dict[str, Any]) -> None:
    """Raises ``click.UsageError`` where nothing can be written to ``output``."""
    from pto_dialect.driver.output import OutputError, check_output  # deferred: start-up

    for option in ("verify_only", "stats", "cycles", "memory_report"):
        if given[option]:
            name = option.replace("_", "-")
            raise click.UsageError(f"--{name} prints no module, so there is nothing to write with -o", ctx)
    try:
        check_output(output, inputs, batch, given["language"])
    except OutputError as error:
        raise click.UsageError(str(error), ctx) from None


def _reuse(passes: tuple[str, ...]) -> str:
    """How a pipeline lets tiles share bytes."""
    from pto_dialect.passes.registry import PASS_TABLE  # deferred: start-up

    usual = PASS_TABLE["assign-memory"].options["reuse"][0]
    calls = [call for call in passes if call.startswith("assign-memory{")]
    return calls[-1].partition("reuse=")[2].rstrip("}").split()[0] if calls else usual


def _told(
    ctx: click.Context, explained: str | None, operations: bool, family: str | None, target: str | None, as_json: bool
) -> str:
    """What is printed instead of a run: about an operation or rule, or a list of them."""
    if explained is not None:
        from pto_dialect.driver.explain.lookup import UnknownTermError, explain, explain_json  # deferred: start-up

        try:
            return (explain_json if as_json else explain)(explained)
        except UnknownTermError as error:
            raise click.UsageError(str(error), ctx) from None
    if operations:
        from pto_dialect.driver.explain import listing  # deferred: start-up

        try:
            return (listing.list_operations_json if as_json else listing.list_operations)(family, target)
        except listing.UnknownFamilyError as error:
            raise click.UsageError(str(error), ctx) from None
    from pto_dialect.driver.explain import rules  # deferred: start-up

    return rules.list_rules_json() if as_json else rules.list_rules()


if __name__ == "__main__":
    main()
