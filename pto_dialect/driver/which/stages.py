"""The stages of a program, from its text to what runs. Source: docs/which.md, "Stages"."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.analysis.release import set_release
from pto_dialect.cpp.emit import EmitError, emit_module
from pto_dialect.cpp.kernel import CppError, compile_kernel
from pto_dialect.cpp.options import CppOptions
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.passes.insert_sync.insert import ordered
from pto_dialect.passes.registry import PASS_TABLE
from pto_dialect.passes.run import run_passes
from pto_dialect.prove.reader import entry_functions
from pto_dialect.runtime.compile.compiler import functions_of
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module

SCHEDULES = ("oldest", "newest")
"""Orders of the pipes that are run beside that of the text."""


class StageError(Exception):
    """A stage makes no program that can be run, or one that fails; the message says why."""


class NotRun(Exception):
    """A stage that does not exist for this program or on this machine; the message says why."""


class Built(NamedTuple):
    """A program that can be run: the module, its entry function, and how it runs."""

    module: ModuleOp
    entry: str
    run: RunOptions


class Stage(NamedTuple):
    """``blamed`` says who is at fault where the stage is the first that differs. ``make`` raises ``StageError`` and
    ``NotRun``; ``None`` stands for a run without accelerations, in a process of its own."""

    name: str
    kind: str
    blamed: str
    make: Callable[[], Built] | None


@dataclass(eq=False)
class Course:
    """The program ``text`` and what ``passes`` make of it; ``name`` is that of its file."""

    text: str
    name: str
    entry: str
    target: str
    release: str | None
    passes: tuple[str, ...]
    run: RunOptions
    _module: ModuleOp | None = field(default=None, init=False)
    _done: int = field(default=0, init=False)

    def stages(self) -> Iterator[Stage]:
        """Yields all stages after the first, in order."""
        yield Stage(
            "grammar", "reader", "the reader: parse templates make another program than the grammar", self._read
        )
        for number, call in enumerate(self.passes, 1):
            if PASS_TABLE[call.partition("{")[0]].changes:
                yield Stage(call, "pass", f"the pass {call}", lambda count=number: self._after(count))
        yield Stage("text", "printer", "the printer or the reader of the text form", lambda: self._again(generic=False))
        yield Stage(
            "generic", "printer", "the printer or the reader of the generic form", lambda: self._again(generic=True)
        )
        yield Stage("cpp", "backend", "the C++ text of the program, or its translation", self._cpp)
        yield Stage("plain", "interpreter", "an acceleration of the interpreter", None)
        for schedule in SCHEDULES:
            blamed = (
                f"the order of the pipes: nothing orders two operations that schedule {schedule} runs the other way"
            )
            yield Stage(f"schedule {schedule}", "order", blamed, lambda one=schedule: self._scheduled(one))

    def last_text(self) -> str:
        """Returns the program after all passes; without passes as it was written. Raises ``StageError``."""
        return print_module(self._passed(len(self.passes))) if self.passes else self.text

    def source(self) -> Built:
        """Returns the program as it was read. Raises ``StageError``."""
        return Built(self._passed(0), self.entry, self.run)

    # ------------------------------------------------------------ modules

    def _read(self) -> Built:
        return Built(self._parsed(self.text, self.name, plans=False), self.entry, self.run)

    def _after(self, count: int) -> Built:
        module = self._passed(count)
        engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
        verify_module(module, engine, target=self.target)
        _check(engine, "the program does not verify")
        return Built(module, self.entry, self.run)

    def _again(self, generic: bool) -> Built:
        text = print_module(self._passed(len(self.passes)), generic=generic)
        name = f"{self.name} ({'generic' if generic else 'text'} form)"
        return Built(self._parsed(text, name), self.entry, self.run)

    def _cpp(self) -> Built:
        text = self._emitted()
        try:
            made = compile_kernel(text, f"{self.name}.cpp", CppOptions(None, self.target))
        except CppError as error:
            first = error.diagnostics[0]
            if first.rule in ("cpp-compiler", "cpp-option"):
                raise NotRun(first.message) from None
            raise StageError(f"{first.message} [{first.rule}]") from None
        module = self._parsed(made.text, f"{self.name}.cpp")
        names = functions_of(module)
        entry = self.entry if self.entry in names else next(iter(names), self.entry)
        return Built(module, entry, self.run)

    def _emitted(self) -> str:
        """Returns the C++ text after all passes, or, since instructions have none, of the source. Raises ``NotRun``."""
        function = functions_of(self._passed(0)).get(self.entry)
        if function is not None and any(
            isinstance(one.type, TileBufType) for one in function.regions[0].blocks[0].args
        ):
            raise NotRun(f"@{self.entry} takes tiles, and a kernel in C++ takes pointers and numbers")
        for count in (len(self.passes), 0):
            try:
                return emit_module(self._passed(count), self.name, self.target)
            except EmitError as error:
                reason = error.diagnostic().message
        raise NotRun(reason)

    def _scheduled(self, schedule: str) -> Built:
        module = self._passed(len(self.passes))
        orders = any(PASS_TABLE[call.partition("{")[0]].orders for call in self.passes)
        if not orders and not any(map(ordered, entry_functions(module))):
            raise NotRun("the program does not order its pipes; insert-sync does")
        return Built(module, self.entry, replace(self.run, schedule=Schedule.parse(schedule, strict=True)))

    def _passed(self, count: int) -> ModuleOp:
        """Returns the module after the first ``count`` passes. Passes change it in place, so an earlier state is made
        again."""
        if self._module is None or self._done > count:
            self._module, self._done = self._parsed(self.text, self.name), 0
        while self._done < count:
            engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
            done, self._done = self._done, len(self.passes) + 1
            run_passes(self._module, [self.passes[done]], engine, self.target, self.passes[done + 1 :])
            _check(engine, "the pass fails")
            self._done = done + 1
        return self._module

    def _parsed(self, text: str, name: str, plans: bool = True) -> ModuleOp:
        engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
        module = parse_program(SourceFile(name, text), engine, plans=plans)
        _check(engine, "the text cannot be read")
        assert module is not None
        set_release(module, self.release)
        return module


def _check(engine: DiagnosticEngine, what: str) -> None:
    worst = next((one for one in engine.diagnostics if one.severity is Severity.ERROR), None)
    if worst is not None:
        raise StageError(f"{what}: {worst.message} [{worst.rule}]")
