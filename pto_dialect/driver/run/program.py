"""One launch from text to files: parse, verify, compile, bind, run, compare, store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect.deadline import TimedOut
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.engine import Counts, DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.diagnostics.suggest import did_you_mean
from pto_dialect.ir.core.location import span_of
from pto_dialect.runtime.compile.compiler import find_entry, functions_of
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.faults import OUT_OF_MEMORY
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.per_core import copied
from pto_dialect.runtime.run.profiling import ProfileLog

from ..inputs import OF_COMMAND_LINE, Input, read_program
from ..options import Options
from ..pipeline import build_checked, build_module
from ..report import render, summary_of_input
from .binding import Bound
from .compare import Judgement, mismatches_of, with_starts
from .files import Writing, write_files
from .outputs import Output, Place, Places, dump, memory_of, summary
from .prepared import prepared, simplified, with_signature
from .request import Request
from .sanitizing import assumed_lines, collected, instrumented_kernel, keep_recording, save_recording, unchecked_lines
from .status import FINDINGS, OK, TIMED_OUT, WRONG_LAUNCH, WRONG_PROGRAM, Failure, LaunchState, Streams, out_of_time
from .value_text import Given

if TYPE_CHECKING:
    from pto_dialect.report.kernel import ReportKernel
    from pto_dialect.runtime.compile.group import Group
    from pto_dialect.sanitize.launch import InstrumentedKernel

    from ..explore.reference import Referee

ENTRY = "entry-single"
"""Rule about the function that is run."""


def _out_of_memory(what: str, place: Operation) -> Diagnostic:
    return Diagnostic(OUT_OF_MEMORY, Severity.ERROR, f"{what} takes more memory than there is", span_of(place))


class Launch(LaunchState):
    """The steps of one launch, each for those who put them together themselves; ``log`` collects times."""

    def __init__(self, item: Input, request: Request, streams: Streams) -> None:
        super().__init__(item, request)
        self.streams = streams
        self.log = ProfileLog() if request.profile else None
        self.unsaved = False

    def run_entry(self, module: ModuleOp, entry: str, arguments: Sequence[tuple[str, Given]]) -> int:
        """Runs function ``entry`` on ``arguments``, and does with the results what the request says."""
        request, streams = self.request, self.streams
        started = perf_counter()
        kernel = self.kernel(module, entry)
        compile_seconds = perf_counter() - started
        if request.emit_python:
            streams.out(kernel.listing)
            return OK
        given = prepared(kernel, request, simplified(kernel, arguments))
        bound, places = given.bound, given.places
        referee, before, expected = self.referee(bound), self.copies(bound), with_starts(given.expected, bound)
        values = [one.value for one in bound]
        fixing = request.sanitizing is not None and request.sanitizing.fix is not None
        kept = fixing or (request.cycles is not None and request.advice and not request.times_only)
        originals = [one.copied() for one in bound] if kept else []

        def before_run() -> Sequence[Bound]:
            return originals if kept else prepared(kernel, request, arguments).bound

        def carried_out() -> int:
            started = perf_counter()
            returned = self.execute(kernel, [one.launched for one in bound])
            seconds = perf_counter() - started
            if fixing:
                return self.fix(cast("InstrumentedKernel", kernel), originals)
            self.findings(kernel)

            def value(place: Place) -> Output:
                return places.output(place, values, returned)

            shown = changed(places, bound, before)
            mismatches = mismatches_of(expected, value)
            if referee is not None:
                mismatches += referee.judge(changed(places, bound, referee.before), places, value, streams.out)
            written = [] if mismatches else given.writings(value)
            write_files(written)
            self.show(shown, value, written)
            if self.log is not None:
                from .profile_table import profile_table  # deferred: start-up

                streams.out(profile_table(self.log, seconds, compile_seconds))
            if request.cycles is not None:
                from ..cycle_text import document  # deferred: start-up
                from .timing import measured  # deferred: start-up

                results = [*(one.launched for one in bound), *returned]
                streams.out(document([measured(self, kernel, before_run, results)], request.cycles))
            self.mismatches = mismatches
            for text in mismatches:
                streams.err(text)
            if self.unsaved:
                return WRONG_LAUNCH
            return WRONG_PROGRAM if mismatches else OK

        if request.sanitizing is None or request.sanitizing.html is None:
            return carried_out()
        from .page import RunPage  # deferred: start-up

        with RunPage(self, cast("ReportKernel", kernel), request.sanitizing, bound, expected):
            return carried_out()

    # ------------------------------------------------------------ program

    def module(self, verified: bool = True) -> ModuleOp:
        """Returns the parsed and, unless it is left for later, ``verified`` program; its diagnostics are shown."""
        policy = self.request.policy
        engine = DiagnosticEngine(policy)
        text, remarks = read_program(self.item, self.request.target)
        for remark in remarks:
            engine.report(remark)
        module = None
        if not engine.has_errors:
            options = self.options()._replace(plans=self.request.plans)
            module = self.built(text, engine, options if verified else options._replace(passes=()))
        counts = engine.counts() if engine.has_errors else Counts()
        self.report(engine.diagnostics, counts)
        if module is None or engine.has_errors:
            raise Failure(WRONG_LAUNCH if any(one.rule in OF_COMMAND_LINE for one in remarks) else WRONG_PROGRAM)
        return module

    def options(self) -> Options:
        """How the program is read and checked."""
        request = self.request
        return Options(target=request.target, printing=False, policy=request.policy, release=request.release)

    def built(self, text: str, engine: DiagnosticEngine, options: Options) -> ModuleOp | None:
        """Returns the parsed and verified program ``text``, if there is one."""
        name = self.item.name
        try:
            return build_checked(SourceFile(name, text), engine, options, self.request.verdicts)
        except MemoryError:
            engine.report(Diagnostic("input-memory", Severity.ERROR, f"'{name}' does not fit into memory"))
        except Exception as error:
            from ..internal_error import internal_error  # deferred: start-up

            def again(smaller: str) -> None:
                build_module(SourceFile(name, smaller), DiagnosticEngine(options.policy), options)

            engine.report(internal_error(error, text, again, f"'{name}': internal error"))
        return None

    def report(self, diagnostics: Sequence[Diagnostic], counts: Counts) -> None:
        """Writes diagnostics and the line that counts them to standard error, or hands them on."""
        if self.streams.collect is not None:
            self.streams.collect(diagnostics, counts)
            return
        if diagnostics:
            self.streams.err(render(tuple(diagnostics), self.streams.color))
        closing = summary_of_input(counts)
        if closing:
            self.streams.err(closing + "\n")

    def entry(self, module: ModuleOp, asked: str | None = None) -> str:
        """Returns the function to run, by default the one that the request names; an unclear choice is the command
        line's fault."""
        functions = functions_of(module)
        asked = asked or self.request.entry
        listed = ", ".join(f"@{name}" for name in functions)
        if not functions:
            raise BindingError(f"'{self.item.name}' has no function to run", rule=ENTRY)
        if asked is not None:
            name = asked.removeprefix("@")
            if name in functions:
                return name
            if self.item.is_cpp:
                # The kernel was compiled alone; it may be a template, or have a function for each core.
                return find_entry(module, None)
            near = did_you_mean(name, functions)
            hint = f"did you mean @{near[0]}?" if near else f"there is {listed}"
            raise BindingError(f"'{self.item.name}' has no function @{name}; {hint}", rule=ENTRY)
        try:
            return find_entry(module, None)
        except ProgramError as error:
            message = f"'{self.item.name}' has several functions, choose one with --entry: {listed}"
            raise BindingError(message, rule=error.rule) from None

    def kernel(self, module: ModuleOp, entry: str, group: Group | None = None, *, plain: bool = False) -> Kernel:
        """Returns the compiled entry function, or group of functions; a ``plain`` one is not instrumented, whatever the
        request says."""
        try:
            if plain:
                return Kernel(module, entry, self.request.target, self.request.run, group=group)
            return self.compiled(module, entry, group)
        except BindingError:
            raise
        except ProgramError as error:
            diagnostic = error.diagnostic()
        except MemoryError:
            diagnostic = _out_of_memory(f"compiling @{entry}", _first_function(module, entry, group))
        except Exception as error:
            span = span_of(_first_function(module, entry, group))
            diagnostic = self.internal(error, f"@{entry} cannot be compiled", span, entry)
        self.report([diagnostic], Counts(errors=1))
        raise Failure(WRONG_PROGRAM)

    def compiled(self, module: ModuleOp, entry: str, group: Group | None = None) -> Kernel:
        """Returns the compiled entry function, or group of functions; reports no errors."""
        request = self.request
        if request.sanitizing is not None:
            sanitizing = replace(request.sanitizing, times_only=request.times_only)
            instrumented = (module, entry, request.target, request.run, sanitizing, group)
            return instrumented_kernel(*instrumented, tasks=request.tasks)
        if request.run.scalar_cache:
            from pto_dialect.runtime.run.cached import CachedKernel  # deferred: start-up

            return CachedKernel(module, entry, request.target, request.run, self.log, group)
        return Kernel(module, entry, request.target, request.run, self.log, group)

    def internal(
        self, error: BaseException, what: str, span: Span | None, entry: str, values: list[object] | None = None
    ) -> Diagnostic:
        """Returns the diagnostic for an error that no rule foresaw, in compiling ``entry`` or running it on
        ``values``."""
        from ..internal_error import internal_error  # deferred: start-up

        def again(smaller: str) -> None:
            engine = DiagnosticEngine(self.request.policy)
            options = self.options()
            module = build_module(SourceFile(self.item.name, smaller), engine, options)
            if module is not None and not engine.has_errors and entry in functions_of(module):
                kernel = self.compiled(module, entry)
                if values is not None:
                    kernel.run([copied(value) for value in values], self.request.blocks, 1)

        return internal_error(error, span.source.text if span is not None else "", again, what, span)

    # ------------------------------------------------------------ run

    def execute(self, kernel: Kernel, values: list[object]) -> list[object]:
        """Runs all blocks; what the function returns."""
        code = WRONG_PROGRAM
        if self.request.sanitizing is not None:
            keep_recording(self.instrumented(kernel), self.request.sanitizing, self.request.blocks)
        try:
            returned = kernel.run(values, self.request.blocks, self.request.jobs)
            self.save(kernel, None)
            return returned
        except BindingError as error:
            raise with_signature(error, kernel) from None
        except TimedOut as error:
            code = TIMED_OUT
            place = error.place or span_of(kernel.stopped_at(error))
            self.report(*self.collected(kernel))
            diagnostic = out_of_time(place)
        except ProgramError as error:
            diagnostic = error.diagnostic()
        except MemoryError:
            diagnostic = _out_of_memory(f"@{kernel.entry}", kernel.function)
        except OSError:
            raise
        except Exception as error:
            op = kernel.locate(error.__traceback__) or kernel.function
            what = f"{_named(op, kernel)} cannot be executed"
            diagnostic = self.internal(error, what, span_of(op), kernel.entry, values)
        self.failures.append(diagnostic)
        self.report([diagnostic], Counts(errors=1))
        self.save(kernel, diagnostic)
        raise Failure(code)

    def instrumented(self, kernel: Kernel) -> InstrumentedKernel:
        """Returns the instrumented kernel that runs instead of ``kernel``."""
        return cast("InstrumentedKernel", kernel)

    def save(self, kernel: Kernel, failure: Diagnostic | None) -> None:
        """Writes the recording, if requested; where that fails, the launch continues and fails in the end."""
        request = self.request.sanitizing
        if request is None or request.record is None:
            return
        wrong = save_recording(self.instrumented(kernel), request, self.request.blocks, failure)
        if wrong is not None:
            self.streams.err(f"error: {wrong}\n")
            self.unsaved = True

    def referee(self, bound: Sequence[Bound]) -> Referee | None:
        """Returns what compares the results with the function of ``--reference``, if there is one."""
        if self.request.reference is None:
            return None
        from ..explore.reference import Referee  # deferred: start-up

        return Referee(self.request.reference, bound, Judgement(self.request.tolerance))

    def copies(self, bound: Sequence[Bound]) -> list[Array | None] | None:
        """Returns the buffers before the run; ``None`` when nothing is going to be shown of them."""
        if self.request.times_only or (self.request.quiet and not self.request.dump):
            return None
        return [one.value.copy() if one.is_array else None for one in bound]

    def fix(self, kernel: InstrumentedKernel, originals: list[Bound]) -> int:
        """Shows the findings, and writes the program with what they advise."""
        from .fixing import fixed_text, report_of, write_fixed  # deferred: start-up

        request = self.request
        sanitizing = request.sanitizing
        assert sanitizing is not None and sanitizing.fix is not None
        span = span_of(kernel.function)
        quiet = replace(sanitizing, trace=None, report=None)

        def again(module: ModuleOp) -> InstrumentedKernel:
            return instrumented_kernel(module, kernel.entry, request.target, request.run, quiet)

        def values() -> list[Any]:
            return [one.copied().launched for one in originals]

        text = "" if span is None else span.source.text
        text, applied, left = fixed_text(text, kernel, sanitizing, again, values, request.blocks)
        shown, counts = self.collected(kernel)
        self.report(shown, counts)
        if sanitizing.fix == "-":
            self.streams.out(text)
        else:
            write_fixed(sanitizing.fix, text)
        self.streams.err(report_of(sanitizing.fix, applied, left))
        return FINDINGS if counts.errors else OK

    def findings(self, kernel: Kernel) -> None:
        """Shows what the sanitizers have found; an error ends the launch."""
        shown, counts = self.collected(kernel)
        self.report(shown, counts)
        if self.request.sanitizing is not None and not self.request.quiet:
            for line in assumed_lines(cast("InstrumentedKernel", kernel)):
                self.streams.err(f"assumed: {line}\n")
            for line in unchecked_lines(cast("InstrumentedKernel", kernel)):
                self.streams.err(f"not checked: {line}\n")
        if counts.errors or (self.request.sanitizing is not None and cast("InstrumentedKernel", kernel).stopped):
            raise Failure(FINDINGS)

    def collected(self, kernel: Kernel) -> tuple[tuple[Diagnostic, ...], Counts]:
        """Returns what the sanitizers have found so far, and its numbers; nothing if they do not watch."""
        request = self.request.sanitizing
        if request is None:
            return (), Counts()
        return collected(cast("InstrumentedKernel", kernel), request, self.request.policy)

    def show(
        self,
        shown: Sequence[Place],
        value: Callable[[Place], Output],
        written: Sequence[Writing],
    ) -> None:
        """The summary lines or all numbers of what was written."""
        for place in shown:
            if self.request.dump:
                self.streams.out(dump(value(place)) + "\n")
            elif not self.request.quiet:
                files = "".join(f" -> {one.file.path}" for one in written if one.name == place.name)
                self.streams.out(summary(value(place)) + files + "\n")


def _first_function(module: ModuleOp, entry: str, group: Group | None) -> Operation:
    return group.starts[0].function if group is not None else functions_of(module)[entry]


def _named(op: Operation, kernel: Kernel) -> str:
    return op.name if op is not kernel.function else f"@{kernel.entry}"


def changed(places: Places, bound: Sequence[Bound], before: Sequence[Array | None] | None) -> list[Place]:
    """Returns what is worth showing: buffers of which the run changed a byte or that are written back, and results."""
    found: list[Place] = []
    if before is None:
        return found
    known: set[int] = set()
    for one, old in zip(bound, before, strict=True):
        if old is None:
            continue
        same = np.array_equal(old.reshape(-1).view(np.uint8), one.value.reshape(-1).view(np.uint8))
        if places.is_group and memory_of(one) in known:
            continue
        if not same or one.write_back is not None:
            known.add(memory_of(one))
            found.append(places.arguments[one.name])
    return [*found, *places.results]
