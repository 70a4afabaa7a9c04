"""What a check function may query and how it reports."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.symbols import Symbols
from pto_dialect.diagnostics.diagnostic import Diagnostic, Note, Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.origins import DEFINED
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.diagnostics.source import Span
from pto_dialect.ir.core.base import is_pto
from pto_dialect.ir.core.location import find_name, span_of, span_of_value
from pto_dialect.ir.core.operands import first_of
from pto_dialect.ir.core.types import OpaqueType, element_name, type_text
from pto_dialect.targets.choice import get_profile
from pto_dialect.targets.profile import Profile

from .header_forms import UNSIGNED, header_advice
from .moves import missing_move
from .rule import rule_named

T = TypeVar("T")


class Context:
    """The context of the operation under check.

    ``profile`` is the target; ``explicit`` states whether the user or the module named it. Without an explicit target a
    violation of a target-dependent rule is an error only when every target refuses the program (see ``refused``).
    """

    def __init__(self, engine: DiagnosticEngine) -> None:
        """Reports to ``engine``; the target is a5 until ``enter_target`` sets another."""
        self.engine = engine
        self.profile: Profile = get_profile("a5")
        self.explicit = False
        self.is_cpp = False
        """Whether the program was translated from C++, whose headers have more forms than the dialect."""
        self.candidates: tuple[Profile, ...] = ()
        self.function: Operation | None = None
        self.failed = False
        self.reports = 0
        self.once: set[tuple[str, int]] = set()
        self.symbols = Symbols()
        self.accepted: set[tuple[object, ...]] = set()
        """Keys of core operations whose types and attributes were found valid. Types and attributes count by identity,
        which is stable as long as the module lives."""
        self._facts: tuple[Operation, Any] | None = None
        self._kept: dict[object, Any] = {}

    def enter_target(self, profile: Profile, explicit: bool) -> None:
        """Makes ``profile`` the target of the following checks."""
        self.profile = profile
        self.explicit = explicit
        others = () if explicit else tuple(get_profile(n) for n in ("a2a3", "a5") if n != profile.name)
        self.candidates = (profile, *others)

    # ------------------------------------------------------------ queries

    def operand(self, op: Operation, name: str) -> SSAValue | None:
        """Returns the operand declared as ``name``; ``None`` when it is absent."""
        assert is_pto(op)
        return first_of(op, name)

    def facts(self, op: Operation, read: Callable[[Operation], T]) -> T:
        """Returns ``read(op)``, cached until another operation is queried.

        For families whose checks in several passes need the same view of an operation; one ``read`` for each family.
        """
        if self._facts is None or self._facts[0] is not op:
            self._facts = (op, read(op))
        return self._facts[1]

    def cached(self, key: object, make: Callable[[], T]) -> T:
        """Returns ``make()``, a fact about the whole program that is computed once and cached under ``key``."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def constant(self, value: SSAValue | None) -> int | None:
        """Returns the integer that ``value`` always is, if constant analysis can follow it."""
        known = constant_of(value) if value is not None else None
        return known if isinstance(known, int) else None

    def refused(self, allowed: Callable[[Profile], bool], severity: Severity) -> Severity | None:
        """Returns the severity of a violation where ``allowed`` is false: ``severity`` when the target was named
        explicitly or every target refuses, a warning when only the default target refuses, ``None`` when it allows."""
        if allowed(self.profile):
            return None
        if self.explicit or not any(allowed(p) for p in self.candidates):
            return severity
        return min(severity, Severity.WARNING)

    # ------------------------------------------------------------ reports

    def report(
        self,
        rule: str,
        op: Operation,
        message: str,
        *,
        at: SSAValue | str | None = None,
        help: str | None = None,
        severity: Severity | None = None,
        notes: tuple[Note, ...] = (),
        remedies: tuple[Remedy, ...] = (),
    ) -> None:
        """Reports that ``op`` violates the rule with the id ``rule``.

        ``at`` states what to point at: an operand value, a result (its type), or a token of the statement (a clause, an
        attribute key); by default the operation's name. An operand is followed by a note at its definition.
        """
        self.reports += 1
        severity = rule_named(rule).severity if severity is None else severity
        if severity is Severity.ERROR and self.is_cpp:
            advice = header_advice(rule, op, at, self.profile.name)
            if advice == UNSIGNED:
                return
            if advice is not None:
                severity, help = Severity.WARNING, advice
        if severity is Severity.ERROR:
            self.failed = True
        if self.engine.severity_of(rule, severity) is None:
            return
        span = span_of(op)
        if isinstance(at, OpResult) and at.op is op:
            span_at = result_span(at) or mnemonic_span(op, span)
        elif isinstance(at, SSAValue):
            span_at = operand_span(op, at)
            origin = span_of_value(at)
            if origin is not None and span_at is not None and origin != span_at:
                notes = (*notes, Note(f"{span_text(origin)} {DEFINED}", origin))
        elif isinstance(at, str):
            span_at = token_span(span, at)
        else:
            span_at = mnemonic_span(op, span)
        self.engine.report(Diagnostic(rule, severity, message, span_at or span, notes, help, remedies=remedies))

    def report_memory(
        self,
        rule: str,
        op: Operation,
        name: str,
        value: SSAValue,
        found: str | None,
        *wanted: str,
        help: str | None = None,
        severity: Severity | None = None,
        remedies: tuple[Remedy, ...] = (),
    ) -> None:
        """Reports that the operand ``name`` of ``op`` is in the memory ``found`` and not in one of those ``wanted``;
        without ``help``, with the moves that would lead there."""
        moves: Sequence[Remedy] = ()
        if help is None:
            help, *moves = missing_move(name, found, wanted)
        message = f"{name} of {op.name} must be in {' or '.join(wanted)}, found {found}"
        self.report(rule, op, message, at=value, help=help, severity=severity, remedies=(*remedies, *moves))

    def follows_from_another(self) -> None:
        """Marks the operation as incorrect because of an error that was reported elsewhere; reports nothing."""
        self.reports += 1
        self.failed = True

    def report_once(self, rule: str, op: Operation, scope: Operation | None, message: str) -> None:
        """Reports as ``report`` does, at most once for each ``scope`` operation."""
        key = (rule, id(scope))
        if key not in self.once:
            self.once.add(key)
            self.report(rule, op, message)


