"""``pto doctor``: what is installed, and what brings the rest."""

from __future__ import annotations

import json

import click

from .command_line import PtoCommand, version_option

INCOMPLETE = 1
"""Exit code: something necessary is missing, or a wrong package is installed."""


@click.command(cls=PtoCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--output-format", "form", type=click.Choice(("text", "json")), default="text", help="The form of the list."
)
@version_option("pto doctor")
@click.pass_context
def main(ctx: click.Context, form: str) -> None:
    """Show what is installed of all that this package works with, and the commands that bring the rest.

    Covers the packages whose kernels run here (PTODSL, PyPTO, TileLang), PyTorch, C++ compilers and extras. Exits with
    code 1 where a part is wrong: another package of the same name, or an old dependency.
    """
    from pto_dialect.integrations.doctor import as_text, is_complete, parts  # deferred: start-up

    found = parts()
    if form == "json":
        listed = {title: [part._asdict() for part in section] for title, section in found.items()}
        click.echo(json.dumps(listed, indent=1))
    else:
        click.echo(as_text(found), nl=False)
    if not is_complete(found):
        ctx.exit(INCOMPLETE)


if __name__ == "__main__":
    main()
