"""The command ``pto-fmt``: programs in one layout."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from .command_line import PtoCommand, check_settings, color_option, no_config_option, read_stdin, version_option
from .in_place import Rewritten, Showing, columns_of, refuse_cpp, rewrite
from .shell_words import matching

if TYPE_CHECKING:
    from pto_dialect.driver.inputs import Input

CHANGED = 1
"""Exit code: ``--check`` has found files that would change, or a program cannot be read."""


class LineRange(click.ParamType):
    """`FIRST:LAST`, or one line."""

    name = "lines"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> range:
        """The lines, from 1."""
        if isinstance(value, range):
            return value
        found = re.fullmatch(r"([0-9]{1,9})(?::([0-9]{1,9}))?", str(value))
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if first < 1 or last < first:
            self.fail(f"'{value}' is not FIRST:LAST with lines from 1", param, ctx)
        return range(first, last + 1)


@click.command(cls=PtoCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("paths", metavar="[FILE|DIR]...", nargs=-1, type=click.Path(), callback=matching)
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 when a file would change, and name it.")
@click.option("--diff", is_flag=True, help="Change nothing; print what would change, as diff -u does.")
@click.option("--lines", "only", type=LineRange(), multiple=True, metavar="FIRST:LAST",
              help="Change only statements on these lines; may be given several times.")  # fmt: skip
@no_config_option
@color_option
@version_option("pto-fmt")
@click.pass_context
def main(
    ctx: click.Context,
    paths: tuple[str, ...],
    check: bool,
    diff: bool,
    only: tuple[range, ...],
    no_config: bool,
    color: str,
) -> None:
    """Format .pto programs in one style, in place; '-' reads standard input and prints.

    Only white space changes: comments, empty lines, names and the form of every statement stay the same.
    """
    from pto_dialect.driver.formatting import formatted  # deferred: start-up
    from pto_dialect.driver.inputs import STDIN, InputError, collect  # deferred: start-up

    try:
        inputs = collect(paths or (STDIN,), read_stdin)
    except (InputError, OSError) as error:
        raise click.UsageError(str(error), ctx) from None
    refuse_cpp(ctx, inputs, "pto-fmt rewrites")
    if only and len(inputs) != 1:
        raise click.UsageError("--lines goes with one input", ctx)
    check_settings(ctx, inputs, no_config, color)

    def change(text: str, item: Input) -> Rewritten:
        result = formatted(text, item.name, only, None if no_config else columns_of(item.path))
        return Rewritten(result.text, result.errors, bool(result.errors))

    failed, changed = rewrite(inputs, change, Showing(check, diff, color))
    if failed or (check and changed):
        ctx.exit(CHANGED)


if __name__ == "__main__":
    main()
