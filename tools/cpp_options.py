"""The options of commands about C++ kernels. See docs/cpp.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from .streams import write_stdout

if TYPE_CHECKING:
    from pto_dialect.cpp.options import CppOptions
    from pto_dialect.driver.inputs import Input

NAMES = ("cxx", "defines", "includes", "show_compile")
"""Parameters that say how C++ kernels are compiled."""


def cpp_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say how a C++ kernel is compiled, or show it."""
    shown = click.option("--show-compile", is_flag=True, help="Print the commands that compile a C++ kernel.")
    return compile_options(shown(command))


def compile_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say how a C++ kernel is compiled."""
    for option in (
        click.option("-I", "includes", metavar="DIR", multiple=True, help="Folder of headers of a C++ kernel."),
        click.option("-D", "defines", metavar="NAME[=VALUE]", multiple=True, help="Definition for a C++ kernel."),
        click.option("--cxx", metavar="COMMAND", help="Compiler of C++ kernels: a clang++, or ziglang."),
    ):
        command = option(command)
    return command


READERS = ("pto_dialect.cpp.translate", "pto_dialect.syntax.read.parser", "pto_dialect.verify.verifier")
"""Modules that read a translated program."""


def with_cpp(
    ctx: click.Context,
    inputs: Sequence[Input],
    given: dict[str, Any],
    entry: str | None,
    modules: Sequence[str] = (),
    *,
    every: bool = False,
) -> list[Input]:
    """The inputs with what the options say about the C++ kernels among them; takes these options out of ``given``.

    Ends the command where it only shows how they are compiled, and where there is no compiler. A single kernel is
    compiled now if there are ``modules``, which the command needs later and which are imported meanwhile; ``every``
    says whether all kernels of the file are its program.
    """
    values = {name: given.pop(name) for name in NAMES}
    if not any(item.is_cpp for item in inputs):
        for name in NAMES:
            if values[name]:
                option = next(max(one.opts, key=len) for one in ctx.command.params if one.name == name)
                raise click.UsageError(f"{option} is about C++ kernels; there is none among the inputs", ctx)
        return list(inputs)
    from pto_dialect.cpp.options import CppOptions  # deferred: start-up

    options = CppOptions(entry, given["target"], values["defines"], values["includes"], values["cxx"])
    with _refusing(ctx):
        if values["show_compile"]:
            _show(ctx, [item for item in inputs if item.is_cpp], options)
        if not (modules and len(inputs) == 1 and given.get("timeout") is None):
            _check_compiler(options)
        else:
            _compile_early(inputs[0], options, modules, every)
    return [item._replace(cpp=options) if item.is_cpp else item for item in inputs]


def _compile_early(item: Input, options: CppOptions, modules: Sequence[str], every: bool) -> None:
    from pto_dialect.cpp.kernel import compile_early  # deferred: start-up
    from pto_dialect.driver.inputs import read_text  # deferred: start-up

    text, remark = read_text(item)
    if remark is None:
        compile_early(text, item.name, options, modules, every=every)


def _check_compiler(options: CppOptions) -> None:
    from pto_dialect.cpp.compilers import find_compiler  # deferred: start-up
    from pto_dialect.cpp.options import check_options  # deferred: start-up

    find_compiler(options.cxx)
    check_options(options.defines, options.includes)


@contextmanager
def _refusing(ctx: click.Context) -> Iterator[None]:
    """Reports a compiler that is missing and options that it cannot get as errors of the command line."""
    from pto_dialect.cpp.compilers import CompilerMissing  # deferred: start-up
    from pto_dialect.cpp.options import BadOption  # deferred: start-up

    try:
        yield
    except (CompilerMissing, BadOption) as error:
        raise click.UsageError(str(error), ctx) from None


def _show(ctx: click.Context, inputs: Sequence[Input], options: CppOptions) -> None:
    from shlex import join  # deferred: start-up

    from pto_dialect.cpp.program import compile_commands  # deferred: start-up
    from pto_dialect.driver.inputs import read_text  # deferred: start-up

    for item in inputs:
        text, remark = read_text(item)
        if remark is not None and not text:
            raise click.UsageError(remark.message, ctx)
        for command in compile_commands(text, item.name, options):
            write_stdout(join(command) + "\n")
    ctx.exit(0)
