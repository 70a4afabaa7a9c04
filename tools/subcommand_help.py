"""Help of the sub-commands of ``pto`` that do one task of a larger command: their own text and options."""

from __future__ import annotations

from typing import NamedTuple

import click

from .constants import PROGRAM_ONLY


class SubcommandHelp(NamedTuple):
    """The usage after the name and the text; ``options`` are the names of parameters, other ones are in the help of
    ``whole``, and ``passes`` states whether the sections after the options are shown."""

    usage: str
    text: str
    options: frozenset[str]
    whole: str = "pto opt"
    passes: bool = False


_PROGRAMS = "[OPTIONS] [FILE|DIR|-]..."
_INPUTS = "Each FILE is one program; a DIR means all .pto files in it; - is standard input, which is also read when " \
    "nothing is named."  # fmt: skip
_FINDINGS = "target reference_release max_errors allow deny werror pedantic no_config"
_MACHINERY = "format no_cache plain server watch jobs color"
_CPP = "entry cxx defines includes show_compile"
_PRINTING = "split_input_file print_op_generic exact_generic print_debuginfo stats memory_report"
_RUNNING = (
    "entry target backend reference_release blocks arguments seed auto accumulate fill schedule timeout max_memory"
)


def _names(*texts: str) -> frozenset[str]:
    return frozenset(" ".join(texts).split())


_HELPS = {
    "check": SubcommandHelp(
        _PROGRAMS,
        f"Check programs; diagnostics go to standard error.\n\n{_INPUTS}\n\n"
        "Exit code: 0 if all programs are correct, 1 if one has errors, 2 if the command line is wrong.",
        _names(
            _FINDINGS, _MACHINERY, _CPP, "passes verify_diagnostics split_input_file registered_only allow_schematic"
        ),
        passes=True,
    ),
    "fix": SubcommandHelp(
        _PROGRAMS,
        f"Correct unambiguous mistakes of programs in place, and print the remaining diagnostics.\n\n{_INPUTS} The "
        "text of standard input goes to standard output.\n\n"
        "Exit code: 0 if no error remains, 1 if one does or --check finds a change, 2 if the command line is wrong.",
        _names(_FINDINGS, "unsafe layout diff check plain color"),
    ),
    "lower": SubcommandHelp(
        _PROGRAMS,
        f"Lower programs to what a chip runs, and print them to standard output.\n\n{_INPUTS} Several inputs are only "
        "checked, unless -o names a folder for their modules.\n\n"
        "Exit code: 0 if all programs could be lowered, 1 if one has errors, 2 if the command line is wrong.",
        _names(_FINDINGS, _MACHINERY, _CPP, _PRINTING, "output lower prove cycles cycle_table cycle_options force"),
        passes=True,
    ),
    "explain": SubcommandHelp(
        "[OPTIONS] WORD [PART]...",
        "Explain an operation, a rule, a type, a pass or another name; other words search for one.\n\n"
        "PART shows only this part of a page: pto explain tadd operands. A part of a page of the documentation follows "
        "a #: pto explain reduce#options.\n\n"
        "pto opt --list-rules and pto opt --list-ops list the names.",
        _names("format"),
    ),
    "debug": SubcommandHelp(
        "[OPTIONS] FILE",
        "Debug a run of the program in FILE, forwards and backwards, also after an error; or the recording in "
        "FILE.pto-rec.",
        _names(_FINDINGS, _CPP, _RUNNING, "sanitize sync break_on_finding record record_limit color"),
        "pto run",
    ),
}


def help_of(ctx: click.Context) -> SubcommandHelp | None:
    """The help of the sub-command that is called; ``None`` where it is that of its whole command."""
    group, _, name = ctx.command_path.partition(" ")
    if group == "pto" and name == "launch":
        shown = frozenset(one.name for one in ctx.command.params if one.name) - {*PROGRAM_ONLY}
        return SubcommandHelp(
            "[OPTIONS] FILE|DIR...",
            "Run launch files (*.launch.toml), alone, several, or all of a folder.\n\n"
            "Exit code: 0 on success, 1 if a program or its result is wrong, 2 if the command line or a launch file "
            "is, 3 if a sanitizer reported an error.",
            shown,
            "pto run",
            passes=True,
        )
    return _HELPS.get(name) if group == "pto" else None


def write_help(help: SubcommandHelp, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Writes the usage, the text and the options of a sub-command."""
    formatter.write_usage(ctx.command_path, help.usage)
    for paragraph in help.text.split("\n\n"):
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(paragraph)
    shown = [one for one in ctx.command.params if isinstance(one, click.Option) and one.name in help.options]
    records = [one.get_help_record(ctx) for one in (*shown, ctx.command.get_help_option(ctx)) if one is not None]
    with formatter.section("Options"):
        formatter.write_dl([record for record in records if record is not None])
    formatter.write_paragraph()
    formatter.write_text(f"Further options are those of {help.whole}.")
    if help.passes:
        ctx.command.format_epilog(ctx, formatter)
