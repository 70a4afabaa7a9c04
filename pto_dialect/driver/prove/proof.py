"""``--prove``: runs the functions of a program before and after each pass and compares.

Source: docs/reference/proving.md, "What is compared", "Reports".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import process_time

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.deadline import TimedOut, deadline
from pto_dialect.diagnostics.diagnostic import Diagnostic, Note, Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.diagnostics.wording import count
from pto_dialect.ir.core.location import span_of
from pto_dialect.passes.registry import PASS_TABLE
from pto_dialect.runtime.compile.program import Symbols
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.sanitize.report.findings import Finding
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.program.proofs import DIFFERENCE, DONE, FINDING, OPEN, REREAD
from pto_dialect.verify.verifier import verify_module

from ..explore.launched import launched_functions
from ..explore.listing import list_functions
from .runs import SCHEDULES, TEXT, Difference, Runs, difference
from .subject import ORDER, Subject, Trial, key_of

_EVERY = DiagnosticOptions(max_errors=0)


@dataclass
class Proof:
    """Proves the passes that run over ``module``; ``engine`` receives the results, including remarks.

    ``seconds`` is the limit of processor time for all of it, ``steps`` how many passes are to be proven. An open proof
    is an error, with ``allow_open`` a remark.
    """

    module: ModuleOp
    target: str | None
    engine: DiagnosticEngine
    seconds: float
    steps: int
    subjects: list[Subject] = field(default_factory=list)
    strict: bool = False
    passes: list[str] = field(default_factory=list)
    text: str = ""
    spent: float = 0.0
    allow_open: bool = False
    opened: list[Diagnostic] = field(default_factory=list)

    def begin(self) -> None:
        """Runs everything before the first pass."""
        self.text = print_module(self.module)
        names = launched_functions(self.module, self.target)
        listed = {one.name: one for one in list_functions(self.module, self.target)}
        first = Symbols(self.module).first
        for number, name in enumerate(names):
            known = listed.get(name)
            blocks = 1 if known is None or known.blocks == "one" else 2
            subject = Subject(name, span_of(first[name]), self.target, blocks)
            share = self.seconds / (self.steps + 1) / (len(names) - number)
            if self._limited(share, subject, lambda one=subject: one.prepare(self.module)):
                self._report_limits(subject)
                self.subjects.append(subject)

    def after(self, call: str) -> None:
        """Proves what a pass, as the pipeline names it, has made of the module."""
        strict = self.strict or PASS_TABLE[call.partition("{")[0]].orders
        self.passes.append(call)
        text = print_module(self.module)
        if (text, strict) == (self.text, self.strict):
            return
        self.text, self.strict = text, strict
        if not self._reread(call, text):
            return
        left = max(self.seconds - self.spent, 0.0) / max(self.steps + 1 - len(self.passes), 1)
        going = list(self.subjects)
        for number, subject in enumerate(going):
            if not self._limited(
                left / (len(going) - number), subject, lambda one=subject: self._compare(call, one), call
            ):
                self.subjects.remove(subject)

    def end(self) -> None:
        """Says what is proven, and what is not."""
        failed = self.engine.has_errors
        for one in self.opened:
            self.engine.report(one)
        if failed:
            return
        for subject in self.subjects if self.passes else ():
            if any(trial.unwritten is not None and not trial.unseen for trial in subject.trials):
                continue
            runs = f"{count(len(subject.trials), 'input')}, {count(len(SCHEDULES), 'schedule')}"
            what = f"{' and '.join(self.passes)} {'keeps' if len(self.passes) == 1 else 'keep'}"
            self._report(DONE.id, f"{what} every bit that @{subject.name} computes: {runs}", subject.span)

    # ------------------------------------------------------------ one pass

    def _reread(self, call: str, text: str) -> bool:
        """Returns whether the module is verified, and so is what its text says."""
        engine = DiagnosticEngine(_EVERY)
        verify_module(self.module, engine, target=self.target)
        if engine.has_errors:
            self._report_made(call, "does not verify", engine)
            return False
        again = parse_program(SourceFile("lowered.pto", text), engine)
        if again is not None and not engine.has_errors:
            verify_module(again, engine, target=self.target)
        if again is None or engine.has_errors:
            self._report_made(call, "does not read back", engine)
            return False
        if print_module(again) != text:
            self._report(REREAD.id, f"{call} makes a program that reads back as another one")
            return False
        return True

    def _report_made(self, call: str, what: str, engine: DiagnosticEngine) -> None:
        worst = next(one for one in engine.diagnostics if one.severity is Severity.ERROR)
        self._report(REREAD.id, f"{call} makes a program that {what}: {worst.message} [{worst.rule}]", worst.span)

    def _compare(self, call: str, subject: Subject) -> None:
        judged = self.strict or subject.ordered
        runs = Runs(self.module, subject.name, self.target, subject.blocks, self.strict)
        for trial in subject.trials:
            expected = trial.expected
            for schedule in SCHEDULES if judged else SCHEDULES[:1]:
                if schedule in subject.unsteady:
                    continue
                found = self._result(call, subject, trial, runs, schedule)
                if found is None:
                    # The sanitizers often know why.
                    with suppress(ProgramError):
                        self._found(call, subject, trial, runs, judged)
                    return
                if trial.unwritten is not None and schedule == TEXT:
                    # Uninitialized contents depend on the address of a tile.
                    if trial.unseen and difference(expected, found) is not None:
                        for one in subject.trials:
                            one.unseen = False
                        self._report_unwritten(subject, trial.unwritten)
                    expected = found
                where = difference(expected, found)
                if where is not None:
                    self._differs(call, subject, trial, schedule, where)
                    self._found(call, subject, trial, runs, judged)
                    return
            if self._found(call, subject, trial, runs, judged):
                return

    def _result(self, call: str, subject: Subject, trial: Trial, runs: Runs, schedule: str):
        try:
            return runs.results(trial.input, schedule)
        except ProgramError as error:
            message = f"after {call}, @{subject.name} fails where it did not: {error.message}"
            self._report(DIFFERENCE.id, message, error.span or subject.span, _circumstances(trial, schedule))
            return None

    def _differs(self, call: str, subject: Subject, trial: Trial, schedule: str, where: Difference) -> None:
        place = f"[{', '.join(map(str, where.element))}]" if where.element else ""
        element = subject.names[where.array] + place
        message = f"{call} changes what @{subject.name} computes: {element} is {where.found}, it was {where.expected}"
        notes = (Note(f"{count(where.differing, 'element')} differ"), *_circumstances(trial, schedule))
        self._report(DIFFERENCE.id, message, subject.span, notes)

    def _found(self, call: str, subject: Subject, trial: Trial, runs: Runs, judged: bool) -> bool:
        """Returns whether the sanitizers find something new."""
        news = [one for one in runs.findings(trial.input) if self._is_new(one, subject, trial, judged)]
        if news:
            finding = news[0]
            notes = [Note(*note) for note in finding.diagnostic().notes]
            if len(news) > 1:
                notes.append(Note(f"so have {count(len(news) - 1, 'other location')}"))
            message = f"after {call}, @{subject.name} has a finding it did not have: {finding.message} ({finding.rule})"
            self._report(FINDING.id, message, finding.span, (*notes, *_circumstances(trial, TEXT)))
        return bool(news)

    def _is_new(self, finding: Finding, subject: Subject, trial: Trial, judged: bool) -> bool:
        # Of flags that the program has before its passes, the same is found then.
        if finding.rule in ORDER and not subject.ordered and not finding.rule.startswith("sync-flag"):
            return judged
        return key_of(finding) not in trial.findings

    # ------------------------------------------------------------ reports

    def _limited(self, seconds: float, subject: Subject, work: Callable[[], None], call: str = "") -> bool:
        """Runs some work in at most so many seconds; False where it could not be completed, which is reported."""
        started = process_time()
        reason: str | None = None
        place: Span | None = None
        try:
            with deadline(max(seconds, 0.05), processor=True):
                work()
        except TimedOut:
            reason = f"the time of --prove is over{f', after {call}' if call else ''}"
        except ProgramError as error:
            reason, place = error.message, error.span
        except BindingError as error:
            reason = str(error)
        except MemoryError:
            reason = "its runs do not fit into memory"
        self.spent += process_time() - started
        if reason is not None:
            self._report(OPEN.id, f"@{subject.name} is not proven: {reason}", place or subject.span)
        return reason is None

    def _report_limits(self, subject: Subject) -> None:
        unwritten = next((one.unwritten for one in subject.trials if not one.unseen and one.unwritten), None)
        if unwritten is not None:
            self._report_unwritten(subject, unwritten)
        if subject.unsteady:
            schedules = ", ".join(sorted(subject.unsteady))
            message = f"the flags of @{subject.name} itself let its results change under {schedules}"
            self._report(OPEN.id, message, subject.span)
        if subject.crossing is not None:
            message = f"the blocks of @{subject.name} race with each other: only what one block does is proven"
            self._report(OPEN.id, message, subject.crossing.span or subject.span)
        if subject.swayed:
            message = f"the results of @{subject.name} depend on the order of its blocks: only what one does is proven"
            self._report(OPEN.id, message, subject.span)

    def _report_unwritten(self, subject: Subject, unwritten: Finding) -> None:
        message = f"@{subject.name} uses memory that it never writes: only the order of what it does is proven"
        self._report(OPEN.id, message, unwritten.span or subject.span)

    def _report(self, rule: str, message: str, span: Span | None = None, notes: Sequence[Note] = ()) -> None:
        remark = rule == DONE.id or (rule == OPEN.id and self.allow_open)
        found = Diagnostic(rule, Severity.INFO if remark else Severity.ERROR, message, span, tuple(notes))
        if rule == OPEN.id:
            # The passes that follow are still compared.
            self.opened.append(found)
        else:
            self.engine.report(found)


def _circumstances(trial: Trial, schedule: str) -> tuple[Note, ...]:
    return (Note(f"arguments: {trial.input.name}"), Note(f"schedule: {schedule}"))
