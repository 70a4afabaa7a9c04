"""The command ``pto-lsp``: a language server on standard input and output."""

from __future__ import annotations

import logging
import sys

import click

from .command_line import PtoCommand, force_option, version_option, write_stderr

MISSING = 2
"""Exit code: the server needs something that is not installed."""


def _check_log(path: str) -> None:
    """Ends the command where the log would go to a file of another kind."""
    from pto_dialect.driver.output import OutputError, check_replaced  # deferred: start-up

    try:
        check_replaced("--log", path, "log")
    except OutputError as error:
        raise click.UsageError(str(error)) from None


@click.command(cls=PtoCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--stdio", is_flag=True, help="Communicate over standard input and output, which the server always does.")
@click.option("--log", "log_file", metavar="FILE", type=click.Path(dir_okay=False), help="Write a log to FILE.")
@force_option
@version_option("pto-lsp")
@click.pass_context
def main(ctx: click.Context, stdio: bool, log_file: str | None) -> None:
    """Serve editors that support the Language Server Protocol."""
    try:
        from pto_dialect.lsp.features import make_server  # deferred: start-up
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "cattrs", "attrs"):
            raise
        write_stderr("error: pto-lsp needs pygls, which is not installed: pip install 'pto-dialect[lsp]'\n")
        ctx.exit(MISSING)
    if log_file is not None:
        _check_log(log_file)
        logging.basicConfig(filename=log_file, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    else:
        logging.basicConfig(stream=sys.stderr, level=logging.CRITICAL)
    # Questions are answered while a text is checked: whoever waits has its turn soon.
    sys.setswitchinterval(0.0005)
    server = make_server()
    server.start(sys.stdin.buffer)
    ctx.exit(server.protocol.exit_code)


if __name__ == "__main__":
    main()
