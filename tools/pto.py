"""The command ``pto``: the other commands under one name, to which ``start.py`` forwards; this tells about them."""

from __future__ import annotations

from importlib import import_module

import click
from click.shell_completion import get_completion_class

from .command_line import show_version, write_stderr
from .subcommands import SUBCOMMANDS

SHELLS = ("bash", "zsh", "fish")
INSTALLED = ("pto", "pto-opt", "pto-run", "pto-fmt", "pto-sweep", "pto-lsp", "pto-debug-adapter")
"""Commands that shells can complete."""


class PtoGroup(click.Group):
    """Finds the commands behind the names when somebody asks, for help and completion."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names."""
        return [*SUBCOMMANDS, "completion"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command behind a name."""
        if cmd_name not in SUBCOMMANDS:
            return super().get_command(ctx, cmd_name)
        try:
            return import_module(f".{SUBCOMMANDS[cmd_name].module}", __package__).main
        except ModuleNotFoundError:
            return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The names with what they do, without importing what is behind them."""
        rows = [(name, each.text) for name, each in SUBCOMMANDS.items()]
        with formatter.section("Commands"):
            formatter.write_dl([*rows, ("completion", "what a shell reads to complete these commands")])


@click.command(cls=PtoGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=show_version("pto", "xDSL", "numpy"),
    help="Show the version and exit.",
)  # fmt: skip
def main() -> None:
    """Check, run, lay out and explain PTO programs.

    Each command has its own --help and takes the options of the command that it stands for.
    """


@main.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print what SHELL reads to complete pto and the other commands.

    For bash: pto completion bash > ~/.local/share/bash-completion/completions/pto, or eval "$(pto completion bash)".
    """
    cls = get_completion_class(shell)
    assert cls is not None
    for name in INSTALLED:
        variable = f"_{name.replace('-', '_').upper()}_COMPLETE"
        made = cls(main, {}, name, variable)
        click.echo(made.source_template % made.source_vars())


def missing(name: str) -> None:
    """Tells that the command ``name`` is not part of this installation."""
    write_stderr(f"error: pto {name} is not part of this installation\n")


if __name__ == "__main__":
    main()
