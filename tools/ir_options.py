"""The options of ``pto-opt`` that print the module between passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pto_dialect.passes.ir_printing import IrPrinting

_FLAGS = {
    "before_all": "Print the module to standard error before each pass.",
    "after_all": "Print the module to standard error after each pass.",
    "after_change": "Print it after the passes that changed it.",
    "after_failure": "Print it after a pass that reported an error.",
    "module_scope": "Name the printed operation in the banners.",
}
_LISTS = {"before": "Print it before these passes.", "after": "Print it after these passes."}


def _pass_names(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> frozenset[str]:
    from pto_dialect.passes.registry import UnknownPassError, parse_pipeline  # deferred: start-up

    try:
        return frozenset(name for text in texts for name in parse_pipeline(text))
    except UnknownPassError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def ir_printing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Declares them; :func:`ir_printing` takes them out of the parameters of the command."""
    for name, text in reversed(_FLAGS.items()):
        command = click.option(_option(name), f"ir_{name}", is_flag=True, help=text)(command)
    for name, text in reversed(_LISTS.items()):
        command = click.option(
            _option(name), f"ir_{name}", metavar="A,B", multiple=True, callback=_pass_names, help=text
        )(command)
    return command


def _option(name: str) -> str:
    return f"--mlir-print-ir-{name.replace('_', '-')}"


def ir_printing(
    ctx: click.Context, given: dict[str, Any], passes: tuple[str, ...], batch: bool, write: Callable[[str], None]
) -> IrPrinting | None:
    """What the options in ``given`` want of a run of ``passes``, ``None`` without them; raises ``click.UsageError``."""
    wanted = {name: given[f"ir_{name}"] for name in (*_FLAGS, *_LISTS)}
    if not any(wanted.values()):
        return None
    stated = next(_option(name) for name, value in wanted.items() if value)
    if batch:
        raise click.UsageError(f"{stated} prints the module of one program", ctx)
    if given["fix"] or given["layout"]:
        raise click.UsageError(f"--fix and --format run no passes; they do not go with {stated}", ctx)
    running = {call.partition("{")[0] for call in passes}
    for name in _LISTS:
        for absent in sorted(wanted[name] - running):
            raise click.UsageError(f"{_option(name)}: {absent} is not among the passes that run", ctx)
    from pto_dialect.passes.ir_printing import IrPrinting  # deferred: start-up

    return IrPrinting(
        write,
        wanted["before"],
        wanted["after"],
        wanted["before_all"],
        wanted["after_all"],
        wanted["after_change"],
        wanted["after_failure"],
        wanted["module_scope"],
    )
