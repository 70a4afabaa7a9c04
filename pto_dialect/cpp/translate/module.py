"""Modules: the entry of each text of LLVM IR becomes a function of one ``.pto`` module."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from ..entries import RUNTIME_ENTRIES, find_entries, readable_name, several_kernels
from ..errors import TranslationError
from ..llvm.location import SourceLocation
from ..llvm.model import Function
from ..llvm.reader import IrError, Module, read_module
from .arguments.task import unify_parameters
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
from .preparation.local_pointers import WORD
from .preparation.prepare import prepare
from .preparation.queues import find_numbered
from .writer import location_text

_KINDS = ("vector", "cube")
Translate = Callable[[Call, Emitter], str | None]
_ASSEMBLY = re.compile(r"^(?:__)?asm(?:__)?\b", re.MULTILINE)
_OPERATION = re.compile(r"\s*pto\.t\w+ ins\(|\s*pto\.t\w+ outs\(")
_WAITING = re.compile(r"pto\.(?:sync|syncall|set_intra|wait_intra|barrier)\b")
_FILL = re.compile(r"\s*pto\.(?:tload|tfillpad|texpands) ")
_TILE = re.compile(r"!pto\.tile_buf<(?:loc=)?(\w+)")
_UNSAFE = re.compile(r"[^A-Za-z0-9_$.]")
_UNSAFES = re.compile(r"[^A-Za-z0-9_$.]+")


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
    translation = _Translation(texts, target, headers, sources or {}, translate)
    names = find_entries(translation.modules, entry, translation.sources)
    if len(names) > 1:
        raise several_kernels(translation.modules, names, entry)
    return translation.text(translation.kernel(names[0], is_alone=True))


def translate_kernels(
    texts: Sequence[tuple[str, str]], *, target: str, headers: Sequence[str], sources: Mapping[str, str]
) -> tuple[str, list[TranslationError]]:
    """Returns the ``.pto`` text of all kernels of a file, and the errors of those that have no translation."""
    translation = _Translation(texts, target, headers, sources, None)
    names = find_entries(translation.modules, None, sources)
    lines: list[str] = []
    errors: list[TranslationError] = []
    for name in names:
        try:
            lines += translation.kernel(name, is_alone=len(names) == 1)
        except TranslationError as error:
            errors.append(error)
    return translation.text(lines) if lines else "", errors


class _Translation:
    """Functions of one file, each text of LLVM IR read once."""

    def __init__(
        self, texts: Sequence[tuple[str, str]], target: str, headers: Sequence[str], sources: Mapping[str, str],
        translate: Translate | None,
    ) -> None:  # fmt: skip
        if translate is None:
            from ..operations import translate_call as translate  # deferred: start-up
        self.translate, self.target, self.headers, self.sources = translate, target, headers, sources
        self.lines_of_sources = {file: text.splitlines() for file, text in sources.items()}
        self.cores = [core for core, _ in texts]
        self.symbols: set[str] = set()
        with _readable():
            self.modules = [read_module(text) for _, text in texts]

    def kernel(self, name: str, is_alone: bool) -> list[str]:
        """Returns the functions of a kernel, one for each core. Raises ``TranslationError``."""
        cores = zip(self.cores, self.modules, strict=True)
        having = [(core, module) for core, module in cores if name in module.function_names]
        if not having:
            raise TranslationError(f"the file has no function {name} with a body")
        with _readable():
            parts = [_analyze(core, module, name, self.headers, self.sources) for core, module in having]
        if len(parts) > 1 and name in RUNTIME_ENTRIES:
            unify_parameters([part.function for part in parts])
        share_elements([(part.function, part.elements) for part in parts])
        functions: list[_Translated] = []
        queues = find_numbered((part.function, part.module) for part in parts)
        for part in parts:
            with _located(part):
                functions.append(_translate(part, self.target, self.lines_of_sources, queues, self.translate))
        functions = _without_idle_core(functions)
        symbol = self._symbol(readable_name(having[0][1], name), is_alone)
        return [line for function in functions for line in function.lines(symbol, len(functions) > 1)]

    def _symbol(self, name: str, is_alone: bool) -> str:
        """Returns a name that no other function of the program has; alone, a template has no arguments in it."""
        base = _UNSAFE.sub("_", name.partition("<")[0] if is_alone else _UNSAFES.sub("_", name).rstrip("_"))
        symbol, number = base, 1
        while symbol in self.symbols:
            symbol, number = f"{base}_{number}", number + 1
        self.symbols.add(symbol)
        return symbol

    def text(self, lines: Sequence[str]) -> str:
        """Returns functions as a module."""
        return "\n".join([f'module attributes {{pto.target_arch = "{self.target}"}} {{', *lines, "}", ""])


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except IrError as error:
        raise TranslationError(f"the compiler's output cannot be read: {error}") from None


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

    @property
    def is_foreign(self) -> bool:
        """Whether all operations of the function are on tiles of the other core alone."""
        memories = [self._memories(line) for line in self.body]
        other, own = ({"cube"}, "vector") if self.part.core == "vector" else ({"vector"}, "cube")
        return other in memories and not any(own in found for found in memories)

    def without_fills_of_the_other_core(self) -> _Translated:
        """Returns the function without loads and fills of memories that its core does not reach: the headers compile
        them for the other core alone."""
        other = "cube" if self.part.core == "vector" else "vector"
        body = [line for line in self.body if not (_FILL.match(line) and self._memories(line) == {other})]
        return self._replace(body=body)

    def is_like(self, other: _Translated) -> bool:
        """Returns whether two cores would execute the same, without waiting for each other."""
        both = "\n".join(self.body)
        return self.body == other.body and not self.reads_subblock and _WAITING.search(both) is None

    @staticmethod
    def _memories(line: str) -> set[str]:
        """Returns the cores whose memories the tiles of an operation are in."""
        if _OPERATION.match(line) is None:
            return set()
        return {"vector" if memory == "vec" else "cube" for memory in _TILE.findall(line)}

    def lines(self, symbol: str, is_mixed: bool) -> list[str]:
        """Returns the lines; the functions of a mixed kernel are named after their cores."""
        part = self.part
        kind = f", pto.kernel_kind = #pto.kernel_kind<{part.core}>" if part.core in _KINDS else ""
        suffix = f"_{part.core}" if is_mixed else ""
        header = f"  func.func @{symbol}{suffix}({', '.join(self.arguments)}) attributes {{pto.entry{kind}}} {{"
        return [header, *self.body, "  }" + self.location]


def _without_idle_core(functions: Sequence[_Translated]) -> list[_Translated]:
    """Returns the functions without that of a core with nothing to do, or with what it cannot do: a kernel is mixed if
    both cores work, or if its vector side is written for two vector cores.

    A text that does not tell the cores apart is for one of them, though its headers name both."""
    own = [function for function in functions if not function.is_foreign]
    if len(own) == 1:
        return own
    if len(functions) == 2 and functions[0].is_like(functions[1]):
        return [functions[0]]
    busy = [function for function in functions if not function.is_idle]
    if not busy or any(function.reads_subblock for function in busy):
        busy = list(functions)
    return [function.without_fills_of_the_other_core() for function in busy] if len(busy) > 1 else busy


_BY_POINTER = "pass a pointer to it, or its fields one by one"


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


def _analyze(core: str, module: Module, name: str, headers: Sequence[str], sources: Mapping[str, str]) -> _Part:
    """Returns the part of a kernel that one module has."""
    if module.has_assembly:
        message = "assembly outside of functions cannot be translated"
        raise TranslationError(message, _line_of_assembly(sources), "use the functions of the instruction set")
    function = module.function(name)
    if function is None:
        raise TranslationError(f"the file has no function {name} with a body")
    prepare(function, module, has_local=any(WORD in text for text in sources.values()))
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


def _translate(
    part: _Part,
    target: str,
    sources: Mapping[str, list[str]],
    queues: Mapping[str, frozenset[str]],
    translate: Translate,
) -> _Translated:
    """Returns a function as text; ``queues`` are those that both cores identify by a number."""
    function, flow = part.function, part.flow
    counted = find_counted(function, flow)
    tree = Structurer(function, flow, counted, find_needed(function, flow, counted)).build()
    merge_guards(tree.statements)
    ctx = Context(part.module, part.memory, part.elements, part.frames)
    arguments = _bind_arguments(function, ctx)
    fill_tables(ctx)
    emitter = FunctionEmitter(function, flow.order, ctx, target, part.core, sources, queues)
    TreeEmitter(ctx, emitter, Liveness(part.memory.effects), translate).statements(tree.statements, frozenset())
    location = location_text([part.location] if part.location is not None else [])
    return _Translated(part, arguments, ctx.writer.text(2, location), location)


def _bind_arguments(function: Function, ctx: Context) -> list[str]:
    found: list[str] = []
    for argument in function.arguments:
        structure, in_pieces, _ = argument.name.rpartition(".coerce")
        if in_pieces:
            ctx.fail(f"the argument {structure} is a structure of up to 16 bytes that is passed by value", _BY_POINTER)
        name = ctx.writer.fresh_parameter(argument.name)
        if argument.type == "ptr":
            element = ctx.elements.of(argument)
            found.append(f"{name}: !pto.ptr<{element}>")
            ctx.bind(argument, ctx.new_pointer(name, element))
        else:
            found.append(f"{name}: {ctx.type(argument.type)}")
            ctx.bind(argument, Operand(argument.type, name=name))
    return found


__all__ = ["translate_kernels", "translate_module"]
