"""Modules: the entry of each text of LLVM IR becomes a function of one ``.pto`` module."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from ..errors import TranslationError
from ..llvm.location import SourceLocation
from ..llvm.model import Function
from ..llvm.reader import IrError, Module, read_module
from .blocks import fill_tables
from .context import Context, Frames
from .declared import use_declared
from .elements import Elements, share_elements
from .emit import TreeEmitter
from .emitter import FunctionEmitter
from .flow.cfg import ControlFlow, analyze
from .flow.guards import merge_guards
from .flow.liveness import Liveness
from .flow.loops import find_counted
from .flow.structure import TOO_DEEP, LocatedError, Structurer
from .interface import Call, Emitter, Operand
from .memory import LocalMemory, MemoryError_
from .needed import find_needed
from .prepare import RUNTIME_ENTRIES, prepare
from .task_arguments import unify_parameters
from .writer import location_text

_ENTRY = "pto.entry"
_KINDS = ("vector", "cube")
Translate = Callable[[Call, Emitter], str | None]
_TEMPLATE = re.compile(r"\btemplate\s*<[^;{}()]*>[^;{}()]*\b__global__\b[^;{}()]*?(\w+)\s*\(")
_ASSEMBLY = re.compile(r"^(?:__)?asm(?:__)?\b", re.MULTILINE)
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
    compiled for it. ``entry`` is the name of a function, otherwise annotations name it. Frames in files below
    ``headers`` are not shown as locations; ``sources`` are the C++ texts by file name, from which tiles get their
    names. Raises ``TranslationError``.
    """
    if translate is None:
        from ..operations import translate_call as translate  # deferred: start-up
    texts_by_line = {file: text.splitlines() for file, text in (sources or {}).items()}
    try:
        parts = [_analyze(core, read_module(text), entry, headers, sources or {}) for core, text in texts]
    except IrError as error:
        raise TranslationError(f"the compiler's output cannot be read: {error}") from None
    if len(parts) > 1 and all(part.function.name in RUNTIME_ENTRIES for part in parts):
        unify_parameters([part.function for part in parts])
    share_elements([(part.function, part.elements) for part in parts])
    functions: list[_Translated] = []
    for part in parts:
        with _located(part):
            functions.append(_translate(part, target, texts_by_line, translate))
    functions = _without_idle_core(functions)
    lines = [line for function in functions for line in function.lines(len(functions) > 1)]
    return "\n".join([f'module attributes {{pto.target_arch = "{target}"}} {{', *lines, "}", ""])


@dataclass(slots=True)
class _Part:
    """The function that a core executes, with what is known before it is translated."""

    core: str
    module: Module
    function: Function
    flow: ControlFlow
    frames: Frames
    memory: LocalMemory = field(init=False)
    elements: Elements = field(init=False)

    @property
    def location(self) -> SourceLocation | None:
        """The line of the function's head."""
        return self.module.metadata.function_location(self.function.debug)


class _Translated(NamedTuple):
    """The function of a core as text."""

    part: _Part
    arguments: Sequence[str]
    body: Sequence[str]
    location: str

    @property
    def is_idle(self) -> bool:
        """Whether the function has no operation but its return."""
        return len(self.body) == 1

    @property
    def reads_subblock(self) -> bool:
        """Whether the function tells the two vector cores of a mixed kernel apart."""
        return any("pto.get_subblock_" in line for line in self.body)

    def lines(self, is_mixed: bool) -> list[str]:
        """Returns the lines; the functions of a mixed kernel are named after their cores."""
        part = self.part
        symbol = _UNSAFE.sub("_", readable_name(part.module, part.function.name).partition("<")[0])
        kind = f", pto.kernel_kind = #pto.kernel_kind<{part.core}>" if part.core in _KINDS else ""
        suffix = f"_{part.core}" if is_mixed else ""
        header = f"  func.func @{symbol}{suffix}({', '.join(self.arguments)}) attributes {{pto.entry{kind}}} {{"
        return [header, *self.body, "  }" + self.location]


def _without_idle_core(functions: Sequence[_Translated]) -> list[_Translated]:
    """Returns the functions without that of a core with nothing to do: a kernel is mixed if both cores work, or if its
    vector side is written for two vector cores."""
    busy = [function for function in functions if not function.is_idle]
    if not busy or any(function.reads_subblock for function in busy):
        return list(functions)
    return busy


