"""Makes a program smaller operation by operation, as long as something about it stays true."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.print.printer import UNPRINTABLE, print_module
from pto_dialect.syntax.read.parser import parse_program

from .edits import Edit, drop_arguments, drop_attribute, erase, is_erasable, set_constant, unwrap
from .lines import Holds, search

SMALL = (0, 1, 2, 8, 16)
"""Values that constants get."""


class OutOfTime(Exception):
    """The time of a reduction is over."""


class Reduction:
    """A program that becomes smaller. ``text`` is the smallest so far; ``holds`` was true for it.

    ``holds`` states whether a program still shows what it is about; ``seconds`` by the clock is how long the search
    takes at most, apart from the last call of ``holds``; ``report`` gets each smaller text.
    """

    def __init__(self, text: str, holds: Holds, seconds: float, report: Callable[[str], None] = lambda _: None) -> None:
        self.text = text
        self._holds = holds
        self._report = report
        self._deadline = time.monotonic() + seconds
        self._tried: set[str] = set()
        self._module: ModuleOp | None = None

    def run(self) -> str:
        """Returns the smallest program that is found in time."""
        try:
            self._by_operations()
            self.text = search(self.text, self._checked, self._deadline, self._keep)
        except OutOfTime:
            pass
        return self.text

    def _checked(self, text: str) -> bool:
        if text == self.text:
            return True
        if time.monotonic() > self._deadline:
            raise OutOfTime
        if text in self._tried:
            return False
        self._tried.add(text)
        return self._holds(text)

    def _keep(self, text: str) -> None:
        self.text = text
        self._report(text)

    def _by_operations(self) -> None:
        """Reduces the module of the text; does nothing where the text has syntax errors, or where what it shows depends
        on how it is written."""
        module = _module_of(self.text)
        printed = None if module is None else _printed(module)
        if module is None or printed is None or not self._checked(printed):
            return
        self._module = module
        self._keep(printed)
        before = ""
        while self.text != before:
            before = self.text
            for step in (self._erase, self._unwrap, self._drop_arguments, self._drop_attributes, self._constants):
                step(self._module)

    def _apply(self, edit: Edit) -> bool:
        """Makes an edit if the program still holds afterwards."""
        assert self._module is not None
        copy = self._module.clone()
        if not edit(list(copy.walk())):
            return False
        text = _printed(copy)
        if text is None or text == self.text or not self._checked(text):
            return False
        self._module = copy
        self._keep(text)
        return True

    def _ops(self) -> list[Operation]:
        assert self._module is not None
        return list(self._module.walk())

    def _erase(self, module: ModuleOp) -> None:
        """Leaves out runs of operations, from long to short, from the end of the program to its beginning."""
        size = max(1, sum(map(is_erasable, module.walk())) // 2)
        while size:
            end = len(units := self._erasable())
            while end > 0:
                chosen = units[max(0, end - size) : end]
                if self._apply(erase(chosen, False)) or self._apply(erase(chosen, True)):
                    units = self._erasable()
                    end = min(end - len(chosen), len(units))
                else:
                    end -= size
            size //= 2

    def _erasable(self) -> list[int]:
        return [number for number, op in enumerate(self._ops()) if is_erasable(op)]

    def _unwrap(self, module: ModuleOp) -> None:
        """Replaces operations with regions by the contents of a region."""
        self._each(lambda op, number: (unwrap(number, region) for region in range(len(op.regions))))

    def _drop_arguments(self, module: ModuleOp) -> None:
        """Removes unused arguments of functions, all of a function or single ones."""

        def edits(op: Operation, number: int) -> Iterator[Edit]:
            if "function_type" in op.properties and op.regions and op.regions[0].blocks:
                block = op.regions[0].blocks[0]
                unused = [argument.index for argument in block.args if not argument.uses]
                if unused:
                    yield drop_arguments(number, unused)
                yield from (drop_arguments(number, [position]) for position in reversed(unused))

        self._each(edits)

    def _drop_attributes(self, module: ModuleOp) -> None:
        """Removes attributes."""
        self._each(lambda op, number: (drop_attribute(number, name) for name in list(op.attributes)))

    def _constants(self, module: ModuleOp) -> None:
        """Makes constants smaller."""

        def edits(op: Operation, number: int) -> Iterator[Edit]:
            if isinstance(op, ConstantOp):
                yield from (set_constant(number, value) for value in SMALL)

        self._each(edits)

    def _each(self, edits: Callable[[Operation, int], Iterator[Edit]]) -> None:
        """Tries the edits of each operation, from the end of the program; what comes before stays where it is."""
        for number in reversed(range(len(self._ops()))):
            ops = self._ops()
            if number < len(ops):
                any(self._apply(edit) for edit in edits(ops[number], number))


def _module_of(text: str) -> ModuleOp | None:
    """Returns the module of a text without syntax errors."""
    engine = DiagnosticEngine(DiagnosticOptions())
    module = parse_program(SourceFile("program.pto", text), engine)
    return None if engine.has_errors else module


def _printed(module: ModuleOp) -> str | None:
    try:
        return print_module(module)
    except UNPRINTABLE:
        return None
