"""Builds statements that have a parse template without the grammar.

The LALR loop calls it at the start of each statement. From there on statement after statement is built from its
template; at the first one that has none, or that does not fit, the grammar continues. A statement counts as complete
only where the next token cannot continue a statement: the names of results, an operation, the end of a region.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue

from pto_dialect.accel.operations.construct import operation_like
from pto_dialect.accel.operations.locations import recorded_extent
from pto_dialect.accel.operations.template import set_template
from pto_dialect.accel.parsing.headers import keep_header, read_header
from pto_dialect.accel.parsing.open_templates import OpenStatement, keep_open, open_statement
from pto_dialect.accel.parsing.templates import EXTENT, LONGEST, NAMES, TEMPLATES, ParseTemplate, template_for
from pto_dialect.syntax.read.lexer import OPERATION_TERMINALS, ProgramText, first_token
from pto_dialect.syntax.read.locations import STRING
from pto_dialect.syntax.read.tokens import Tok

if TYPE_CHECKING:
    from pto_dialect.syntax.builder.core import CoreBuilder, Header


_STRING = re.compile(STRING)
_LOCATION = re.compile(
    rf" loc\((?P<name>{STRING}\()?(?P<calls>(?:callsite\({STRING}:\d+:\d+ at ){{0,32}})"
    rf"{STRING}:\d+:\d+(?P<ends>\)+)"
)


def without_location(statement: str, start: int) -> tuple[str, int]:
    """Returns the part of a statement before its location, and where the location begins in a text in which the
    statement is at ``start``; the whole statement and 0 where it has none, or one that the grammar has to look at."""
    if statement[-1:] != ")":
        return statement, 0
    begin = statement.rfind(" loc(")
    found = _LOCATION.fullmatch(statement, begin) if begin > 0 else None
    if found is None:
        return statement, 0
    depth = 1 + bool(found["name"])
    if found["calls"]:
        depth += _STRING.sub("", found["calls"]).count("callsite(")
    return (statement[:begin].rstrip(), start + begin + 1) if len(found["ends"]) == depth else (statement, 0)


class StatementReader:
    """Builds statements from plans, and learns plans from what the grammar built."""

    def __init__(self, builder: CoreBuilder) -> None:
        self.builder = builder
        self.active = False
        self.start = -1

    def reset(self, data: ProgramText, active: bool) -> None:
        """Prepares for reading ``data``; ``active`` states whether templates are used and made."""
        self.data = data
        self.active = active
        self.start = self.missed = -1
        self.found: re.Match[str] | None = None
        self.known = TEMPLATES.known

    # ------------------------------------------------------------ reading

    def begin(self, token: Tok) -> bool | tuple[str, Any]:
        """Builds the statements from ``token`` on; False when the grammar has to read the one that starts there.

        Otherwise lexing continues at ``data.position``: after statements, or after the symbol of the grammar that is
        returned with its value.
        """
        if not self.active:
            return False
        position = token.start
        if position != self.missed:
            reached = self._run(position)
            if reached > position:
                self.data.position = reached
                return True
        if token.type == "OP_FUNC" and not self._has_aliases() and (found := read_header(self.data.text, position)):
            header, self.data.position = found
            return "func_header", self.builder.function_header(token, header)
        self._watch(position)
        return False

    def _run(self, position: int) -> int:
        """Builds statements from ``position`` on; gives where the first one begins that was not built."""
        text = self.data.text
        known = self.known
        extent, split = EXTENT.match, NAMES.split
        plan: ParseTemplate | OpenStatement | None = None
        parts: list[str] = []
        start = end = position
        while True:
            # The next statement is looked up first: that it is one is what ends the one before it.
            found = None if text.startswith("}", position) else extent(text, position)
            next_parts = []
            next_plan = None
            next_end = 0
            if found is not None and len(statement := found[1]) <= LONGEST and statement[-1:] != "{":
                statement, next_end = without_location(statement.rstrip(), position)
                next_parts = split(statement)
                next_plan = known.get(tuple(next_parts[::2])) or self._similar(next_parts)
            if plan is not None:
                if next_plan is None and not self._ends_before(position):
                    return start
                if not self._build(plan, parts, start, end or position):
                    return start
            if next_plan is None or found is None:
                self.missed, self.found = position, found
                return position
            # A location belongs to the statement where it has results.
            end = 0 if text.startswith("%", position) else next_end
            plan, parts, start, position = next_plan, next_parts, position, found.end()

    def _similar(self, parts: list[str]) -> ParseTemplate | OpenStatement | None:
        """Returns the plan that follows from one for statements with another number, or with other types."""
        plan = TEMPLATES.constant(parts)
        return plan if plan is not None or self._has_aliases() else open_statement(parts)

    def _has_aliases(self) -> bool:
        builder = self.builder
        return bool(builder.alias_texts or builder.attribute_aliases or builder.wrong_aliases)

    def _ends_before(self, position: int) -> bool:
        """Returns True when no statement continues at ``position``."""
        if self.data.text.startswith("}", position):
            return True
        kind, spelling = first_token(self.data.text, position)
        return kind == "EQUALS" or (kind == "WORD" and spelling in OPERATION_TERMINALS)

    def _build(self, plan: ParseTemplate | OpenStatement, parts: list[str], start: int, end: int) -> bool:
        """Builds the operation of the statement in ``text[start:end]``; False, with nothing done, where it does not
        fit ``plan`` or its names are not those of a right statement."""
        scope = self.builder.scope
        values = scope.values
        if isinstance(plan, OpenStatement):
            closed = plan.template.template(plan.types, parts, values)
            if closed is None:
                return False
            TEMPLATES.keep_closed(parts, closed)
            plan = closed
        operands: list[SSAValue] = []
        for place, type_ in plan.operands:
            value = values.get(parts[place])
            if value is None or value._type is not type_:
                return False
            operands.append(value)
        for first, second in plan.same:
            if parts[first] != parts[second]:
                return False
        frame = scope.frames[-1]
        names = parts[1 : 2 * plan.results : 2]
        if names:
            if frame.forwards:
                return False
            for name in names:
                if name in values or "#" in name:
                    return False
            if len(names) > 1 and len(set(names)) < len(names):
                return False
        place = self.builder.source, start, end
        op = operation_like(plan.template, operands, plan.result_types, place, frame.block)
        for name, result in zip(names, op.results, strict=True):
            label = name[1:]
            if not label.isdecimal():
                result._name = label
            frame.names.append(name)
            values[name] = result
        return True

    # ------------------------------------------------------------ learning

    def _watch(self, position: int) -> None:
        """Remembers the state before a statement that the grammar reads."""
        builder = self.builder
        self.start = position
        self.block = builder.scope.frames[-1].block
        self.last = self.block._last_op
        self.state = builder.reports, builder.dependent

    def learn_header(self, token: Tok, header: Header) -> None:
        """Makes a template from the header that ends at the token last read."""
        builder = self.builder
        if not self.active or token.start != self.start or self._has_aliases():
            return
        if (builder.reports, builder.dependent) == self.state:
            keep_header(self.data.text[token.start : self.data.cursor], header)

    def learn(self, op: Operation) -> None:
        """Makes a plan from ``op``, which the statement just read became."""
        start, self.start = self.start, -1
        builder = self.builder
        if not self.active or start < 0 or op.regions or (builder.reports, builder.dependent) != self.state:
            return
        if self._has_aliases():
            return
        _, first, end = recorded_extent(op)
        if first != start or op.parent is not self.block or op._prev_op is not self.last:
            return
        found = self.found if start == self.missed else EXTENT.match(self.data.text, start)
        if found is None:
            return
        statement, before = without_location(found[1].rstrip(), start)
        if end not in (found.end(), before):
            return
        parts = NAMES.split(statement)
        plan = template_for(parts, op, builder.scope.values)
        if plan is not None:
            set_template(op, plan.template)
            TEMPLATES.keep(parts, plan)
            keep_open(parts, op, plan, builder.scope.values)
