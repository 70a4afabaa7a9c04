"""The command ``pto mcp``: a server for coding agents on standard input and output."""

from __future__ import annotations

import click

from .command_line import PtoCommand, version_option, write_stderr

MISSING = 2
"""Exit code: the server needs something that is not installed."""

LIBRARY = frozenset(("mcp", "mcp_types", "anyio", "pydantic", "pydantic_core"))


@click.command(cls=PtoCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("folder", metavar="[FOLDER]", type=click.Path(exists=True, file_okay=False), default=".")
@click.option(
    "--seconds", type=click.IntRange(1, 3600), default=60, show_default=True,
    help="Processor time of a call; twice as much by the clock.",
)  # fmt: skip
@click.option(
    "--megabytes", type=click.IntRange(512, 1 << 20), default=4096, show_default=True,
    help="Address space of each process of a call.",
)  # fmt: skip
@version_option("pto mcp")
@click.pass_context
def main(ctx: click.Context, folder: str, seconds: int, megabytes: int) -> None:
    """Serve coding agents over the Model Context Protocol.

    The server reads .pto files of FOLDER, by default the current one, and nothing outside of it; it changes a file only
    where a request to fix says so. It ends with its input.
    """
    try:
        from pto_dialect.integrations.agents.server import make_server  # deferred: optional
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in LIBRARY:
            raise
        write_stderr("error: pto mcp needs mcp, which is not installed: pip install 'pto-dialect[mcp]'\n")
        ctx.exit(MISSING)
    from pto_dialect.integrations.agents.calls import Limits  # deferred: start-up

    make_server(folder, Limits(seconds, megabytes)).run("stdio")


if __name__ == "__main__":
    main()
