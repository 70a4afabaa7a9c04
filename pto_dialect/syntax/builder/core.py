"""Statement builders for ``builtin``, ``func``, ``arith`` and ``math``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from xdsl.dialects import builtin
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, TypedAttribute
from xdsl.irdl import IRDLOperation, VarOperandDef

from pto_dialect.diagnostics.remedies.marks import mark_after
from pto_dialect.diagnostics.remedies.names import choose, replace
from pto_dialect.diagnostics.remedies.order import operand_count
from pto_dialect.diagnostics.wording import count
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attributes import BROKEN
from pto_dialect.ir.core_dialects.core_ops import ALIASES, core_class
from pto_dialect.ir.core_dialects.words import MIXED, PREDICATES

from ..read.tokens import Tok
from ..text import indentation, starts_line
from ..types.attributes import unescape
from ..types.parser import intern_type
from .attributes import FALSE, TRUE, AttributeBuilder
from .builder import POISON, UNKNOWN, RegionStart
from .error import FollowUp, at
from .step import statement

DYNAMIC = builtin.DYNAMIC_INDEX


def operation_class(token: Tok) -> type[IRDLOperation]:
    """Returns xDSL's class for the core operation that ``token`` names."""
    name = ALIASES.get(token.text, token.text)
    cls = core_class(name)
    assert cls is not None, name  # Every name of the grammar has a class.
    return cls


class Header(NamedTuple):
    """What the header of a function states: its name, arguments and results, properties beside these, attributes."""

    name: str
    arguments: Sequence[tuple[Tok | str, Attribute]]
    results: Sequence[Attribute]
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]


