"""How options may be spelled: as MLIR's tools do, and with their values left out."""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence

import click

ALIASES = {
    "--mlir-print-op-generic": "--print-op-generic",
    "--mlir-print-debuginfo": "--print-debuginfo",
    "--pass-pipeline": "--passes",
    "--print-ir-after": "--mlir-print-ir-after",
    "--print-ir-after-all": "--mlir-print-ir-after-all",
    "--print-ir-after-change": "--mlir-print-ir-after-change",
    "--print-ir-after-failure": "--mlir-print-ir-after-failure",
    "--print-ir-before": "--mlir-print-ir-before",
    "--print-ir-before-all": "--mlir-print-ir-before-all",
    "--statistics": "--stats",
    "--help-hidden": "--help",
    "--colour": "--color",
    "--extend-ignore": "--allow",
    "--ignore": "--allow",
    "--junit-xml": "--junit",
    "--junitxml": "--junit",
    "--target-version": "--target",
    "--unsafe-fixes": "--unsafe",
    "-Werror": "--werror",
    "-V": "--version",
    "-q": "--quiet",
}
"""Other names of options."""

BARE = {"--lower": "--lower=usual", "--prove": "--prove=60"}
"""Options whose value may be left out."""

NO_COLOR = "--no-color"

_THREADS = "passes run in one thread; -j is the number of processes for many inputs"

REFUSED = {
    "dump-pass-pipeline": "the passes are those of -p, in its order; without it the verify passes",
    "emit-bytecode": "programs are text",
    "load-pass-plugin": "xdsl-opt runs passes of other packages on .pto files",
    "mlir-disable-threading": _THREADS,
    "mlir-elide-elementsattrs-if-larger": "attributes are printed in full",
    "mlir-pass-pipeline-crash-reproducer": "an internal error writes a reduced program; pto reduce reduces others",
    "mlir-pass-pipeline-local-reproducer": "an internal error writes a reduced program by itself",
    "mlir-pass-statistics": "--stats counts the operations of the result",
    "mlir-pretty-debuginfo": "use --mlir-print-debuginfo",
    "mlir-print-assume-verified": "modules are verified before they are printed",
    "mlir-print-elementsattrs-with-hex-if-larger": "attributes are printed as they are written",
    "mlir-print-ir-tree-dir": "redirect standard error: --mlir-print-ir-after-all 2> FILE",
    "mlir-print-local-scope": "types are printed in full",
    "mlir-print-op-on-diagnostic": "diagnostics show the source line; --mlir-print-ir-after-failure prints the module",
    "mlir-print-skip-regions": "--stats gives an overview of a program",
    "mlir-print-stacktrace-on-diagnostic": "diagnostics name the rule; PTO_TRACEBACK=1 shows internal errors",
    "mlir-print-unique-ssa-ids": "names of values are kept, and unique in their function",
    "mlir-print-value-users": "the language server shows the uses of a value",
    "mlir-timing": "--cycles estimates the time on the chip; that of the command is what the shell measures",
    "mlir-use-nameloc-as-prefix": "names of values are kept",
    "no-implicit-module": "a program without a module is read as one; the module is printed",
    "run-reproducer": "give -p the passes of the reproducer",
    "show-dialects": "docs/reference/core-dialects.md has the dialects; --list-ops the operations of pto",
    "split-input-file-marker": "programs are separated by lines '// -----'",
    "strip-debuginfo": "locations are printed with --mlir-print-debuginfo only",
    "verify-each": "name verify passes where they are wanted: -p cse,verify-structure",
    "verify-roundtrip": "pto-opt FILE | pto-opt - | diff; printing a printed program changes nothing",
}
"""Options of mlir-opt that are not there, without dashes, each with what to do instead."""


def own_spelling(argument: str, names: Container[str], flags: Container[str] = ()) -> str:
    """An argument as the command with the options ``names`` spells it, of which ``flags`` take no value.

    MLIR's tools accept one dash before a long option, and have other names for some.
    """
    name, equals, value = argument.partition("=")
    if len(name) > 2 and name.startswith("-") and not name.startswith("--"):
        longer = f"-{name}"
        name = longer if longer in names or longer in ALIASES else name
    if name == NO_COLOR and not equals and "--color" in names:
        return "--color=never"
    own = ALIASES.get(name, name)
    argument = f"{own if own in names else name}{equals}{value}"
    return argument if argument in flags else BARE.get(argument, argument)


def option_names(command: click.Command, ctx: click.Context) -> set[str]:
    """All spellings of the options of a command, that of its help included."""
    return {name for one in command.get_params(ctx) for name in (*one.opts, *one.secondary_opts)}


def flags_of(command: click.Command) -> set[str]:
    """The options of a command that take no value."""
    flags = (one for one in command.params if isinstance(one, click.Option) and one.is_flag)
    return {name for one in flags for name in one.opts}


def whole_option(error: click.NoSuchOption, arguments: Sequence[str], names: Collection[str]) -> click.UsageError:
    """The error about an unknown option with the whole word that was given, and what is used here instead, or options
    that are near: of ``-verison`` click reads single letters."""
    from .elsewhere import OPTIONS  # deferred: start-up

    letter = error.option_name
    words = (one.partition("=")[0] for one in arguments if one.startswith("-") and not one.startswith("--"))
    word = next((one for one in words if len(letter) == 2 and len(one) > 2 and letter[1] in one), letter)
    for name in (word, f"-{word}"):
        if name in OPTIONS:
            return click.UsageError(f"there is no option {name}: {OPTIONS[name]}", error.ctx)
    if word == letter:
        return error
    from difflib import get_close_matches  # deferred: start-up

    near = get_close_matches(f"-{word}", [name for name in names if name.startswith("--")], n=3, cutoff=0.6)
    return click.NoSuchOption(word, possibilities=near, ctx=error.ctx)
