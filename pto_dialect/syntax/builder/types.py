"""Reads types while the parser reduces rules, and reports errors: the layer below statement builders."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Attribute

from pto_dialect.diagnostics.diagnostic import Diagnostic, Note, Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.remedies.names import replace
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.diagnostics.suggest import did_you_mean
from pto_dialect.ir.core import types as t
from pto_dialect.nesting import ALIAS_SIZE, SIZE_RULE, program_budget

from ..errors.type_names import type_suggestion
from ..errors.types import TypeSyntaxError
from ..read.braces import Braces
from ..read.tokens import Tok
from ..text import alias_uses, expand_aliases, split_types
from ..types.parser import parse_type
from .error import BuildError, FollowUp, at

_ABOUT_NAMES = frozenset(("name-undefined", "name-redefined"))

POISON = t.OpaqueType("!poison")
"""Type of a value with an incorrect definition; nothing is checked against it."""


class AliasedTypes(dict[str, list[Attribute]]):
    """Cached types of spellings in a program with aliases. Each use of one that contains an alias costs the size of its
    expansion, as if it were read again."""

    def __init__(self, builder: TypeReader) -> None:
        super().__init__()
        self.builder = builder
        self.sizes: dict[str, int] = {}

    def get(self, key: str, default: Any = None) -> Any:
        """Returns the types of ``key``; the default also when the budget of the program is exhausted."""
        size = self.sizes.get(key)
        if size is not None:
            self.builder.budget -= size
            if self.builder.budget < 0:
                return default
        return super().get(key, default)


class TypeReader:
    """Types, aliases and reports of one parse."""

    def reset_types(self, source: SourceFile, engine: DiagnosticEngine, schematic: bool) -> None:
        """Prepares for reading ``source``."""
        self.source = source
        self.engine = engine
        self.schematic = schematic
        self.reports = 0
        self.alias_texts: dict[str, str] = {}
        self.wrong_aliases: set[str] = set()
        self.budget = program_budget(source.text)
        self.overspent = False
        self.known_types: dict[str, list[Attribute]] = _known_types
        self.braces = Braces(source.text)

    # ------------------------------------------------------------ reporting

    def report(
        self,
        rule: str,
        message: str,
        start: int,
        end: int,
        help: str | None = None,
        severity: Severity = Severity.ERROR,
        notes: tuple[Note, ...] = (),
        remedies: tuple[Remedy, ...] = (),
    ) -> None:
        """Reports a diagnostic about ``text[start:end]``."""
        self.reports += 1
        if rule in _ABOUT_NAMES and start > self.braces.doubtful_from:
            # A missing or surplus brace was reported; what is visible here is not what was meant.
            return
        span = Span(self.source, start, end)
        self.engine.report(Diagnostic(rule, severity, message, span, notes, help, remedies=remedies))

    def fail(self, error: BuildError) -> None:
        """Reports ``error``."""
        if isinstance(error, FollowUp):
            return
        self.report(
            error.rule, error.message, error.start, error.end, error.help, notes=error.notes, remedies=error.remedies
        )

    # ------------------------------------------------------------ types

    def type_list(self, token: Tok) -> list[Attribute]:
        """Returns the types of a TYPES or ANGLE token."""
        text = token.text
        known = self.known_types.get(text)
        if known is not None:
            return known
        budget = self.budget
        result: list[Attribute] = []
        for spelling, offset in split_types(text):
            if not spelling:
                self.report("parse-syntax", "a type is missing here", token.start + offset, token.start + offset + 1)
                result.append(POISON)
                continue
            if spelling[0] == "<":
                spelling = ("!pto.tile_buf" if spelling.startswith("<loc") else "!pto.ptr") + spelling
            result.append(self._one_type(spelling, token.start + offset))
        if not self.schematic and POISON not in result:
            self.known_types[text] = result
            if isinstance(self.known_types, AliasedTypes) and self.budget != budget:
                self.known_types.sizes[text] = budget - self.budget
        return result

    def define_alias(self, name: str, meaning: str, start: int) -> str | None:
        """Defines ``name`` as the text ``meaning``, in which earlier aliases are expanded, or as ``None`` if that is
        too long."""
        # The meaning of spellings in this program differs from now on from that in others.
        self.known_types = AliasedTypes(self)
        wrong = not self.wrong_aliases.isdisjoint(alias_uses(meaning)) if self.wrong_aliases else False
        text = None if wrong else self.expanded(meaning, start, len(meaning))
        if text is None:
            self.wrong_aliases.add(name)
        else:
            self.alias_texts[name] = text
        return text

    def expanded(self, text: str, start: int, length: int) -> str | None:
        """Returns ``text`` without aliases; ``None``, reported at ``start``, if that is too long."""
        if not self.alias_texts:
            return text
        try:
            result = expand_aliases(text, self.alias_texts, ALIAS_SIZE)
        except OverflowError:
            message = f"this stands for more than {ALIAS_SIZE:,} characters when its aliases are written out"
            self.report(SIZE_RULE, message, start, start + length)
            return None
        return result if self.spend(len(result) - len(text), start, length) else None

    def spend(self, characters: int, start: int, length: int) -> bool:
        """Charges the expansion of an alias to the budget of the program; returns False when it is exhausted, which is
        reported once, at ``start``."""
        self.budget -= characters
        if self.budget >= 0 or not characters:
            return True
        if not self.overspent:
            self.overspent = True
            total = program_budget(self.source.text)
            message = f"the aliases of this program stand for more than {total:,} characters in total"
            self.report(SIZE_RULE, message, start, start + length)
        return False

    def one_type(self, token: Tok) -> Attribute:
        """Returns the single type of a TYPES token."""
        types = self.type_list(token)
        if len(types) != 1:
            raise at(token, "parse-syntax", f"expected one type here, found {len(types)}")
        return types[0]

    def _one_type(self, spelling: str, start: int) -> Attribute:
        resolved = self.expanded(spelling, start, len(spelling))
        if resolved is None:
            return POISON
        try:
            result = parse_type(resolved)
        except TypeSyntaxError as error:
            if self.wrong_aliases and not self.wrong_aliases.isdisjoint(alias_uses(spelling)):
                return POISON
            same = resolved == spelling
            first, last = (error.start, error.end) if same else (0, len(spelling))
            end = start + max(last, first + 1)
            self.report(error.rule, error.message, start + first, end, error.help, remedies=error.remedies)
            return POISON
        # Compare the class: isinstance is slow when the answer is no.
        if type(result) is t.OpaqueType:
            if result.schematic and not self.schematic:
                self.report(
                    "type-schematic",
                    f"{result.data} is a documentation placeholder, not a type",
                    start,
                    start + len(spelling),
                    "write the type in full, or pass --allow-schematic to read documentation snippets",
                )
                return POISON
            if "." not in result.data and "<" not in result.data:
                if result.data in self.wrong_aliases:
                    return POISON
                close = type_suggestion(result.data) or next(iter(did_you_mean(result.data, self.alias_texts)), None)
                help, mended = (f"did you mean {close}?", (replace(None, close),)) if close else (None, ())
                message, end = f"undefined type alias {result.data}", start + len(spelling)
                self.report("name-undefined", message, start, end, help, remedies=mended)
                return POISON
        elif "!" in resolved[1:] and self._has_undefined_alias(resolved, spelling, start):
            return POISON
        return result

    def _has_undefined_alias(self, resolved: str, spelling: str, start: int) -> bool:
        """Returns whether a type contains the alias of a type that nothing defines, which is reported."""
        name = next((name for name in alias_uses(resolved) if name[0] == "!"), None)
        if name is None:
            return False
        if name not in self.wrong_aliases:
            at = start + max(spelling.find(name), 0)
            length = len(name) if name in spelling else len(spelling)
            self.report("name-undefined", f"undefined type alias {name}", at, at + length)
        return True

    def poison_alias(self, token: Tok) -> None:
        """Records an incorrect definition of a type alias so that its uses are not errors as well."""
        self.wrong_aliases.add(token.text.rstrip("=").strip())


_known_types: dict[str, list[Attribute]] = {}
"""Returns the types of a comma list of spellings in programs without aliases."""
