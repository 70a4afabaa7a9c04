"""Classes and functions of the operations of a dialect, from a table of their arguments."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from typing import Any

from xdsl.dialects import builtin as xb
from xdsl.ir import Attribute as XAttribute

from pto_dialect.syntax.types.parser import intern_type

from .. import ir
from ..declare import ATTRIBUTE, OPERAND, RESULT, Convert, Form, Infer, Parameter, make_class, make_form, make_function
from ..ir.attributes import integer_attribute, unwrap, whole
from ..ir.operations import register_view
from ..ir.structure import value_of
from ..ir.texts import plain_text
from ..ir.types import read_type

_ROLES = {"@": RESULT, "#": ATTRIBUTE}
_ARITIES = {"?": "?", "*": "*", "=": "?"}


def read_form(dialect: str, line: str, converts: Mapping[str, Convert] | None = None) -> Form:
    """Returns the form of a line: ``Class mnemonic argument.. : types of the results``.

    An argument is an operand, ``@`` before it states a result type and ``#`` an attribute; ``?`` or ``*`` after it
    state how many, ``=`` that it is passed by keyword. A result has the type that is spelled, that of the operand that
    is named, or with ``bool`` before it i1 for each of its elements.
    """
    head, _, types = line.partition(" : ")
    cls, mnemonic, *words = head.split()
    positional: list[Parameter] = []
    named: list[Parameter] = []
    for word in words:
        role = _ROLES.get(word[0], OPERAND)
        name = word.strip("@#?*=")
        arity = _ARITIES.get(word[-1], "1")
        convert = (converts or {}).get(name, _text) if role == ATTRIBUTE else None
        (named if word.endswith("=") else positional).append(Parameter(name, role, arity, convert))
    # Where the numbers of several operands vary, the operation states them.
    segments = sum(one.role == OPERAND and one.arity != "1" for one in (*positional, *named)) > 1
    name = f"{dialect}.{mnemonic}"
    return make_form(cls, name, positional, named, segments=segments, infer=_inference(types.split()))


def _inference(types: list[str]) -> Infer | None:
    if not types:
        return None
    is_bool = types[0] == "bool"

    def infer(given: Mapping[str, Any]) -> list[XAttribute]:
        found = [value_of(given[one]).type if one in given else read_type(one) for one in types[is_bool:]]
        return [_bool_like(one) for one in found] if is_bool else found

    return infer


def _bool_like(of: XAttribute) -> XAttribute:
    return intern_type(xb.VectorType(xb.i1, of.get_shape())) if isinstance(of, xb.VectorType) else xb.i1


def _text(value: Any) -> XAttribute:
    return xb.StringAttr(plain_text(value, "the value")) if isinstance(value, str) else unwrap(value, "the value")


def to_integer(width: int) -> Convert:
    """Returns what makes an attribute of so many bits of a number."""

    def convert(value: Any) -> XAttribute:
        return integer_attribute(value, xb.IntegerType(width))

    return convert


def to_symbol(value: Any) -> XAttribute:
    """Returns the attribute of a symbol."""
    return xb.SymbolRefAttr(plain_text(value, "the value"))


def to_dense(value: Any) -> XAttribute:
    """Returns the attribute of a list of numbers."""
    return xb.DenseArrayBase.from_list(xb.i64, [whole(one, "an element") for one in value])


def function_name(mnemonic: str) -> str:
    """Returns the name of the function that makes an operation."""
    name = mnemonic.partition(".")[2].replace(".", "_")
    return f"{name}_" if keyword.iskeyword(name) or name in ("print", "global") else name


def add_operations(
    names: dict[str, Any], dialect: str, table: str, converts: Mapping[str, Convert] | None = None
) -> None:
    """Adds the classes and functions of a table to the names of a module."""
    for line in table.strip().splitlines():
        form = read_form(dialect, line.strip(), converts)
        cls = register_view(make_class(form, module=str(names["__name__"])))
        names[form.cls] = cls
        names[function_name(form.mnemonic)] = make_function(cls)


def add_ir(names: dict[str, Any]) -> None:
    """Adds the names of the module ``ir`` to those of a module, which MLIR's modules of dialects have as well."""
    for name in ir.__all__:
        names.setdefault(name, getattr(ir, name))


def add_function(names: dict[str, Any], cls: type[Any]) -> None:
    """Adds the function of a class to the names of a module."""
    names[function_name(cls.OPERATION_NAME)] = make_function(cls)
