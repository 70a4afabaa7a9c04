"""The command ``pto-debug-adapter``: the debugger for editors, over standard input and output."""

from __future__ import annotations

import os
import sys
from tempfile import TemporaryDirectory

import click

from .command_line import PtoCommand, version_option


@click.command(cls=PtoCommand, context_settings={"help_option_names": ["-h", "--help"]})
@version_option("pto-debug-adapter")
def main() -> None:
    """Debug PTO programs from an editor, over the Debug Adapter Protocol."""
    from pto_dialect.children import python_command  # deferred: start-up
    from pto_dialect.debug.dap.adapter import Adapter  # deferred: start-up
    from pto_dialect.debug.dap.launch import Launcher  # deferred: start-up
    from pto_dialect.debug.dap.protocol import Connection  # deferred: start-up

    outgoing = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Nothing else may get between the messages.
    sys.stdout = sys.stderr
    connection = Connection(sys.stdin.buffer, outgoing)
    with TemporaryDirectory(prefix="pto-debug-") as folder:
        launcher = Launcher(
            python_command("pto_dialect.tools.start:pto_run"),
            folder,
            lambda text: connection.event("output", category="stdout", output=text),
        )
        Adapter(connection, launcher).run()


if __name__ == "__main__":
    main()