def span_text(span: Span) -> str:
    """Returns the first line of a span, for use inside a note."""
    return span.source.text[span.start : span.end].split("\n")[0][:60]


def operand_span(op: Operation, value: SSAValue) -> Span | None:
    """Returns the span of ``value`` as an operand of ``op``; among equal operands the occurrence is chosen
    by position."""
    span = span_of(op)
    if span is None:
        return None
    names = sum(result.name_hint == value.name_hint for result in op.results)
    return find_name(span, value, names)


def result_span(result: OpResult) -> Span | None:
    """Returns the span of the type of ``result``, after the last arrow of its statement."""
    span = span_of(result.op)
    if span is None:
        return None
    text = span.source.text
    arrow = text.rfind("->", span.start, span.end)
    spelling = type_text(result.type)
    start = text.find(spelling, arrow, span.end) if arrow >= 0 else -1
    return Span(span.source, start, start + len(spelling)) if start >= 0 else None


def token_span(span: Span | None, token: str) -> Span | None:
    """Returns the span of the ``token`` in a statement."""
    if span is None:
        return None
    found = re.compile(rf"(?<![\w%.$]){re.escape(token)}(?![\w$])").search(span.source.text, span.start, span.end)
    return Span(span.source, found.start(), found.end()) if found else span


def mnemonic_span(op: Operation, span: Span | None) -> Span | None:
    """Returns the span of the operation's name in its statement."""
    if span is None:
        return None
    text = span.source.text
    short = {"builtin.module": "module", "func.return": "return", "func.func": "func.func"}.get(op.name, op.name)
    for name in (op.name, short, op.name.removeprefix("pto.")):
        start = text.find(name, span.start, span.end)
        if start >= 0:
            return Span(span.source, start, start + len(name))
    return Span(span.source, span.start, min(span.end, span.start + 40))


def is_opaque(op: Operation) -> bool:
    """Returns whether an operand or result has an unknown type (an incorrect definition, documentation text)."""
    # Compare the class, which has no subclasses: isinstance would call the metaclass for every operand of a program.
    types = [type(value._type) for value in op._operands]
    types += [type(value._type) for value in op.results]
    return OpaqueType in types


def element_of(type_: Attribute) -> str | None:
    """Returns the element type name of a pointer, tile, view or memref type; ``None`` for other types."""
    element = getattr(type_, "element", None) or getattr(type_, "element_type", None)
    return element_name(element) if isinstance(element, Attribute) else None
