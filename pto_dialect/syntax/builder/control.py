"""Statement builders for ``scf`` and ``cf``, calls and returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import builtin
from xdsl.dialects.builtin import DenseArrayBase, FunctionType, IntegerAttr, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from pto_dialect.diagnostics.remedies.statements import missing_else
from pto_dialect.diagnostics.remedies.types import loop_type, types_of_operands
from pto_dialect.diagnostics.wording import count
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core_dialects.core_ops import core_class

from ..read.tokens import Tok
from ..text import number_attribute, signed_integer, symbol
from ..types.attributes import unescape
from .builder import POISON, UNKNOWN, RegionStart
from .core import CoreBuilder, operation_class
from .error import BuildError, at
from .step import header, statement


class ControlBuilder(CoreBuilder):
    """Builders of control flow."""

    # ------------------------------------------------------------ control flow

    @statement
    def terminator(self, items: list[Any]) -> Operation:
        """``return`` or ``yield`` with its operands and their types."""
        token, attributes, *values = items
        cls = operation_class(token)
        operands = self.use_typed(values[0], self.type_list(values[2]), values[2]) if values else []
        return self.create(cls, token.start, operands, (), attributes)

    @statement
    def condition(self, items: list[Any]) -> Operation:
        """``scf.condition(%c) %values : types``."""
        token, _, condition, _, *values = items
        operands = self.condition_value(token, condition)
        if values:
            operands = operands + self.use_typed(values[0], self.type_list(values[2]), values[2])
        return self.create(operation_class(token), token.start, operands)

    def unsigned(self, items: list[Any]) -> bool:
        """Builds the keyword ``unsigned`` of a loop."""
        return bool(items)

    def iter_args(self, items: list[Any]) -> tuple[Tok, Any] | None:
        """Returns ``iter_args(%i = %x, ..) -> (types)``."""
        return (items[2], items[5]) if items else None

    def for_type(self, items: list[Any]) -> Tok | None:
        """Builds the type of a loop's bounds, where it is not index."""
        return items[1] if items else None

    @header
    def for_header(self, items: list[Any]) -> Any:
        """``scf.for %i = %low to %high step %step``: the region's arguments are known."""
        token, unsigned, binding, _, upper, _, step, iter_args, index_type = items
        pairs = self.bindings(binding)
        type_ = self.type_list(index_type)[0] if index_type is not None else t.INDEX
        bounds = [self.value_of(pairs[0][1]), self.one_use(upper), self.one_use(step)]
        self._check_bounds(bounds, (pairs[0][1], upper, step), type_)
        arguments: list[tuple[Tok | str, Attribute]] = [(pairs[0][0], type_)]
        initial: list[SSAValue] = []
        types: list[Attribute] = []
        if iter_args is not None:
            carried = self.bindings(iter_args[0])
            types = self.types_of(iter_args[1])
            types = self._carried(carried, types, iter_args[0], initial, arguments)
        self.pending = RegionStart(arguments)
        return token, bounds + initial, types, unsigned

    @statement
    def for_op(self, items: list[Any]) -> Operation:
        """A loop with its region."""
        (token, operands, types, unsigned), region, attributes = items
        if unsigned:
            attributes = {**attributes, "unsignedCmp": builtin.UnitAttr()}
        self.end_with_yield(region, token)
        return self.create(operation_class(token), token.start, operands, types, attributes, regions=[region])

    def _check_bounds(self, bounds: list[SSAValue], places: Sequence[Tok], type_: Attribute) -> None:
        """Checks bounds and step of a loop; several of one incorrect type are one mistake."""
        if all(value.type is type_ for value in bounds):
            return
        known = [value.type for value in bounds if value.type not in (UNKNOWN, POISON)]
        if len(known) == len(bounds) and type_ not in known and len(set(known)) == 1 and not self.schematic:
            other = t.type_text(known[0])
            message = f"bounds and step of scf.for have type {t.type_text(type_)}, found {other}"
            help = f"state the type of the loop after its step: : {other}"
            raise at(places[0], "operand-type", message, help, loop_type(other))
        for value, place in zip(bounds, places, strict=True):
            self.check_type(value, type_, place, 0, f"bounds and step of scf.for have type {t.type_text(type_)}")

    def condition_value(self, token: Tok, condition: Tok) -> list[SSAValue]:
        """Returns the value after ``token`` that is the condition."""
        value = self.one_use(condition)
        self.check_type(value, t.I1, condition, 0, f"the condition of {token.text} has type i1")
        return [value]

    def parallel_start(self, items: list[Any]) -> tuple[Tok, Tok, Any] | None:
        """Returns ``init (%x, ..)`` and the result types of a parallel loop."""
        return (items[0], items[2], items[5]) if items else None

    @header
    def parallel_header(self, items: list[Any]) -> Any:
        """``scf.parallel (%i) = (..) to (..) step (..)``."""
        token, counters, start = items[0], items[2], items[-1]
        operands: list[SSAValue] = []
        sizes: list[int] = []
        for uses in (items[6], items[10], items[14]):
            values = self.use_typed(uses, [t.INDEX] * (uses.text.count(",") + 1), None)
            sizes.append(len(values))
            operands += values
        names = self.separate(counters)
        for uses, number in zip((items[6], items[10], items[14]), sizes, strict=True):
            if number != len(names):
                message = f"{count(len(names), 'counter')} but {number} of these"
                raise at(uses, "parse-operand-count", message)
        types: list[Attribute] = []
        if start is not None:
            word, uses, results = start
            if word.text != "init":
                raise at(word, "parse-syntax", f"unexpected {word.text!r}", "init(..) -> types, or the body in braces")
            types = self.types_of(results)
            operands += self.use_typed(uses, types, None)
        sizes.append(len(types))
        self.pending = RegionStart([(name, t.INDEX) for name in names])
        return token, operands, types, DenseArrayBase.from_list(i32, sizes)

    @statement
    def parallel_op(self, items: list[Any]) -> Operation:
        """A parallel loop with its region."""
        (token, operands, types, sizes), region, attributes = items
        for block in region.blocks:
            if block.last_op is None or not block.last_op.has_trait(_terminator()):
                block.add_op(self.create(_core("scf.reduce"), token.start))
        properties: dict[str, Attribute] = {"operandSegmentSizes": sizes}
        return self.create(operation_class(token), token.start, operands, types, attributes, properties, [region])

    @statement
    def reduce_nothing(self, items: list[Any]) -> Operation:
        """``scf.reduce`` without operands."""
        return self.create(operation_class(items[0]), items[0].start, attributes=items[1])

    @statement
    def reduce(self, items: list[Any]) -> Operation:
        """``scf.reduce(%x : type) {..}`` with a region for each operand."""
        token, uses, types = items[0], items[2], items[4]
        operands = self.use_typed(uses, self.type_list(types), types)
        regions = [item for item in items[6:] if isinstance(item, Region)]
        return self.create(operation_class(token), token.start, operands, (), items[-1], regions=regions)

    def separate(self, token: Tok) -> list[Tok]:
        """Returns the names of a USES token, each as a token of its own."""
        names: list[Tok] = []
        for index in range(token.text.count(",") + 1):
            start, end = self.name_extent(token, index)
            names.append(Tok("USES", self.source.text[start:end], start))
        return names

    @statement
    def assertion(self, items: list[Any]) -> Operation:
        """``cf.assert %c, "text"``."""
        token, condition, _, message, attributes = items
        operands = self.condition_value(token, condition)
        properties: dict[str, Attribute] = {"msg": builtin.StringAttr(unescape(message.text))}
        return self.create(operation_class(token), token.start, operands, (), attributes, properties)

    @header
    def if_header(self, items: list[Any]) -> Any:
        """``scf.if %c -> (types)``."""
        token, condition = items[0], items[1]
        operands = self.condition_value(token, condition)
        return token, operands, self.types_of(items[3]) if len(items) > 2 else []

    @statement
    def if_op(self, items: list[Any]) -> Operation:
        """A condition with its one or two regions."""
        (token, operands, types), then = items[0], items[1]
        otherwise = items[3] if len(items) > 3 else Region()
        if types and not otherwise.blocks:
            message, help = "scf.if with results needs an else region", "add else { scf.yield .. }"
            raise at(token, "scf-if-else", message, help, missing_else(t.type_text(types[0])))
        for region in (then, otherwise):
            if region.blocks:
                self.end_with_yield(region, token)
        return self.create(operation_class(token), token.start, operands, types, items[-1], regions=[then, otherwise])

    def _carried(
        self,
        pairs: list[tuple[Tok, Tok]],
        types: list[Attribute],
        place: Tok,
        operands: list[SSAValue],
        arguments: list[tuple[Tok | str, Attribute]],
    ) -> list[Attribute]:
        """Adds the initial values and the variables of a loop; returns their types, poison where their
        number is wrong."""
        if len(types) != len(pairs):
            message = f"{count(len(pairs), 'loop variable')} but {count(len(types), 'type')}"
            self.report("parse-type-count", message, place.start, place.end)
            types = [POISON] * len(pairs)
        for (name, value), type_ in zip(pairs, types, strict=True):
            operand = self.value_of(value)
            self.check_type(operand, type_, value, 0)
            operands.append(operand)
            arguments.append((name, type_))
        return types

    @header
    def while_header(self, items: list[Any]) -> Any:
        """``scf.while (%i = %x, ..) : type``."""
        token = items[0]
        inputs, outputs = items[-1]
        types = self.types_of(inputs)
        pairs = self.bindings(items[2]) if len(items) > 3 else []
        arguments: list[tuple[Tok | str, Attribute]] = []
        operands: list[SSAValue] = []
        self._carried(pairs, types, token, operands, arguments)
        self.pending = RegionStart(arguments)
        return token, operands, self.types_of(outputs)

    @statement
    def while_op(self, items: list[Any]) -> Operation:
        """A loop with its two regions."""
        (token, operands, types), before, _, after, attributes = items
        return self.create(operation_class(token), token.start, operands, types, attributes, regions=[before, after])

    @header
    def execute_header(self, items: list[Any]) -> Any:
        """``scf.execute_region -> types``."""
        return items[0], self.types_of(items[2]) if len(items) > 1 else []

    @statement
    def execute_op(self, items: list[Any]) -> Operation:
        """A region that is executed once."""
        (token, types), region, attributes = items
        return self.create(operation_class(token), token.start, (), types, attributes, regions=[region])

    @header
    def switch_header(self, items: list[Any]) -> Any:
        """``scf.index_switch %i -> types``."""
        operands = self.use_typed(items[1], [t.INDEX], None)
        return items[0], operands, items[2], self.types_of(items[4]) if len(items) > 4 else []

    def switch_case(self, items: list[Any]) -> tuple[Tok, Region]:
        """Returns ``case n {..}``."""
        return items[1], items[2]

    @statement
    def index_switch(self, items: list[Any]) -> Operation:
        """A switch with its regions, the default one last in the text."""
        token, operands, attributes, types = items[0]
        cases = [item for item in items[1:] if isinstance(item, tuple)]
        default = items[-1]
        regions = [default, *(region for _, region in cases)]
        for region in regions:
            self.end_with_yield(region, token)
        values = DenseArrayBase.from_list(i64, [signed_integer(value) for value, _ in cases])
        return self.create(operation_class(token), token.start, operands, types, attributes, {"cases": values}, regions)

    def end_with_yield(self, region: Region, token: Tok) -> None:
        """Adds the implied ``scf.yield`` to a block that ends without a terminator."""
        cls = _core("scf.yield")
        for block in region.blocks:
            last = block.last_op
            if last is None or not last.has_trait(_terminator()):
                block.add_op(self.create(cls, token.start))

    @statement
    def call(self, items: list[Any]) -> Operation:
        """``func.call @name(..) : type``."""
        token, callee, _, uses, _, attributes, _, (inputs, outputs) = items
        types = self.types_of(inputs)
        if uses is None and types:
            raise at(
                token, "parse-type-count", f"0 operands but {count(len(types), 'type')}", None, types_of_operands()
            )
        operands = self.use_typed(uses, types, inputs) if uses is not None else []
        results = self.types_of(outputs)
        by_name = callee.type == "SYMBOL"
        if by_name == token.text.endswith("call_indirect"):
            right = f"{token.text.removesuffix('_indirect')}{'' if by_name else '_indirect'}"
            what = "a function is called by its name" if by_name else "a value is called"
            raise at(callee, "parse-syntax", f"{what} with {right}", f"{right} {callee.text}(..)")
        if by_name:
            cls = operation_class(token)
            return self.create(cls, token.start, operands, results, attributes, {"callee": symbol(callee.text)})
        function = self.one_use(callee)
        cls = _call_indirect()
        if function.type is UNKNOWN:
            self.check_type(function, FunctionType.from_lists(types, results), callee, 0)
        return self.create(cls, token.start, [function, *operands], results, attributes)

    @statement
    def function_constant(self, items: list[Any]) -> Operation:
        """``func.constant @name : type``."""
        token, attributes, name, _, types = items
        result = self.one_type(types)
        return self.create(operation_class(token), token.start, (), [result], attributes, {"value": symbol(name.text)})

    # ------------------------------------------------------------ branches

    def target(self, items: list[Any]) -> tuple[Block, list[SSAValue]]:
        """``^name(%x, .. : types)``: a block and its operands."""
        block = self.block_use(items[0])
        try:
            operands = self.use_typed(items[2], self.type_list(items[4]), items[4]) if len(items) > 1 else []
        except BuildError as error:
            self.fail(error)
            operands = []
        return block, operands

    @statement
    def branch(self, items: list[Any]) -> Operation:
        """``cf.br ^name(..)``."""
        token, (block, operands) = items
        return self.create(operation_class(token), token.start, operands, successors=[block])

    @statement
    def cond_branch(self, items: list[Any]) -> Operation:
        """``cf.cond_br %c, ^a(..), ^b(..)``."""
        token, condition, _, (then, then_values), _, (other, other_values), attributes = items
        operands = self.condition_value(token, condition)
        sizes = DenseArrayBase.from_list(i32, [1, len(then_values), len(other_values)])
        return self.create(
            operation_class(token),
            token.start,
            [*operands, *then_values, *other_values],
            attributes=attributes,
            properties={"operandSegmentSizes": sizes},
            successors=[then, other],
        )

    @statement
    def switch(self, items: list[Any]) -> Operation:
        """``cf.switch %flag : type, [..]``."""
        token, flag, _, types, _, _, targets, _, attributes = items
        stated = self.one_type(types)
        operands = self.use_typed(flag, [stated], types)
        default = [target for name, target in targets if name.text == "default"]
        cases = [(name, target) for name, target in targets if name.text != "default"]
        if len(default) != 1:
            raise at(token, "parse-syntax", "cf.switch needs exactly one default target")
        if targets[0][0].text != "default":
            raise at(targets[0][0], "parse-syntax", "the default target of cf.switch comes before its cases")
        case_operands = [values for _, (_, values) in cases]
        flat = [value for values in case_operands for value in values]
        properties: dict[str, Attribute] = {
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [1, len(default[0][1]), len(flat)]),
            "case_operand_segments": DenseArrayBase.from_list(i32, [len(v) for v in case_operands]),
        }
        if cases:
            if not isinstance(stated, (builtin.IntegerType, builtin.IndexType)):
                raise at(types, "literal-type", f"cf.switch chooses by an integer, not by {t.type_text(stated)}")
            numbers = [cast(IntegerAttr, number_attribute(name, stated)).value.data for name, _ in cases]
            shape = builtin.VectorType(stated, [len(cases)])
            properties["case_values"] = builtin.DenseIntOrFPElementsAttr.from_list(shape, numbers)
        return self.create(
            operation_class(token),
            token.start,
            [*operands, *default[0][1], *flat],
            attributes=attributes,
            properties=properties,
            successors=[default[0][0], *(block for _, (block, _) in cases)],
        )

    # ------------------------------------------------------------ shared helpers

    def bindings(self, token: Tok) -> list[tuple[Tok, Tok]]:
        """Returns pairs (name, value) of a BINDINGS token, as USES tokens of their own."""
        pairs: list[tuple[Tok, Tok]] = []
        offset = token.start
        for part in token.text.split(","):
            sides: list[Tok] = []
            inner = offset
            for side in part.split("="):
                name = side.strip()
                sides.append(Tok("USES", name, inner + side.index(name)))
                inner += len(side) + 1
            pairs.append((sides[0], sides[1]))
            offset += len(part) + 1
        return pairs

    def value_of(self, token: Tok) -> SSAValue:
        """Returns the value that a one-name USES token names."""
        return self.use(token)[0]


def _core(name: str) -> type[Operation]:
    cls = core_class(name)
    assert cls is not None
    return cls


def _terminator() -> Any:
    from xdsl.traits import IsTerminator  # deferred: start-up

    return IsTerminator


def _call_indirect() -> type[Operation]:
    from pto_dialect.ir.core_dialects.core_extra import CallIndirectOp  # deferred: start-up

    return CallIndirectOp
