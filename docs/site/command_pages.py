"""Pages of the sub-commands of ``pto``, from their help: ``python docs/site/command_pages.py`` writes docs/commands."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import click

FOLDER = Path(__file__).resolve().parents[1] / "commands"
WIDTH = 100


class Guide(NamedTuple):
    """What a page has besides the help: an example, and the page with more."""

    example: str
    page: str


GUIDES = {
    "check": Guide("pto check kernels/ --werror", "pto-opt.md"),
    "run": Guide("pto run kernel.pto --arg x=random:f16:16x16 --out y=y.npy", "pto-run.md"),
    "launch": Guide("pto launch kernel.launch.toml", "launch-files.md"),
    "debug": Guide("pto debug kernel.pto --auto", "debugger.md"),
    "debug-adapter": Guide("pto debug-adapter", "debugger.md"),
    "fmt": Guide("pto fmt kernels/ --check", "pto-fmt.md"),
    "fix": Guide("pto fix kernel.pto --diff", "fixes.md"),
    "explain": Guide("pto explain pto.tadd", "pto-opt.md"),
    "lower": Guide("pto lower kernel.pto -o lowered.pto", "lowering.md"),
    "opt": Guide("pto opt kernel.pto -p insert-sync", "pto-opt.md"),
    "lsp": Guide("pto lsp", "pto-lsp.md"),
    "mcp": Guide("pto mcp kernels/", "mcp.md"),
    "report": Guide("pto report kernel.pto -o page.html --auto", "report.md"),
    "prove": Guide("pto prove kernel.pto --assume 'n % 16 == 0'", "prove.md"),
    "optimize": Guide("pto optimize gemm.pto -j 2", "optimize.md"),
    "cycles": Guide("pto cycles --calibrate measured.csv -o mine.csv", "cycles.md"),
    "tune": Guide("pto tune kernel.launch.toml --output-format json", "tune.md"),
    "reduce": Guide("pto reduce kernel.pto --rule race-raw -- run --auto --sanitize", "reduce.md"),
    "which": Guide("pto which kernel.pto -p assign-memory,insert-sync --device y=y.npy", "which.md"),
    "sweep": Guide("pto sweep show results.jsonl", "cluster.md"),
    "doctor": Guide("pto doctor", "pto.md"),
}


def help_of(command: click.Command, name: str) -> str:
    """Returns the help of a command, and of the commands below it."""
    context = command.make_context(name, [], resilient_parsing=True, max_content_width=WIDTH, terminal_width=WIDTH)
    texts = [f"$ {name} --help\n{command.get_help(context)}\n"]
    if isinstance(command, click.Group):
        texts += [help_of(below, f"{name} {word}") for word, below in sorted(command.commands.items())]
    return "\n".join(texts)


def pages() -> dict[str, str]:
    """Returns the text of each page by the name of its sub-command."""
    found: dict[str, str] = {}
    for name, each in import_module("pto_dialect.tools.subcommands").SUBCOMMANDS.items():
        command: click.Command = import_module(f"pto_dialect.tools.{each.module}").main
        guide = GUIDES[name]
        found[name] = (
            f"# pto {name}\n\n{each.text[0].upper()}{each.text[1:]}. More in [{guide.page}](../{guide.page}).\n\n"
            f"```\n$ {guide.example}\n```\n\n## Options\n\n```\n{help_of(command, f'pto {name}')}```\n"
        )
    return found


def main() -> None:
    """Writes the pages."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / f"{name}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
