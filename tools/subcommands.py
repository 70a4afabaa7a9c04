"""The commands that are sub-commands of ``pto``."""

from __future__ import annotations

from typing import NamedTuple


class Subcommand(NamedTuple):
    """A name below ``pto``: the module of its command, what comes before its arguments, and what it does."""

    module: str
    before: tuple[str, ...]
    text: str


SUBCOMMANDS = {
    "check": Subcommand("pto_opt", ("--verify-only",), "check programs (pto-opt --verify-only)"),
    "run": Subcommand("pto_run", (), "run programs on numpy arrays (pto-run)"),
    "launch": Subcommand("pto_run", (), "run launch files, alone or all of a folder (pto-run)"),
    "debug": Subcommand("pto_run", ("--debug",), "debug a run or a recording (pto-run --debug)"),
    "debug-adapter": Subcommand("pto_debug_adapter", (), "debug from an editor, over the Debug Adapter Protocol"),
    "fmt": Subcommand("pto_fmt", (), "lay programs out (pto-fmt)"),
    "fix": Subcommand("pto_opt", ("--fix",), "correct mistakes (pto-opt --fix)"),
    "explain": Subcommand("pto_opt", ("--explain",), "explain an operation or another name (pto-opt --explain)"),
    "lower": Subcommand("pto_opt", ("--lower",), "lower programs to what a chip runs (pto-opt --lower)"),
    "opt": Subcommand("pto_opt", (), "parse, check and print programs (pto-opt)"),
    "lsp": Subcommand("pto_lsp", (), "serve editors (pto-lsp)"),
    "mcp": Subcommand("pto_mcp", (), "serve coding agents over the Model Context Protocol"),
    "report": Subcommand("pto_report", (), "make or serve the page of a recording, or run and write one"),
    "prove": Subcommand("pto_prove", (), "prove the order of the pipes for all arguments and numbers of iterations"),
    "optimize": Subcommand("pto_optimize", (), "search the passes that make a kernel fast"),
    "tune": Subcommand("pto_tune", (), "find the best tile sizes, buffers and loop orders of a kernel"),
    "cycles": Subcommand("pto_cycles", (), "fit the cycle model to your own measurements"),
    "reduce": Subcommand("pto_reduce", (), "find the smallest program that still shows something"),
    "which": Subcommand("pto_which", (), "name the stage that makes a wrong number"),
    "sweep": Subcommand("pto_sweep", (), "show results of sweeps"),
    "doctor": Subcommand("pto_doctor", (), "show what is installed, and what brings the rest"),
}
"""All of them, in the order in which help lists them."""

ALSO = {"format": "fmt", "version": "--version"}
"""Other names of sub-commands."""
