"""The command ``pto``: the other commands under one name, to which ``start.py`` forwards; this module shows their
help."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from pto_dialect.diagnostics.files import atomic_write
from pto_dialect.diagnostics.suggest import did_you_mean_hint

from .command_line import PtoCommand, SpelledGroup, version_option, write_stderr
from .subcommands import SUBCOMMANDS

FILES = {"bash": "{}", "zsh": "_{}", "fish": "{}.fish"}
"""Shells, and the files in which they look for what completes a command when it is completed first."""
INSTALLED = ("pto", "pto-opt", "pto-run", "pto-fmt", "pto-sweep", "pto-lsp", "pto-debug-adapter")
"""Commands that shells can complete."""


class PtoGroup(SpelledGroup):
    """Finds the commands of the names on request, for help and completion."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names."""
        return [*SUBCOMMANDS, "completion"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name."""
        if cmd_name not in SUBCOMMANDS:
            return super().get_command(ctx, cmd_name)
        try:
            return import_module(f".{SUBCOMMANDS[cmd_name].module}", __package__).main
        except ModuleNotFoundError:
            return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the names that are near an unknown one."""
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            from .elsewhere import COMMANDS  # deferred: start-up

            if args[0] in COMMANDS:
                raise click.UsageError(f"there is no command {args[0]!r}: {COMMANDS[args[0]]}", ctx)
            hint = did_you_mean_hint(args[0], self.list_commands(ctx), ())
            raise click.UsageError(f"No such command {args[0]!r}." + (f" {hint.capitalize()}" if hint else ""), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The names with their descriptions, without importing the commands."""
        rows = [(name, each.text) for name, each in SUBCOMMANDS.items()]
        with formatter.section("Commands"):
            formatter.write_dl([*rows, ("completion", "what a shell reads to complete these commands")])


@click.command(cls=PtoGroup, context_settings={"help_option_names": ["-h", "--help"]})
@version_option("pto", "xDSL", "numpy")
def main() -> None:
    """Check, run, format and explain PTO programs.

    Each sub-command has its own --help and accepts the options of the command that it calls.
    """


@main.command(cls=PtoCommand)
@click.argument("shell", type=click.Choice(tuple(FILES)))
@click.option("--into", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path),
              help="Write a file for each command into FOLDER, with the name that the shell expects.")  # fmt: skip
def completion(shell: str, into: Path | None) -> None:
    """Print the completion script of SHELL for pto and the other commands, or write it into a folder of SHELL.

    For this session: eval "$(pto completion bash)".
    """
    scripts = {name: _script(shell, name) for name in INSTALLED}
    if into is None:
        click.echo("\n".join(scripts.values()))
        return
    try:
        into.mkdir(parents=True, exist_ok=True)
        for name, text in scripts.items():
            atomic_write(str(into / FILES[shell].format(name)), text + "\n")
    except OSError as error:
        raise click.ClickException(f"cannot write into '{into}': {error.strerror or error}") from None
    click.echo(f"{len(scripts)} files in {into}")


def _script(shell: str, name: str) -> str:
    cls = get_completion_class(shell)
    assert cls is not None
    made = cls(main, {}, name, f"_{name.replace('-', '_').upper()}_COMPLETE")
    return made.source_template % made.source_vars()


def missing(name: str) -> None:
    """Reports that the command ``name`` is not part of this installation."""
    write_stderr(f"error: pto {name} is not part of this installation\n")


if __name__ == "__main__":
    main()
