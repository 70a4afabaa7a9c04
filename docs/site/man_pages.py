"""Man pages of the commands, from what click knows of them: ``python docs/site/man_pages.py FOLDER``."""

import sys
from importlib import import_module
from pathlib import Path

import click
from click_man.core import write_man_pages

import pto_dialect

# `pto` first: what its sub-commands are under their own names is written over what it says of them.
MODULES = {
    "pto": "pto",
    "pto-opt": "pto_opt",
    "pto-run": "pto_run",
    "pto-fmt": "pto_fmt",
    "pto-report": "pto_report",
    "pto-sweep": "pto_sweep",
    "pto-prove": "pto_prove",
    "pto-reduce": "pto_reduce",
    "pto-which": "pto_which",
    "pto-optimize": "pto_optimize",
    "pto-tune": "pto_tune",
    "pto-cycles": "pto_cycles",
    "pto-doctor": "pto_doctor",
    "pto-lsp": "pto_lsp",
    "pto-mcp": "pto_mcp",
    "pto-debug-adapter": "pto_debug_adapter",
}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, module in MODULES.items():
        command: click.Command = import_module(f"pto_dialect.tools.{module}").main
        write_man_pages(name, command, version=pto_dialect.__version__, target_dir=str(folder))
    # Sub-commands that `pto` imports when they are named.
    rows = [
        f".TP\n\\fB{name}\\fP\n{each.text}\n"
        for name, each in import_module("pto_dialect.tools.subcommands").SUBCOMMANDS.items()
    ]
    with (folder / "pto.1").open("a", encoding="utf-8") as page:
        page.writelines(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
