"""Analysis results of a text, function by function.

The frame with one function in it is read by itself; the functions together are the module that the rules check. The
results of a function are valid as long as its text, the frame, and the functions it depends on are the same, so that an
edit costs as much as its function. Results depend on the text only, not on the history of edits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect.analysis.release import set_release
from pto_dialect.analysis.target import target_choice
from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.driver.pipeline import CONSEQUENCES
from pto_dialect.ir.core.location import SourceLoc, span_of
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.syntax.read.pieces import Pieces, split
from pto_dialect.targets.profile import Profile
from pto_dialect.verify.verifier import verify_parts

_SYMBOL = re.compile(r"(func\.func\s+(?:(?:private|public|nested)\s+)?)?@(\"(?:[^\"\\\n]|\\.)*\"|[\w$.]+)")
ALL = DiagnosticOptions(max_errors=0)


class Function:
    """A function as it was read in its frame: its text, its offset in the source it was read from, its operations, and
    its diagnostics."""

    def __init__(self, text: str, source: SourceFile, start: int) -> None:
        self.text = text
        self.source = source
        self.start = start
        self.operations: list[Operation] = []
        self.syntax: tuple[Diagnostic, ...] = ()
        self.rules: tuple[Diagnostic, ...] | None = None
        names = list(_SYMBOL.finditer(text))
        self.defines = {found[2] for found in names if found[1]}
        self.names = {found[2] for found in names}

    @property
    def is_broken(self) -> bool:
        """Whether something in it could not be read."""
        return bool(self.syntax)


class TextRange(NamedTuple):
    """Characters of the present text."""

    start: int
    end: int


class Checked:
    """The outcome for one text."""

    def __init__(
        self,
        name: str,
        text: str,
        before: Checked | None = None,
        target: str | None = None,
        pieces: Pieces | None = None,
        release: str | None = None,
    ) -> None:
        self.name = name
        self.text = text
        self.target = target
        self.release = release
        self.pieces = pieces or split(text) or Pieces(text, (), text)
        self.places = self.pieces.places()
        self.module: ModuleOp | None = None
        self.functions: list[Function] = []
        self.targets: list[tuple[Profile, bool]] = []
        same = before is not None and before.pieces.frame == self.pieces.frame
        same = same and before is not None and (before.target, before.release) == (target, release)
        if same and before is not None:
            self.frame, self.module = before.frame, before.module
            self.frame_syntax, self.frame_rules = before.frame_syntax, before.frame_rules
        else:
            self.frame = SourceFile(name, self.pieces.frame)
            engine = DiagnosticEngine(ALL)
            self.module = parse_program(self.frame, engine)
            self.frame_syntax, self.frame_rules = engine.diagnostics, ()
            if self.module is not None and self.pieces.functions and _has_labels(self.module):
                # In a module with several blocks, the position of a function does not determine its block.
                self._check_whole_text()
        if self.module is not None:
            set_release(self.module, release)
        self._read(before if same else None)
        self._apply_rules(before if same else None)
        self._owners = {id(function.source): number for number, function in enumerate(self.functions)}

    def _check_whole_text(self) -> None:
        """Takes the text as one piece."""
        self.pieces = Pieces(self.text, (), self.text)
        self.places = self.pieces.places()
        self.frame = SourceFile(self.name, self.text)
        engine = DiagnosticEngine(ALL)
        self.module = parse_program(self.frame, engine)
        self.frame_syntax = engine.diagnostics

    # ------------------------------------------------------------ reading

    def _read(self, before: Checked | None) -> None:
        """Reads what is new, and puts the operations of all functions into the module."""
        kept: dict[str, list[Function]] = {}
        for function in before.functions if before is not None else ():
            kept.setdefault(function.text, []).append(function)
        for (start, end), place in zip(self.pieces.functions, self.places, strict=True):
            text = self.text[start:end]
            known = kept.get(text)
            self.functions.append(known.pop(0) if known else self._read_function(text, place))
        for function in (one for left in kept.values() for one in left):
            for op in function.operations:
                if op.parent is not None:
                    op.detach()
        self._insert()

    def _read_function(self, text: str, place: int) -> Function:
        frame = self.pieces.frame
        source = SourceFile(self.name, frame[:place] + text + frame[place:])
        function = Function(text, source, place)
        engine = DiagnosticEngine(ALL)
        module = parse_program(source, engine)
        own = {(found.rule, found.message) for found in self.frame_syntax}
        function.syntax = tuple(found for found in engine.diagnostics if (found.rule, found.message) not in own)
        if module is not None:
            inside = range(place, place + len(text))
            function.operations = [op for op in _members(module) if _begin(op)[1] in inside]
            for op in function.operations:
                op.detach()
        return function

    def _insert(self) -> None:
        """Inserts operations without a module in the order of the text."""
        if self.module is None:
            return
        places = {id(function.source): place for function, place in zip(self.functions, self.places, strict=True)}
        for function, place in zip(self.functions, self.places, strict=True):
            new = [op for op in function.operations if op.parent is None]
            if not new:
                continue
            block = _module_at(self.module, place).body.block
            # From the end, where it goes while a text is read for the first time.
            last = block.last_op
            while last is not None and self._frame_place(last, places) >= place:
                last = last.prev_op
            for op in new:
                if last is not None:
                    block.insert_op_after(op, last)
                elif (first := block.first_op) is not None:
                    block.insert_op_before(op, first)
                else:
                    block.add_op(op)
                last = op

    def _frame_place(self, op: Operation, places: dict[int, int]) -> int:
        """Returns where an operation of the module stands, in the frame; ``places`` are those of functions by their
        sources."""
        source, start = _begin(op)
        return start if source is self.frame else places.get(id(source), 0)

    # ------------------------------------------------------------ rules

    def _apply_rules(self, before: Checked | None) -> None:
        if self.module is None:
            for function in self.functions:
                function.rules = function.rules or ()
            return
        choices = (target_choice(op, self.target) for op in _modules(self.module))
        self.targets = [(choice.profile, choice.explicit) for choice in choices]
        wanted = self._affected(before)
        if not wanted and before is not None and len(before.functions) == len(self.functions):
            return
        engines = {id(op): DiagnosticEngine(ALL) for function in wanted for op in function.operations}
        owned = {id(op) for function in self.functions for op in function.operations}
        whole = DiagnosticEngine(ALL)
        verify_parts(
            self.module,
            whole,
            lambda op: engines.get(id(op)) if id(op) in owned else whole,
            target=self.target,
        )
        self.frame_rules = whole.diagnostics
        for function in wanted:
            function.rules = tuple(found for op in function.operations for found in engines[id(op)].diagnostics)

    def _affected(self, before: Checked | None) -> list[Function]:
        """Returns the functions that the rules check again: changed ones, and those that depend on them through
        symbols."""
        if before is None or before.targets != self.targets or _defined(before.functions) != _defined(self.functions):
            return self.functions
        present = set(map(id, self.functions))
        gone = [function for function in before.functions if id(function) not in present]
        new = [function for function in self.functions if function.rules is None]
        if not gone and not new:
            return []
        reached: set[int] = set()
        names = set().union(*(function.names for function in (*gone, *new)))
        pending = True
        while pending:
            pending = False
            for function in self.functions:
                if id(function) not in reached and not names.isdisjoint(function.names):
                    reached.add(id(function))
                    names |= function.names
                    pending = True
        return [function for function in self.functions if id(function) in reached or function.rules is None]

    # ------------------------------------------------------------ answers

    def place(self, span: Span) -> TextRange:
        """Returns the range in the present text of a range in one of the sources."""
        number = self._owners.get(id(span.source))
        if number is None:
            return TextRange(self._of_frame(span.start), self._of_frame(span.end, closing=True))
        function, here = self.functions[number], self.pieces.functions[number][0]
        ends: list[int] = []
        for place, closing in ((span.start, False), (span.end, True)):
            inside = place - function.start
            if inside < 0:
                ends.append(self._of_frame(place))
            elif inside <= len(function.text):
                ends.append(here + inside)
            else:
                ends.append(self._of_frame(place - len(function.text), closing))
        return TextRange(ends[0], max(ends))

    def _of_frame(self, offset: int, closing: bool = False) -> int:
        """Returns the character of the text for one of the frame."""
        for (start, end), place in zip(self.pieces.functions, self.places, strict=True):
            if place > offset or (closing and place == offset):
                break
            offset += end - start
        return offset

    def diagnostics(self) -> Iterator[Diagnostic]:
        """Yields all diagnostics, function by function; :meth:`place` gives their ranges."""
        yield from self.frame_syntax
        doubtful = self._doubtful()
        yield from self._sound(self.frame_rules, self.frame_syntax, bool(doubtful))
        mixed: set[Operation | None] = set()
        for function in self.functions:
            yield from function.syntax
            rules = function.rules or ()
            for found in self._sound(rules, function.syntax, id(function) in doubtful):
                if found.rule == "arch-mix":
                    # Reported once for a module, and here for each function.
                    module = function.operations[0].parent_op()
                    if module in mixed:
                        continue
                    mixed.add(module)
                yield found

    def _doubtful(self) -> set[int]:
        """Returns the functions in which statements may be missing, and those that have to do with them."""
        if self.frame_syntax:
            return set(map(id, self.functions))
        broken = [function for function in self.functions if function.is_broken]
        names = set().union(*(function.names for function in broken))
        return {id(f) for f in self.functions if f.is_broken or not names.isdisjoint(f.names)}

    @staticmethod
    def _sound(rules: Iterable[Diagnostic], syntax: Sequence[Diagnostic], doubtful: bool) -> Iterator[Diagnostic]:
        """Drops consequences of missing statements, and diagnostics on lines that could not be read."""
        broken = {found.span.line for found in syntax if found.span is not None}
        for found in rules:
            if doubtful and found.rule in CONSEQUENCES:
                continue
            if found.span is None or found.span.line not in broken:
                yield found


def _begin(op: Operation) -> tuple[SourceFile | None, int]:
    """Returns where an operation begins, in its source."""
    location = op.location
    return (location.data.source, location.data.start) if isinstance(location, SourceLoc) else (None, 0)


def _defined(functions: Iterable[Function]) -> list[str]:
    return sorted(name for function in functions for name in function.defines)


def _modules(module: ModuleOp) -> Iterator[ModuleOp]:
    """Yields a module and those inside it."""
    yield module
    for op in in_module(module):
        if isinstance(op, ModuleOp):
            yield from _modules(op)


def in_module(module: ModuleOp) -> Iterator[Operation]:
    """Returns the operations of a module, which in invalid programs has several blocks."""
    return (op for block in module.body.blocks for op in block.ops)


def _has_labels(module: ModuleOp) -> bool:
    return any(len(one.body.blocks) != 1 for one in _modules(module))


def _members(module: ModuleOp) -> Iterator[Operation]:
    """Yields the operations of a module and of its nested modules."""
    for op in in_module(module):
        if isinstance(op, ModuleOp):
            yield from _members(op)
        else:
            yield op


def _module_at(module: ModuleOp, place: int) -> ModuleOp:
    """Returns the innermost module around an offset of the frame."""
    for op in in_module(module):
        if isinstance(op, ModuleOp) and (span := span_of(op)) is not None and span.start < place < span.end:
            return _module_at(op, place)
    return module