class CoreBuilder(AttributeBuilder):
    """Builders of modules, functions and arithmetic."""

    # ------------------------------------------------------------ module and function

    def symbol_name(self, items: list[Any]) -> Tok | None:
        """Returns the name of a module, if it has one."""
        return items[0] if items else None

    def module_header(self, items: list[Any]) -> list[Any]:
        """Returns ``module @name attributes {..}``."""
        self.pending = RegionStart()
        self.header = items
        return items

    @statement
    def module(self, items: list[Any]) -> Operation:
        """A module with its region."""
        header, region = items
        cls = builtin.ModuleOp
        token, name, attributes = header
        properties: dict[str, Attribute] = {}
        if name is not None:
            properties["sym_name"] = StringAttr(symbol_text(name))
        return self.create(cls, token.start, attributes=attributes, properties=properties, regions=[region])

    def visibility(self, items: list[Any]) -> str | None:
        """Returns ``public``, ``private`` or ``nested``."""
        return items[0].text if items else None

    def func_arg(self, items: list[Any]) -> tuple[Tok | None, Tok, dict[str, Attribute]]:
        """Returns an argument of a function: name, type, attributes."""
        name = items[0] if items[0].type == "USES" else None
        types = items[2] if name is not None else items[0]
        attributes = next((item for item in items if isinstance(item, dict)), {})
        return name, types, attributes

    def func_result(self, items: list[Any]) -> tuple[Tok, dict[str, Attribute]]:
        """Returns a result of a function: type, attributes."""
        return items[0], items[1] if len(items) > 1 else {}

    def bare_result(self, items: list[Any]) -> list[Any]:
        """Returns one result type without parentheses."""
        return [(items[1], {})]

    def result_list(self, items: list[Any]) -> list[Any]:
        """Result types in parentheses."""
        return items[2:-1:2]

    def func_header(self, items: list[Any]) -> Any:
        """``func.func @name(..) -> ..``: the region's arguments are known."""
        token, visibility, name, _, arguments, _, results, attributes = items
        named: list[tuple[Tok | str, Attribute]] = []
        argument_attributes: list[dict[str, Attribute]] = []
        for arg_name, types, extra in arguments:
            for type_ in self.type_list(types):
                named.append((arg_name if arg_name is not None else "", type_))
                argument_attributes.append({})
            argument_attributes[-1:] = [extra]
        result_types: list[Attribute] = []
        result_attributes: list[dict[str, Attribute]] = []
        for types, extra in results:
            for type_ in self.type_list(types):
                result_types.append(type_)
                result_attributes.append({})
            result_attributes[-1:] = [extra]
        properties: dict[str, Attribute] = {}
        if visibility is not None:
            properties["sym_visibility"] = StringAttr(visibility)
        for key, dictionaries in (("arg_attrs", argument_attributes), ("res_attrs", result_attributes)):
            if any(dictionaries):
                properties[key] = ArrayAttr([DictionaryAttr(d) for d in dictionaries])
        header = Header(symbol_text(name), named, result_types, properties, attributes)
        self.learn_header(token, header)
        return self.function_header(token, header)

    def function_header(self, token: Tok, header: Header) -> Any:
        """Returns what ``func_definition`` makes a function of, and announces its region."""
        self.pending = RegionStart(header.arguments, isolated=True)
        types = tuple([type_ for _, type_ in header.arguments])
        properties: dict[str, Attribute] = {
            "sym_name": StringAttr(header.name),
            "function_type": _function_type(types, tuple(header.results)),
            **header.properties,
        }
        return token, properties, header.attributes

    def learn_header(self, token: Tok, header: Header) -> None:
        """Called with each header of a function that the grammar has read."""

    @statement
    def func_definition(self, items: list[Any]) -> Operation:
        """A function with its region."""
        (token, properties, attributes), region = items
        cls = operation_class(token)
        return self.create(cls, token.start, properties=properties, attributes=attributes, regions=[region])

    @statement
    def func_declaration(self, items: list[Any]) -> Operation:
        """A function without a region."""
        start, self.pending = self.pending, None
        token, properties, attributes = items[0]
        cls = operation_class(token)
        if start is not None and "sym_visibility" not in properties:
            self._missing_body(token, start)
        return self.create(cls, token.start, properties=properties, attributes=attributes, regions=[Region()])

    def _missing_body(self, token: Tok, start: RegionStart) -> None:
        """Reports a header with named arguments followed by an indented line: the brace of its body is missing."""
        names = [name for name, _ in start.arguments if isinstance(name, Tok)]
        text, following = self.source.text, self.text.cursor
        if not starts_line(text, following) or following >= len(text):
            return
        if indentation(text, following) <= indentation(text, token.start):
            return
        end = len(text[:following].rstrip())
        message, help = "'{' is missing at the end of this line", "add the missing '{'"
        self.report("parse-unbalanced", message, end - 1, end, help, remedies=(mark_after("{"),))
        self.unopened += 1
        for name in names:
            self.scope.values.setdefault(name.text, Block(arg_types=[POISON]).args[0])
        raise FollowUp

    # ------------------------------------------------------------ arith, math

    @statement
    def constant(self, items: list[Any]) -> Operation | None:
        """``arith.constant value : type``."""
        token, attributes, value = items
        if value is BROKEN:
            return None
        if value in (TRUE, FALSE):
            result: Attribute = t.I1
        elif isinstance(value, TypedAttribute):
            result = intern_type(value.get_type())
        elif isinstance(value, builtin.DenseIntOrFPElementsAttr):
            result = intern_type(value.type)
        else:
            raise at(token, "literal-type", "arith.constant needs a number, true, false or dense<..> literal")
        cls = operation_class(token)
        return self.create(cls, token.start, (), [result], attributes, {"value": value})

    @statement
    def same_type(self, items: list[Any]) -> Operation:
        """Operands and results of one type."""
        token, uses, flags, attributes, _, types = items
        cls = operation_class(token)
        stated = self.type_list(types)
        number = uses.text.count(",") + 1
        # The only one of these operations whose first operand has a type of its own.
        if token.text == "arith.select":
            if number != 3:
                raise at(
                    uses,
                    "parse-operand-count",
                    f"arith.select takes 3 operands, found {number}",
                    None,
                    operand_count(3, number),
                )
            if len(stated) == 2:
                operands = self.use_typed(uses, [stated[0], stated[1], stated[1]], types)
            else:
                operands = self.use(uses)
                self.check_type(operands[0], t.I1, uses, 0, "the condition of arith.select has type i1")
                self.check_types([(operands[index], stated[-1], uses, index) for index in (1, 2)])
            return self.create(cls, token.start, operands, [stated[-1]], attributes)
        expected = core_arity(cls)
        if number != expected:
            message = f"{token.text} takes {count(expected, 'operand')}, found {number}"
            raise at(uses, "parse-operand-count", message, None, operand_count(expected, number))
        if len(stated) > 1:
            message = f"{token.text} takes one type for its operands and its result, found {len(stated)}"
            one = t.type_text(stated[0])
            raise at(types, "parse-type-count", message, f": {one}", replace(None, one))
        operands = self.use(uses)
        wanted = stated[0]
        if any(value.type is not wanted for value in operands):
            common = operands[0].type
            if number > 1 and common not in (wanted, UNKNOWN, POISON) and all(v.type == common for v in operands):
                message = f"the operands of {token.text} have type {t.type_text(common)}, "
                message += f"but {t.type_text(wanted)} is stated"
                help, mended = f": {t.type_text(common)}", (replace(None, t.type_text(common)),)
                self.report("operand-type", message, types.start, types.end, help, remedies=mended)
                # With the type of the operands nothing follows from this.
                return self.create(cls, token.start, operands, [common], attributes)
            operands = self.use_typed(uses, stated * number, types)
        properties: dict[str, Attribute] = {}
        if flags is not None:
            key, value = self.arithmetic_flags(flags, cls)
            properties[key] = value
        elif "fastmath" in cls.get_irdl_definition().properties:
            properties["fastmath"] = self.no_fastmath
        elif "overflowFlags" in cls.get_irdl_definition().properties:
            properties["overflowFlags"] = self.no_overflow
        return self.create(cls, token.start, operands, [stated[0]], attributes, properties)

    @statement
    def mixed_types(self, items: list[Any]) -> Operation:
        """Operations whose operands or results differ in type: a sum with its carry, both halves of a product, a power
        with an integer exponent."""
        token, uses, flags, attributes, _, types = items
        cls = operation_class(token)
        stated = self.type_list(types)
        wanted, help, power = MIXED[token.text]
        if len(stated) != wanted:
            found = f"{token.text} takes {count(wanted, 'type')}, found {len(stated)}"
            raise at(types, "parse-type-count", found, help)
        operand, other = stated[0], stated[-1]
        operands = self.use_typed(uses, [operand, other if power else operand], types)
        properties: dict[str, Attribute] = {}
        if flags is not None:
            key, value = self.arithmetic_flags(flags, cls)
            properties[key] = value
        elif power:
            properties["fastmath"] = self.no_fastmath
        results = [operand] if power else [operand, other]
        return self.create(cls, token.start, operands, results, attributes, properties)

    @cached_property
    def no_fastmath(self) -> Attribute:
        """Returns the attribute that an omitted ``fastmath`` means."""
        from xdsl.dialects.arith import FastMathFlagsAttr  # deferred: start-up

        return FastMathFlagsAttr("none")

    @cached_property
    def no_overflow(self) -> Attribute:
        """Returns the attribute that an omitted ``overflow`` means."""
        from xdsl.dialects.arith import IntegerOverflowAttr  # deferred: start-up

        return IntegerOverflowAttr("none")

    def arithmetic_flags(self, token: Tok, cls: type[IRDLOperation]) -> tuple[str, Attribute]:
        """Returns the property that ``overflow<..>`` or ``fastmath<..>`` sets."""
        from xdsl.dialects.arith import (  # deferred: start-up
            FastMathFlagsAttr,
            IntegerOverflowAttr,
            IntegerOverflowFlag,
        )
        from xdsl.dialects.utils import FastMathFlag  # deferred: start-up

        kind, _, body = token.text.partition("<")
        words = [word.strip() for word in body.rstrip(">").split(",")]
        key, enum, attr = (
            ("overflowFlags", IntegerOverflowFlag, IntegerOverflowAttr)
            if kind.strip() == "overflow"
            else ("fastmath", FastMathFlag, FastMathFlagsAttr)
        )
        if key not in cls.get_irdl_definition().properties:
            raise at(token, "parse-syntax", f"{cls.name} does not take {kind.strip()}<..>")
        if words == ["none"]:
            return key, attr("none")
        if words == ["fast"] and key == "fastmath":
            return key, FastMathFlagsAttr("fast")
        by_name = {flag.value: flag for flag in enum}
        for word in words:
            if word not in by_name:
                allowed = ", ".join(by_name)
                message, mended = f"unknown {kind.strip()} flag {word!r}", choose(word, *by_name)
                raise at(token, "parse-syntax", message, f"one of {allowed}", mended)
        return key, attr([by_name[word] for word in words])  # pyright: ignore[reportArgumentType]

    @statement
    def compare(self, items: list[Any]) -> Operation:
        """``arith.cmpi`` or ``arith.cmpf`` with its predicate."""
        token, predicate, _, uses, flags, attributes, _, types = items
        cls = operation_class(token)
        names = PREDICATES[token.text]
        if predicate.text not in names:
            message, mended = f"unknown predicate {predicate.text!r}", choose(None, *names)
            raise at(predicate, "parse-syntax", message, f"one of {', '.join(names)}", mended)
        stated = self.one_type(types)
        operands = self.use_typed(uses, [stated, stated], types)
        properties: dict[str, Attribute] = {"predicate": IntegerAttr(names.index(predicate.text), i64)}
        if flags is not None:
            key, value = self.arithmetic_flags(flags, cls)
            properties[key] = value
        elif "fastmath" in cls.get_irdl_definition().properties:
            properties["fastmath"] = self.no_fastmath
        result: Attribute = t.I1
        if isinstance(stated, builtin.VectorType):
            result = intern_type(builtin.VectorType(builtin.i1, stated.get_shape()))
        return self.create(cls, token.start, operands, [result], attributes, properties)

    @statement
    def cast(self, items: list[Any]) -> Operation:
        """``op %x : T to R``."""
        token, uses, flags, attributes, _, types, _, result_types = items
        cls = operation_class(token)
        operands = self.use_typed(uses, self.type_list(types), types)
        results = self.type_list(result_types)
        if (len(operands), len(results)) != (1, 1) and not takes_any_number(cls):
            raise at(uses, "parse-operand-count", f"{token.text} converts exactly one value")
        properties: dict[str, Attribute] = {}
        if flags is not None:
            key, value = self.arithmetic_flags(flags, cls)
            properties[key] = value
        return self.create(cls, token.start, operands, results, attributes, properties)


@lru_cache(4_096)
def _function_type(inputs: tuple[Attribute, ...], results: tuple[Attribute, ...]) -> FunctionType:
    return FunctionType.from_lists(inputs, results)


def symbol_text(token: Tok) -> str:
    """Returns the name of a SYMBOL token without ``@`` and quotes."""
    text = token.text[1:]
    return unescape(text) if text.startswith('"') else text


def takes_any_number(cls: type[IRDLOperation]) -> bool:
    """Returns whether a core operation is declared with any number of operands."""
    return any(isinstance(definition, VarOperandDef) for _, definition in cls.get_irdl_definition().operands)


def core_arity(cls: type[IRDLOperation]) -> int:
    """Returns the operand count of a core operation whose operands all have one type."""
    return len(cls.get_irdl_definition().operands)
