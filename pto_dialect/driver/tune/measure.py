"""One candidate: verified, changed by its passes, run on its arguments, compared, timed by the cycle model.

Source: docs/tune.md, "What is done with each candidate".
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.analysis.cycles.static import Total
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.origins import shown, shown_line
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.passes.accesses.items import UnsupportedError
from pto_dialect.passes.registry import VERIFY_PASSES
from pto_dialect.runtime.compile.usage import slot_arguments
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.timed import CycleKernel
from pto_dialect.sanitize.times.model import times_kernel

from ..advice.trial import peaks, run_quietly
from ..inputs import CPP_SUFFIXES, OF_COMMAND_LINE, Input, read_program
from ..launch.cpp_keys import CppCommand, cpp_input
from ..launch.document import LaunchError
from ..launch.paths import Folder
from ..launch.plan import Plan, default_program, plans_of
from ..launch.prepared import Prepared
from ..launch.session import Session, Settings
from ..options import CycleRequest, Options
from ..pipeline import build_module
from ..run.compare import Tolerance, mismatches_of
from ..run.sanitizing import Sanitizing
from ..run.status import Failure, Streams
from .space import Candidate, program_at


@dataclass
class Measured:
    """What became of a candidate: ``reason`` where it is no use. ``whole`` and ``pipes`` in cycles; ``memory``: peak
    bytes by on-chip memory; ``front``: no other one is faster and smaller; ``compared``: its results are right."""

    candidate: Candidate
    reason: str = ""
    whole: Total = field(default_factory=Total)
    clock_mhz: float = 1.0
    memory: Mapping[str, int] = field(default_factory=dict[str, int])
    front: bool = False
    module: ModuleOp | None = None
    pipes: Mapping[str, float] = field(default_factory=dict[str, float])
    compared: bool = False

    @property
    def microseconds(self) -> float:
        """The time of the run."""
        return self.whole.cycles / self.clock_mhz

    @property
    def bytes(self) -> int:
        """All on-chip memories together."""
        return sum(self.memory.values())


LAUNCH_SUFFIX = ".toml"
"""The end of the name of a launch file."""


class Refused(Exception):
    """A candidate is no use; the message says why."""


@dataclass
class Tuner:
    """Measures candidates of one launch file. ``against`` are the results that others have to give, of the one called
    ``reference``; the first good one gives them where nothing is expected."""

    path: str
    target: str | None
    allow_outside: bool = False
    cycles: CycleRequest = field(default_factory=CycleRequest)
    tolerance: Tolerance | None = None
    cpp: CppCommand = field(default_factory=CppCommand)
    against: list[Any] | None = None
    reference: str = ""
    accumulate: str | None = None
    """How products are summed, as for ``pto-run``."""
    _values: list[Any] | None = field(default=None, init=False)
    _by_contents: bool = field(default=False, init=False)

    @property
    def folder(self) -> Folder:
        """Where paths count from: the folder of a launch file; for a command line the current one, and any path is
        what its user wants."""
        if self.path.endswith(LAUNCH_SUFFIX):
            return Folder(os.path.dirname(self.path), self.allow_outside)
        return Folder("", allow_outside=True)

    def measure(self, candidate: Candidate) -> Measured:
        """Returns all about one candidate. Raises ``LaunchError`` for what is wrong whatever the values are."""
        found = self.build(candidate)
        if not found.reason:
            self.run(found)
        return found

    def build(self, candidate: Candidate) -> Measured:
        """Returns the program of a candidate, verified, and its memory. Raises ``LaunchError``."""
        found = Measured(candidate)
        plan = self._plan(candidate)
        target = self.target or plan.target
        try:
            found.module = self._module(plan, candidate, target)
            # Memory that cannot be planned, as that of functions that are called, stays open.
            with suppress(UnsupportedError):
                found.memory = {space: size for space, size in sorted(peaks(found.module, target).items()) if size}
        except Refused as error:
            found.reason = str(error)
        return found

    def run(self, found: Measured) -> None:
        """Runs the program of a candidate, compares its results, and adds its times. Raises ``LaunchError``."""
        try:
            self._run(found)
        except Refused as error:
            found.reason = str(error)

    def module(self, found: Measured) -> ModuleOp:
        """Returns the program of a good candidate, made again where another process has measured it."""
        if found.module is None:
            plan = self._plan(found.candidate)
            found.module = self._module(plan, found.candidate, self.target or plan.target)
        return found.module

    def program(self, candidate: Candidate, verified: bool = True) -> ModuleOp | None:
        """Returns the program without passes; ``None`` if it cannot be read or, where it is ``verified``, is not legal.
        Raises ``LaunchError``."""
        plan = self._plan(candidate)
        try:
            return self._module(plan, candidate._replace(passes=()), self.target or plan.target, verified)
        except Refused:
            return None

    def input_of(self, candidate: Candidate) -> Input:
        """Returns the program of a candidate as a file. Raises ``LaunchError``."""
        return self._item(self._plan(candidate))

    def compare_with(self, candidate: Candidate) -> None:
        """Takes the program of ``candidate`` without its passes for the reference, where it runs so, nothing is
        expected, and the program does not depend on what varies. Raises ``LaunchError``."""
        plan = self._plan(candidate)
        step = plan.steps[0]
        if step.expect or not candidate.passes or step.cpp.defines or "${" in self._text(plan, candidate, None):
            return
        if not self.measure(candidate._replace(passes=())).reason:
            self.reference = "the program without passes"

    def _run(self, found: Measured) -> None:
        prepared = self._prepared(self._plan(found.candidate), self.module(found))
        kernel = prepared.kernel
        assert isinstance(kernel, CycleKernel)
        try:
            results = run_quietly(kernel, [one.launched for one in prepared.bound], prepared.step.blocks)
        except ProgramError as error:
            raise Refused(f"{error.message} [{error.rule}]") from None
        except BindingError as error:
            raise Refused(str(error)) from None
        except MemoryError:
            raise Refused("the run does not fit into memory") from None
        errors = [one for one in kernel.observer.findings.all if one.diagnostic().severity is Severity.ERROR]
        if errors:
            raise Refused(_first(one.diagnostic() for one in errors))
        self._compare(prepared, results)
        found.compared = True
        self._add_times(found, kernel)

    def blocks_of(self, candidate: Candidate) -> int:
        """In how many blocks the launch runs. Raises ``LaunchError``."""
        return self._plan(candidate).steps[0].blocks

    def time(self, found: Measured) -> None:
        """Adds the times of the program of a candidate without computing contents, where they do not depend on them;
        otherwise as :meth:`run`. Raises ``LaunchError``."""
        try:
            done = not self._by_contents and self._time(found)
        except Refused as error:
            found.reason = str(error)
            return
        if not done:
            self._values, self._by_contents = None, True
            self.run(found)

    def _time(self, found: Measured) -> bool:
        """Returns whether contents do not matter."""
        plan = self._plan(found.candidate)
        step, module = plan.steps[0], self.module(found)
        if self._values is None:
            self._values = [one.launched for one in self._prepared(plan, module).bound]
        try:
            kernel = times_kernel(
                module,
                step.entry,
                self.target or plan.target,
                self.cycles.table,
                dict(self.cycles.options),
                RunOptions(accumulate=self.accumulate or "fast", backend=plan.backend),
            )
            run_quietly(kernel, self._values, step.blocks)
        except ProgramError as error:
            self._values = None
            raise Refused(f"{error.message} [{error.rule}]") from None
        except BindingError as error:
            raise Refused(str(error)) from None
        if kernel.reason:
            return False
        self._add_times(found, kernel)
        return True

    def _add_times(self, found: Measured, kernel: CycleKernel) -> None:
        cycles = kernel.cycles(self.path)
        found.whole, found.clock_mhz = cycles.total, cycles.clock_mhz
        found.pipes = {pipe: total.cycles for pipe, total in cycles.pipes.items()}

    # ------------------------------------------------------------ steps

    def _plan(self, candidate: Candidate) -> Plan:
        document = candidate.document
        plan = plans_of(document, self.folder, default_program(self.path))[0]
        if len(plan.steps) != 1 or plan.steps[0].group or plan.steps[0].task or plan.rank is not None:
            raise document.error((), "what is tuned is one launch of one function")
        return plan

    def _text(self, plan: Plan, candidate: Candidate, target: str | None) -> str:
        """Returns the program, of a C++ kernel as its definitions make it. Raises ``LaunchError`` for what cannot be
        read."""
        item = self._item(plan)
        text, found = read_program(item, target)
        if found and found[0].severity is Severity.ERROR:
            if found[0].span is not None and found[0].rule not in OF_COMMAND_LINE:
                raise Refused(_first(found))
            raise candidate.document.error(("program",), found[0].message)
        return text

    def _item(self, plan: Plan) -> Input:
        step = plan.steps[0]
        return cpp_input(step.program, step.entry, step.cpp, self.cpp)

    def _module(self, plan: Plan, candidate: Candidate, target: str | None, verified: bool = True) -> ModuleOp:
        text = self._text(plan, candidate, target)
        if not plan.steps[0].program.endswith(CPP_SUFFIXES):
            text = program_at(text, candidate.point, candidate.document)
        source = SourceFile(plan.steps[0].program, text)
        engine = DiagnosticEngine()
        passes = (*VERIFY_PASSES, *candidate.passes, *VERIFY_PASSES) if verified else candidate.passes
        module = build_module(source, engine, Options(target, passes))
        if module is None or engine.has_errors:
            raise Refused(_first(engine.diagnostics))
        return module

    def _prepared(self, plan: Plan, module: ModuleOp) -> Prepared:
        step = plan.steps[0]
        told: list[Diagnostic] = []
        lines: list[str] = []
        streams = Streams(lambda text: None, lines.append, False, lambda found, counts: told.extend(found))
        sanitizing = Sanitizing(SanitizeOptions(), cycles=self.cycles)
        settings = Settings(
            target=self.target,
            accumulate=self.accumulate,
            quiet=True,
            sanitizing=sanitizing,
            allow_outside=self.folder.allow_outside,
            cpp=self.cpp,
        )
        session = Session(plan, settings, streams, {})
        session.modules[session.path_of(session.input_of(step.program, step.entry, step))] = module
        try:
            prepared = session.prepare(step)
            session.check_buffers()
        except Failure:
            raise Refused(_first(told) or "".join(lines).strip() or "it cannot be compiled") from None
        except LaunchError as error:
            if error.diagnostic.rule:
                raise Refused(f"{error.diagnostic.message} [{error.diagnostic.rule}]") from None
            raise
        return prepared

    def _compare(self, prepared: Prepared, results: Sequence[Any]) -> None:
        """Raises :class:`Refused` where the results are not those that are wanted."""
        if prepared.expected:
            values = [one.value for one in prepared.bound]
            returned = list(results[len(prepared.bound) :])
            wrong = mismatches_of(prepared.expected, lambda place: prepared.places.output(place, values, returned))
            if wrong:
                raise Refused(" ".join(wrong[0].split()))
            self.reference = "the expectations of the launch file"
            return
        if self.against is None:
            self.against = [np.array(_array(one)) for one in results]
            self.reference = "the first candidate that runs"
            return
        names = [one.name for one in prepared.bound]
        # What queues leave in the memory of their entries is no result.
        slots = slot_arguments(prepared.kernel.program)
        for number, (wanted, found) in enumerate(zip(self.against, map(_array, results), strict=True)):
            if number in slots:
                continue
            name = names[number] if number < len(names) else f"result {number - len(names)}"
            if wanted.shape != found.shape:
                raise Refused(f"{name} has another shape than that of {self.reference}; state what is expected")
            if not self._same(wanted, found):
                raise Refused(f"{name} differs from that of {self.reference}")

    def _same(self, wanted: Any, found: Any) -> bool:
        if wanted.tobytes() == found.tobytes():
            return True
        if self.tolerance is None or wanted.dtype.kind in "iub":
            return False
        one, other = wanted.astype(np.float64), found.astype(np.float64)
        relative, absolute = self.tolerance
        return np.allclose(other, one, relative or 0.0, absolute or 0.0, equal_nan=True)


def _array(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, np.ndarray | np.generic | int | float) else np.zeros(0)


def _first(found: Iterable[Diagnostic]) -> str:
    """Returns the first error in one line, with its source location."""
    worst = next((one for one in found if one.severity is Severity.ERROR), None)
    if worst is None:
        return ""
    where = f"line {shown_line(worst.span)}: " if worst.span is not None else ""
    return f"{where}{shown(worst).message}{f' [{worst.rule}]' if worst.rule else ''}"


def mark_front(found: Sequence[Measured]) -> None:
    """Marks the candidates that no other one beats in time without needing more memory, or the other way round."""
    good = [one for one in found if not one.reason]
    for one in good:
        one.front = not any(
            other.whole.cycles <= one.whole.cycles
            and other.bytes <= one.bytes
            and (other.whole.cycles, other.bytes) != (one.whole.cycles, one.bytes)
            for other in good
        )
