"""Builds IR while the parser reduces rules: statements, scopes, regions, attributes.

Each method named after a grammar rule gets the rule's items (tokens and results of inner rules) and returns its value.
Nothing here raises for incorrect input: an error is reported and the statement yields ``None``; the names it would have
defined become poison values, so that one mistake is reported once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue

from pto_dialect.accel.operations.construct import append_operation, has_defaults, new_operation
from pto_dialect.diagnostics.diagnostic import notes_at
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.remedies.names import replace, similar_value
from pto_dialect.diagnostics.remedies.order import swap_operands, without_result
from pto_dialect.diagnostics.remedies.statements import (
    definition_first,
    second_name,
    yielded_types,
)
from pto_dialect.diagnostics.remedies.types import constant_type, types_of_operands
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.diagnostics.suggest import MOST_NAMED, equally_near, near_hint
from pto_dialect.diagnostics.wording import count
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.location import set_extent, span_of_value
from pto_dialect.ir.core_dialects.core_ops import core_class
from pto_dialect.nesting import LIMIT, ROOMY, NestingError, make_room

from ..read.lexer import ProgramText
from ..read.situation import shown
from ..read.tokens import SSA, Tok
from ..text import result_names, set_name, strip_comments
from .error import at, type_remedies
from .scope import Forward, Scope
from .types import POISON, TypeReader

_NAME_HINTS = 50
"""Number of undefined names of a program for which similar names are searched."""

Stated = tuple[SSAValue, Attribute, Tok, int]
"""A value, its stated type, and its location: a USES token and the index in it."""


SSA_NAME = re.compile(SSA)

_LEFT_OUT = 2
"""Levels that a text may omit, and that are printed: the module, and the function of assembly statements."""


class RegionStart:
    """The facts about the next region that its header states."""

    __slots__ = ("arguments", "isolated")

    def __init__(self, arguments: Sequence[tuple[Tok | str, Attribute]] = (), isolated: bool = False) -> None:
        self.arguments = arguments
        self.isolated = isolated


class BuilderBase(TypeReader):
    """The state of one parse and the shared parts of all statement builders."""

    def learn(self, op: Operation) -> None:
        """Called with each operation that a complete statement became; a reader may override it."""

    def reset(self, source: SourceFile, text: ProgramText, engine: DiagnosticEngine, schematic: bool) -> None:
        """Prepares for parsing ``source``."""
        self.reset_types(source, engine, schematic)
        self.text = text
        self.scope = Scope()
        self.pending: RegionStart | None = None
        # Nesting depth of attributes that are deeper than most; they are retained, so that their ids are stable.
        self.depths: dict[int, tuple[Attribute, int]] = {}
        self.attribute_aliases: dict[str, Attribute] = {}
        self.unregistered: set[str] = set()
        # Regions whose missing opening brace was reported; their closing braces are no errors.
        self.unopened = 0
        self.name_hints = 0
        self.undefined: set[str] = set()
        # Statements whose operation depends on more than their text and the types of their values.
        self.dependent = 0
        # Regions written "{}": with one empty block in custom forms, without a block in generic ones.
        self.bare_regions: set[Region] = set()
        # Start offsets of the first of the deepest regions, by depth.
        self.deep: dict[int, int] = {}
        region = Region(Block())
        self.top = region
        self.scope.enter(region, region.block, isolated=True)

    # ------------------------------------------------------------ values

    def use(self, token: Tok) -> list[SSAValue]:
        """Returns the values that a USES token names."""
        values = self.scope.values
        text = token.text
        if "," not in text:
            found = values.get(text)
            return [found if found is not None else self._undefined(text, token.start)]
        result: list[SSAValue] = []
        offset = token.start
        for part in text.split(","):
            name = part.strip()
            found = values.get(name)
            if found is None:
                if "//" in part:
                    name = strip_comments(part)
                    found = values.get(name)
                if found is None:
                    found = self._undefined(name, offset + part.index(name))
            result.append(found)
            offset += len(part) + 1
        return result

    def one_use(self, token: Tok) -> SSAValue:
        """Returns the single value of a USES token."""
        values = self.use(token)
        if len(values) != 1:
            raise at(token, "parse-operand-count", f"expected one value here, found {len(values)}")
        return values[0]

    def use_typed(
        self,
        token: Tok,
        types: Sequence[Attribute],
        types_token: Tok | None,
        mismatched: list[Stated] | None = None,
    ) -> list[SSAValue]:
        """Returns the values of a USES token, checked against their stated types; those of another type go to
        ``mismatched`` where it is given."""
        values = self.use(token)
        if len(values) != len(types):
            where = types_token if types_token is not None else token
            raise at(
                where,
                "parse-type-count",
                f"{count(len(values), 'operand')} but {count(len(types), 'type')}",
                f"one type for each of {shown(token.text)}",
                types_of_operands(),
            )
        wrong: list[Stated] = []
        for index, (value, stated) in enumerate(zip(values, types, strict=True)):
            if value.type is not stated:
                wrong.append((value, stated, token, index))
        if wrong and mismatched is not None:
            mismatched.extend(wrong)
        elif wrong:
            self.check_types(wrong)
        return values

    def check_types(self, entries: list[Stated]) -> None:
        """Checks several values as ``check_type`` does; two of them may be swapped."""
        wrong = [entry for entry in entries if entry[0].type not in (entry[1], UNKNOWN, POISON)]
        if len(wrong) == 2:
            (first, wanted, token, index), (second, other, other_token, other_index) = wrong
            if first.type == other and second.type == wanted and not self.schematic:
                start, end = self.name_extent(token, index)
                names = [
                    self.source.text[slice(*self.name_extent(*place))]
                    for place in ((token, index), (other_token, other_index))
                ]
                message = f"{names[0]} and {names[1]} are swapped: {names[0]} has type "
                message += f"{t.type_text(first.type)}, but {t.type_text(wanted)} is stated here"
                help = f"swap {names[0]} and {names[1]}"
                self.report("operand-type", message, start, end, help, remedies=(swap_operands(False),))
                entries = [entry for entry in entries if entry not in wrong]
        told: dict[tuple[Attribute, Attribute], SSAValue] = {}
        for value, stated, token, index in entries:
            # Several values of one type under one other type are one mistake; those without a type yet get theirs.
            if value.type is UNKNOWN or told.setdefault((value.type, stated), value) is value:
                self.check_type(value, stated, token, index)

    def check_type(self, value: SSAValue, stated: Attribute, token: Tok, index: int, need: str | None = None) -> None:
        """Reports a value whose type is not the stated one, or the one that ``need`` describes; gives placeholders
        their type."""
        if value.type == stated or stated is POISON or value.type is POISON:
            return
        if value.type is UNKNOWN:
            value._type = stated
            return
        if self.schematic and t.OpaqueType in (type(stated), type(value.type)):
            return
        start, end = self.name_extent(token, index)
        span = span_of_value(value)
        notes = notes_at("defined here", span)
        help, name = None, self.source.text[start:end]
        mended: tuple[Remedy, ...] = ()
        constant = core_class("arith.constant") or ()
        use = Span(self.source, start, end)
        if need is None and isinstance(value, OpResult) and not self.engine.first(span, t.type_text(stated), use):
            # The statement is incorrect all the same: no template is learnt from it.
            self.reports += 1
            return
        if (
            need is None
            and isinstance(value.owner, constant)
            and isinstance(stated, (IntegerType, IndexType, AnyFloat))
        ):
            help = f"state the type of the constant: arith.constant .. : {t.type_text(stated)}"
            mended = (constant_type(name, t.type_text(stated)),)
        if need is not None and stated is t.I1 and isinstance(value.type, (IntegerType, IndexType, AnyFloat)):
            compare = "arith.cmpf une" if isinstance(value.type, AnyFloat) else "arith.cmpi ne"
            zero = f"{name}, %zero : {t.type_text(value.type)}"
            help = f"compare it with a constant, as in {compare}, {zero}"
        given = f"{name} has type {t.type_text(value.type)}"
        message = f"{given}, but {t.type_text(stated)} is stated here" if need is None else f"{need}, but {given}"
        mended += type_remedies(name, value.type, stated, need is None)
        self.report("operand-type", message, start, end, help, notes=notes, remedies=mended)

    def name_extent(self, token: Tok, index: int) -> tuple[int, int]:
        """Returns the extent of the ``index``-th name of a USES token."""
        offset = token.start
        for number, part in enumerate(token.text.split(",")):
            if number == index:
                name = strip_comments(part)
                start = offset + part.index(name)
                return start, start + len(name)
            offset += len(part) + 1
        return token.start, token.end

    def _undefined(self, name: str, position: int) -> SSAValue:
        frame = self.scope.frame
        known = frame.forwards.get(name)
        if known is None:
            placeholder = Block(arg_types=[UNKNOWN]).args[0]
            set_name(placeholder, name)
            known = frame.forwards[name] = Forward(placeholder, position, len(name))
        return known.value

    def define(self, name: str, value: SSAValue, position: int) -> None:
        """Binds ``name`` (with ``%``) to ``value``."""
        set_name(value, name)
        earlier = self.scope.define(name, value)
        if earlier is not None and self.schematic:
            # Pages show several spellings of one statement below each other.
            self.scope.values[name] = value
            return
        if earlier is not None:
            span = span_of_value(earlier)
            notes = notes_at("first defined here", span)
            end, mended = position + len(name), (second_name(name),)
            self.report("name-redefined", f"{name} is already defined", position, end, notes=notes, remedies=mended)
            return
        frame = self.scope.frame
        if frame.forwards:
            forward = frame.forwards.pop(name, None)
            if forward is not None and self.schematic and not frame.multi_block:
                # In documentation a name that is used before is another value, which the page does not define.
                self.undefined_name(name, forward)
            elif forward is not None:
                if not frame.multi_block:
                    self.report(
                        "name-undefined",
                        f"{name} is used before its definition",
                        forward.position,
                        forward.position + forward.length,
                        remedies=(definition_first(name),),
                    )
                forward.value.replace_all_uses_with(value)

    # ------------------------------------------------------------ operations

    def create(
        self,
        cls: type[Operation],
        start: int,
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        attributes: dict[str, Attribute] | None = None,
        properties: dict[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
        successors: Sequence[Block] = (),
    ) -> Operation:
        """Returns a new operation with its source location."""
        if successors or has_defaults(cls):
            op = cls.create(
                operands=operands,
                result_types=result_types,
                attributes=attributes or {},
                properties=properties or {},
                regions=regions,
                successors=successors,
            )
            del op.location
        else:
            op = new_operation(cls, operands, result_types, attributes or {}, properties or {})
            for region in regions:
                op.add_region(region)
        set_extent(op, self.source, start, self.text.cursor)
        return op

    def plain_statement(self, items: list[Any]) -> None:
        """Builds a statement without results."""
        op = items[0]
        if isinstance(op, Operation):
            append_operation(self.scope.frames[-1].block, op)
            if len(items) == 1 or items[1].type == "LOC":
                self.learn(op)

    def result_statement(self, items: list[Any]) -> None:
        """Builds a statement with results and defines their names."""
        token, op = items[0], items[1]
        names, packs = result_names(token)
        if "#" in token.text:
            position = token.text.index("#")
            message = "a definition names all results at once; '#' is for their uses"
            self.report("parse-syntax", message, token.start + position, token.start + position + 1, "%name:2 = ..")
        if not isinstance(op, Operation):
            for name, position in names:
                self.define(name, Block(arg_types=[POISON]).args[0], position)
            return
        set_extent(op, self.source, token.start, self.text.cursor)
        append_operation(self.scope.frames[-1].block, op)
        if len(names) != len(op.results):
            self.report(
                "parse-result-count",
                f"{op.name} has {count(len(op.results), 'result')}, but {count(len(names), 'name')} given",
                token.start,
                token.start + len(token.text.rstrip("= \t\n")),
                self.result_help(op, token),
                remedies=(without_result(), yielded_types()) if not op.results else (),
            )
        for (name, position), result in zip(names, op.results, strict=False):
            self.define(name, result, position)
        for name, position in names[len(op.results) :]:
            self.define(name, Block(arg_types=[POISON]).args[0], position)
        for base in packs:
            first = self.scope.values.get(f"{base}#0")
            if first is not None and base not in self.scope.values:
                self.scope.define(base, first)
            elif first is not None and not self.schematic:
                self.report("name-redefined", f"{base} is already defined", token.start, token.start + len(base))
        if len(items) == 2 or items[2].type == "LOC":
            self.learn(op)

    def result_help(self, op: Operation, token: Tok) -> str | None:
        """Returns the help where an operation without results has names before it."""
        return f"remove {' '.join(token.text.split())}" if not op.results else None

    # ------------------------------------------------------------ regions

    def refuse_deep(self, left_out: int) -> None:
        """Refuses regions whose nesting, including the omitted levels, is too deep."""
        start = self.deep.get(LIMIT - left_out + 1)
        if start is not None:
            raise NestingError("regions", start)

    def region_open(self, items: list[Any]) -> int:
        """Opens a region at its ``{``: its scope starts, its arguments are defined."""
        start, self.pending = self.pending or RegionStart(), None
        block = Block(arg_types=[type_ for _, type_ in start.arguments])
        region = Region(block)
        self.scope.enter(region, block, start.isolated)
        depth = len(self.scope.frames) - 1
        if depth > ROOMY:
            if depth > LIMIT:
                raise NestingError("regions", items[0].start)
            if depth > LIMIT - _LEFT_OUT:
                self.deep.setdefault(depth, items[0].start)
            make_room(depth)
        for (name, _), value in zip(start.arguments, block.args, strict=True):
            if isinstance(name, Tok):
                self.define(name.text, value, name.start)
        return items[0].start

    def broken_header(self, items: list[Any]) -> None:
        """Handles a header with a syntax error: its region gets all undefined names of the header as arguments."""
        isolated, tokens = items[0].value
        self.poison_region(tokens, isolated)

    def poison_region(self, tokens: list[Tok], isolated: bool = False) -> None:
        """Announces a region whose arguments are the undefined names in ``tokens``."""
        names: dict[str, Tok] = {}
        for token in tokens:
            if token.type not in ("USES", "BINDINGS", "RESULTS"):
                continue
            for found in SSA_NAME.finditer(token.text):
                name = found.group()
                if isolated or name not in self.scope.values:
                    names.setdefault(name, Tok("USES", name, token.start + found.start()))
        self.pending = RegionStart([(name, POISON) for name in names.values()], isolated)

    def region(self, items: list[Any]) -> Region:
        """Closes a region at its ``}``: its scope ends."""
        self.close_frame()
        frame = self.closed
        if frame.block.is_empty and not frame.labels and not frame.block.args:
            self.bare_regions.add(frame.region)
        return frame.region

    def close_frame(self) -> None:
        """Leaves the innermost region and reports undefined names."""
        frame, lost = self.scope.leave()
        for label, position in frame.pending_labels.items():
            known = [other for other in frame.labels if other not in frame.pending_labels]
            near = equally_near(label, known)[:MOST_NAMED]
            end, mended = position + len(label), (replace(None, *near),) if near else ()
            message = f"undefined block {label}"
            self.report("name-undefined", message, position, end, near_hint(near), remedies=mended)
        for name, forward in lost:
            self.undefined_name(name, forward, frame.names)
        self.closed = frame

    def undefined_name(self, name: str, forward: Forward, defined: Sequence[str] = ()) -> None:
        """Reports a name that is used and never defined; ``defined`` are those of the region that ends."""
        if self.schematic:
            if forward.value.type is UNKNOWN:
                forward.value._type = UNSTATED
            return
        help, *mended = self._name_hint(name, forward, defined)
        end = forward.position + forward.length
        self.report("name-undefined", f"{name} is not defined", forward.position, end, help, remedies=tuple(mended))
        if forward.value.type is UNKNOWN:
            forward.value._type = POISON

    def _name_hint(self, name: str, forward: Forward, defined: Sequence[str]) -> tuple[str | None, *tuple[Remedy, ...]]:
        """Returns the name that was probably meant by an undefined one."""
        self.name_hints += 1
        if self.name_hints > _NAME_HINTS:
            return (None,)
        text = self.source.text
        function = max(0, text.rfind("func.func", 0, forward.position))
        definition = re.compile(rf"^[ \t]*(?:%[\w.$#-]+\s*,\s*)*{re.escape(name)}(?![\w.$-])[^\n=]*=", re.MULTILINE)
        found = definition.search(text, function, forward.position)
        if found is not None:
            line, _ = self.source.line_col(found.end())
            return (f"the {name} of line {line} is visible only inside its region",)
        near = equally_near(name, [*defined, *self.scope.values])[:MOST_NAMED]
        return (near_hint(near), replace(None, *near)) if near else (None, similar_value())

    def block_label(self, items: list[Any]) -> None:
        """Builds ``^name(..):``: starts the next block of the region."""
        token = items[0]
        arguments = items[2] if len(items) > 3 and isinstance(items[2], list) else []
        frame = self.scope.frame
        types = [type_ for _, type_ in arguments]
        first = frame.block is frame.region.first_block and frame.block.is_empty and not frame.block.args
        if first and not frame.labels and token.text not in frame.pending_labels:
            block = frame.block
        else:
            block = frame.labels.get(token.text)
            if block is not None and token.text not in frame.pending_labels:
                self.report("name-redefined", f"block {token.text} is already defined", token.start, token.end)
                block = Block()
            block = block or Block()
            frame.region.add_block(block)
            frame.multi_block = True
        frame.pending_labels.pop(token.text, None)
        frame.labels[token.text] = block
        frame.block = block
        for type_ in types:
            block.insert_arg(type_, len(block.args))
        for (name, _), value in zip(arguments, block.args, strict=True):
            self.define(name.text, value, name.start)

    def block_arg(self, items: list[Any]) -> tuple[Tok, Attribute]:
        """``%name : type`` of a block label."""
        return items[0], self.type_list(items[2])[0]

    def block_use(self, token: Tok) -> Block:
        """Returns the block that a label names; labels may be used before they are defined."""
        frame = self.scope.frame
        block = frame.labels.get(token.text)
        if block is None:
            block = frame.labels[token.text] = Block()
            frame.pending_labels[token.text] = token.start
        frame.multi_block = True
        return block


UNKNOWN = t.OpaqueType("!unknown")
"""Type of a value that is used before its definition is read."""

UNSTATED = t.OpaqueType("!manual.type<...>")
"""Type of a value of documentation whose type no page states."""
