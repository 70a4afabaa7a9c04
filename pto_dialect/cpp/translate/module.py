"""Modules: the entry of each text of LLVM IR becomes a function of one ``.pto`` module."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from ..errors import TranslationError
from ..llvm.model import Function, Value
from ..llvm.reader import IrError, Module, read_module
from .blocks import fill_tables
from .cfg import analyze
from .context import Context, Frames
from .elements import Elements
from .emit import TreeEmitter
from .emitter import FunctionEmitter
from .guards import merge_guards
from .interface import Call, Emitter, Operand
from .liveness import Liveness
from .loops import find_counted
from .memory import LocalMemory, MemoryError_
from .needed import find_needed
from .prepare import prepare
from .structure import LocatedError, Structurer

_ENTRY = "pto.entry"
_FALLBACKS = ("kernel_entry", "aicore_kernel")
_KINDS = {"vector": "vector", "cube": "cube"}
Translate = Callable[[Call, Emitter], str | None]
_UNSAFE = re.compile(r"[^A-Za-z0-9_$.]")


def translate_module(
    texts: Sequence[tuple[str, str]],
    *,
    entry: str | None = None,
    target: str = "a2a3",
    headers: Sequence[str] = (),
    sources: Mapping[str, str] | None = None,
    translate: Translate | None = None,
) -> str:
    """Returns the ``.pto`` text of a kernel.

    ``texts`` are pairs of a core ("vector", "cube", or "" where the kernel has but one) and the LLVM IR that was
    compiled for it. ``entry`` is the name of a function, otherwise annotations tell it. Frames in files below
    ``headers`` are not shown as locations; ``sources`` are the C++ texts by file name, from which tiles get their
    names. Raises ``TranslationError``.
    """
    if translate is None:
        from ..operations import translate_call as translate
    lines = [f'module attributes {{pto.target_arch = "{target}"}} {{']
    texts_by_line = {file: text.splitlines() for file, text in (sources or {}).items()}
    for core, text in texts:
        try:
            module = read_module(text)
            name = find_entry(module, entry)
            frames = Frames(module, headers)
            lines += _translate_function(module, name, core, len(texts) > 1, target, frames, texts_by_line, translate)
        except IrError as error:
            raise TranslationError(f"the compiler's output cannot be read: {error}") from None
    return "\n".join([*lines, "}", ""])


def find_entry(module: Module, entry: str | None) -> str:
    """Returns the name of the function to translate. Raises ``TranslationError``."""
    chosen = module.globals.get("__pto_entry")
    if chosen is not None and chosen.initial.startswith("@"):
        return chosen.initial[1:].strip('"')
    candidates = module.annotated(_ENTRY) or [name for name in _FALLBACKS if name in module.function_names]
    if entry is not None:
        matching = [name for name in module.function_names if name == entry or readable_name(module, name) == entry]
        if not matching:
            raise TranslationError(f"the file has no function {entry}", help=_list_of(module, candidates))
        return matching[0]
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise TranslationError("the file has no kernel", help="mark a function __global__, or name one with --entry")
    raise TranslationError("the file has several kernels", help=_list_of(module, candidates))


def _list_of(module: Module, names: list[str]) -> str:
    readable = [readable_name(module, name) for name in names]
    return f"name one with --entry: {', '.join(readable)}" if readable else ""


def readable_name(module: Module, name: str) -> str:
    """Returns the name of a function as the C++ text has it, with template arguments."""
    fields = module.metadata.fields(module.function_debug(name))
    return fields.get("name", name)


def _translate_function(
    module: Module,
    name: str,
    core: str,
    is_mixed: bool,
    target: str,
    frames: Frames,
    sources: Mapping[str, list[str]],
    translate: Translate,
) -> list[str]:
    function = module.function(name)
    if function is None:
        raise TranslationError(f"the file has no function {name} with a body")
    prepare(function, module)
    flow = analyze(function)
    place = module.metadata.function_location(function.debug)
    if not flow.is_reducible:
        raise TranslationError("a jump into a loop cannot be translated", place, "use loops instead of goto")
    try:
        memory = LocalMemory(function, flow.order, module)
        elements = Elements(function, flow.order, memory)
        counted = find_counted(function, flow)
        needed = find_needed(function, flow, counted)
        tree = Structurer(function, flow, counted, needed).build()
        merge_guards(tree.statements)
        ctx = Context(module, memory, elements, frames)
        arguments = _bind_arguments(function, ctx)
        fill_tables(ctx)
        emitter = FunctionEmitter(function, flow.order, ctx, target, sources)
        walker = TreeEmitter(ctx, emitter, Liveness(memory.effects), translate)
        walker.statements(tree.statements, frozenset())
    except MemoryError_ as error:
        raise TranslationError(error.message, frames.location(error.instruction.debug), error.help) from None
    except LocatedError as error:
        raise TranslationError(error.message, frames.location(error.debug) or place, error.help) from None
    symbol = _UNSAFE.sub("_", readable_name(module, name).partition("<")[0]) + (f"_{core}" if is_mixed else "")
    kind = f", pto.kernel_kind = #pto.kernel_kind<{_KINDS[core]}>" if core in _KINDS else ""
    header = f"  func.func @{symbol}({', '.join(arguments)}) attributes {{pto.entry{kind}}} {{"
    return [header, *ctx.writer.text(2), "  }"]


def _bind_arguments(function: Function, ctx: Context) -> list[str]:
    found: list[str] = []
    for argument in function.arguments:
        name = ctx.writer.fresh(argument.name)
        if argument.type == "ptr":
            element = ctx.elements.of(argument)
            found.append(f"{name}: !pto.ptr<{element}>")
            ctx.bind(argument, ctx.new_pointer(name, element))
        else:
            found.append(f"{name}: {ctx.type(argument.type)}")
            ctx.bind(argument, _argument(argument, name))
    return found


def _argument(argument: Value, name: str) -> Operand:

    return Operand(argument.type, name=name)


__all__ = ["find_entry", "readable_name", "translate_module"]
