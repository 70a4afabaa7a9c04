"""Which options of ``pto-run`` go together, and which files they may name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from .command_line import stated_options

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
    "insecure": ("cluster",),
    "dashboard": ("cluster",),
    "record_limit": ("record", "debug"),
    "record_every": ("record",),
    "break_on_finding": ("debug",),
}
"""Parameters that mean nothing without one of others."""

RUNS = ("outputs", "expectations", "dump", "profile", "cycles", "report", "trace", "html", "jobs", "quiet", "schedule",
        "fix", "auto", "reference", "record", "debug",
        "compare")  # fmt: skip
"""Parameters that are about a run, which there is none of with --emit-python and --list."""

RUNS_NOTHING = {"emit_python": "--emit-python", "listing": "--list"}

LAUNCH_SUFFIX = ".launch.toml"
LAUNCH_ONLY = {"junit", "allow_outside", "cluster", "insecure", "dashboard", "results"}
"""Parameters of launch files alone."""


def option_of(ctx: click.Context, name: str) -> str:
    """The longest spelling of a parameter."""
    return next(max(parameter.opts, key=len) for parameter in ctx.command.params if parameter.name == name)


def check_options(ctx: click.Context) -> None:
    """Complains about options that would change nothing."""
    stated = stated_options(ctx)
    for name, others in NEEDED.items():
        if name in stated and not stated & {*others}:
            needed = " or ".join(option_of(ctx, other) for other in others)
            raise click.UsageError(f"{option_of(ctx, name)} has no meaning without {needed}", ctx)
    for option, text in RUNS_NOTHING.items():
        for name in RUNS if option in stated else ():
            if name in stated:
                raise click.UsageError(f"{text} runs nothing, so there is nothing for {option_of(ctx, name)}", ctx)


_WITHOUT_CACHE = ("sanitize", "trace", "html", "record", "cycles", "debug", "compare", "ranks")
"""Runs that have coherent memory."""


def refuse_with_cache(ctx: click.Context, given: dict[str, Any]) -> None:
    """Complains about --scalar-cache beside options whose runs do not model it."""
    for name in _WITHOUT_CACHE if given["scalar_cache"] else ():
        if given[name]:
            raise click.UsageError(f"--scalar-cache does not go with {option_of(ctx, name)}", ctx)


def check_files(
    ctx: click.Context, given: dict[str, Any], inputs: Sequence[str], outputs: Sequence[tuple[str, str]]
) -> None:
    """Complains about outputs that are inputs or each other; ``outputs`` are those of buffers, which may be inputs."""
    from pto_dialect.diagnostics.file_kinds import report_kind  # deferred: start-up
    from pto_dialect.driver.inputs import CPP_SUFFIXES  # deferred: start-up
    from pto_dialect.driver.output import OutputError, check_distinct, check_replaced  # deferred: start-up

    files = ("report", "trace", "html", "junit", "record")
    kinds = {"trace": "trace", "html": "page", "junit": "junit", "record": "recording"}
    own = [(f"--{name}", given[name]) for name in files if given[name] is not None]
    if given["fix"] in inputs and given["fix"].endswith(CPP_SUFFIXES):
        raise click.UsageError("--fix rewrites .pto programs; C++ kernels are changed by hand", ctx)
    if given["fix"] not in (None, "-") and given["fix"] not in inputs:
        # Naming the program itself states that it is to be replaced.
        own.append(("--fix", given["fix"]))
    suppressions = [given["suppressions"]] if given["suppressions"] is not None else []
    try:
        check_distinct(own, [*inputs, *suppressions], outputs)
        for option, path in own:
            check_replaced(option, path, kinds.get(option[2:], "program" if option == "--fix" else report_kind(path)))
    except OutputError as error:
        raise click.UsageError(str(error), ctx) from None