@contextmanager
def _located(part: _Part) -> Iterator[None]:
    """Gives errors their locations in the C++ text."""
    try:
        yield
    except MemoryError_ as error:
        location = part.frames.location(error.instruction.debug) or part.location
        raise TranslationError(error.message, location, error.help) from None
    except LocatedError as error:
        raise TranslationError(error.message, part.frames.location(error.debug) or part.location, error.help) from None
    except RecursionError:
        raise TranslationError(TOO_DEEP[0], part.location, TOO_DEEP[1]) from None


def _analyze(core: str, module: Module, entry: str | None, headers: Sequence[str], sources: Mapping[str, str]) -> _Part:
    """Returns the part of a kernel that one module has."""
    if module.has_assembly:
        message = "assembly outside of functions cannot be translated"
        raise TranslationError(message, _line_of_assembly(sources), "use the functions of the instruction set")
    name = find_entry(module, entry, sources)
    function = module.function(name)
    if function is None:
        raise TranslationError(f"the file has no function {name} with a body")
    prepare(function, module)
    part = _Part(core, module, function, analyze(function), Frames(module, headers))
    if not part.flow.is_reducible:
        raise TranslationError("a jump into a loop cannot be translated", part.location, "use loops instead of goto")
    with _located(part):
        part.memory = LocalMemory(function, part.flow.order, module)
        part.elements = Elements(function, part.flow.order, part.memory)
        use_declared(function, part.elements, readable_name(module, name), sources.values())
    return part


def _line_of_assembly(sources: Mapping[str, str]) -> SourceLocation | None:
    """Returns the first line of a text that begins with assembly; the compiler's output has none for it."""
    for name, text in sources.items():
        match = _ASSEMBLY.search(text)
        if match is not None:
            return SourceLocation(name, text.count("\n", 0, match.start()) + 1, 1)
    return None


def find_entry(module: Module, entry: str | None, sources: Mapping[str, str]) -> str:
    """Returns the name of the function to translate. Raises ``TranslationError``."""
    chosen = module.globals.get("__pto_entry")
    if chosen is not None and chosen.initial.startswith("@"):
        return chosen.initial[1:].strip('"')
    candidates = module.annotated(_ENTRY) or [name for name in RUNTIME_ENTRIES if name in module.function_names]
    if entry is not None:
        matching = [name for name in module.function_names if name == entry or readable_name(module, name) == entry]
        if not matching:
            raise TranslationError(f"the file has no function {entry}", help=_list_of(module, candidates))
        return matching[0]
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        templates = [match[1] for text in sources.values() for match in _TEMPLATE.finditer(text)]
        if templates:
            help = f"give its arguments, for example --entry '{templates[0]}<float>'"
            raise TranslationError(f"the kernel {templates[0]} is a template", help=help)
        raise TranslationError("the file has no kernel", help="mark a function __global__, or name one with --entry")
    raise TranslationError("the file has several kernels", help=_list_of(module, candidates))


def _list_of(module: Module, names: list[str]) -> str:
    readable = [readable_name(module, name) for name in names]
    return f"name one with --entry: {', '.join(readable)}" if readable else ""


def readable_name(module: Module, name: str) -> str:
    """Returns the name of a function as the C++ text has it, with template arguments."""
    fields = module.metadata.fields(module.function_debug(name))
    return fields.get("name", name)


def _translate(part: _Part, target: str, sources: Mapping[str, list[str]], translate: Translate) -> _Translated:
    """Returns a function as text."""
    function, flow = part.function, part.flow
    counted = find_counted(function, flow)
    tree = Structurer(function, flow, counted, find_needed(function, flow, counted)).build()
    merge_guards(tree.statements)
    ctx = Context(part.module, part.memory, part.elements, part.frames)
    arguments = _bind_arguments(function, ctx)
    fill_tables(ctx)
    emitter = FunctionEmitter(function, flow.order, ctx, target, sources)
    TreeEmitter(ctx, emitter, Liveness(part.memory.effects), translate).statements(tree.statements, frozenset())
    location = location_text([part.location] if part.location is not None else [])
    return _Translated(part, arguments, ctx.writer.text(2, location), location)


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
            ctx.bind(argument, Operand(argument.type, name=name))
    return found


__all__ = ["find_entry", "readable_name", "translate_module"]
