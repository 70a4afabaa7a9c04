"""Collecting diagnostics under the policy the user chose."""

from collections.abc import Callable
from typing import NamedTuple

from .diagnostic import Diagnostic, Severity
from .source import Span


class DiagnosticOptions(NamedTuple):
    """Policy of a :class:`DiagnosticEngine`.

    ``allow``: rules whose diagnostics are dropped, errors included; it wins over ``deny``.
    ``deny``: rules whose diagnostics are errors.
    ``warn``: rules whose diagnostics are warnings, if neither of the others names them.
    ``werror``: warnings are errors (infos are not).
    ``pedantic``: infos are reported.
    ``max_errors``: errors kept; further ones are only counted.  0 keeps all.
    ``remarks``: rules whose infos are reported in any case.
    """

    allow: frozenset[str] = frozenset()
    deny: frozenset[str] = frozenset()
    werror: bool = False
    pedantic: bool = False
    max_errors: int = 20
    remarks: frozenset[str] = frozenset()
    warn: frozenset[str] = frozenset()


class Counts(NamedTuple):
    """Numbers of distinct diagnostics by severity; ``hidden_errors`` of ``errors`` were not kept."""

    errors: int = 0
    warnings: int = 0
    infos: int = 0
    hidden_errors: int = 0

    def merge(self, other: "Counts") -> "Counts":
        """Sums, for a summary over several inputs."""
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))


class DiagnosticEngine:
    """Receives diagnostics, applies a :class:`DiagnosticOptions`, keeps what is to be shown."""

    def __init__(self, options: DiagnosticOptions | None = None) -> None:
        self.options = DiagnosticOptions() if options is None else options
        self._kept: list[Diagnostic] = []
        self._seen: set[tuple[str, Span | None, str]] = set()
        self._numbers = dict.fromkeys(Severity, 0)
        self._hidden = 0
        self.causes: set[tuple[Span, str]] = set()
        """The arguments of the earlier calls of ``first``."""
        self.untold: list[Span] = []
        """Source locations that are wrong because of a value that was reported elsewhere."""
        self.accepted: Callable[[Diagnostic], bool] | None = None
        """Called with every diagnostic; those for which it returns true are dropped."""

    def severity_of(self, rule: str, severity: Severity) -> Severity | None:
        """How severe a diagnostic of ``rule`` is under the policy; ``None`` when it is not reported at all."""
        options = self.options
        if rule in options.allow:
            return None
        if rule in options.deny:
            return Severity.ERROR
        if rule in options.warn:
            severity = Severity.WARNING
        if options.werror and severity is Severity.WARNING:
            return Severity.ERROR
        if severity is Severity.INFO and not options.pedantic and rule not in options.remarks:
            return None
        return severity

    def report(self, diag: Diagnostic) -> None:
        """Take one diagnostic; a repetition of rule, span and message is ignored."""
        severity = self.severity_of(diag.rule, diag.severity)
        if severity is None or (self.accepted is not None and self.accepted(diag)):
            return
        key = (diag.rule, diag.span, diag.message)
        if key in self._seen:
            return
        self._seen.add(key)
        if severity is Severity.ERROR and self.is_full:
            self._hidden += 1
        else:
            self._kept.append(diag if severity is diag.severity else diag._replace(severity=severity))
        self._numbers[severity] += 1

    def first(self, definition: Span | None, wanted: str, use: Span | None = None) -> bool:
        """Returns whether it is unreported that the result of ``definition`` must be ``wanted``: a value of the wrong
        type is one mistake, however often it is used. A ``use`` that is not reported is added to ``untold``."""
        if definition is None:
            return True
        known = (definition, wanted) in self.causes
        self.causes.add((definition, wanted))
        if known and use is not None:
            self.untold.append(use)
        return not known

    @property
    def is_full(self) -> bool:
        """Further errors are only counted, so costly help for them (near names, …) may be left out."""
        return 0 < self.options.max_errors <= self._numbers[Severity.ERROR]

    @property
    def has_errors(self) -> bool:
        """At least one error, kept or not, was reported."""
        return self._numbers[Severity.ERROR] > 0

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Retained diagnostics: those without a source location first, then by file (in order of report) and
        position."""
        files: dict[str, int] = {}

        def position(diag: Diagnostic) -> tuple[int, int, int]:
            if diag.span is None:
                return (-1, 0, 0)
            source = diag.span.source
            return (files.setdefault(source.name, len(files)), source.first_line, diag.span.start)

        return tuple(sorted(self._kept, key=position))

    def counts(self) -> Counts:
        """Numbers reported so far, those of errors not kept included."""
        numbers = self._numbers
        return Counts(numbers[Severity.ERROR], numbers[Severity.WARNING], numbers[Severity.INFO], self._hidden)
