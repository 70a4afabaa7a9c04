"""Parameter lists of MLIR's own shaped types: ``memref<..>``, ``vector<..>`` and ``tensor<..>``.

Source: docs/reference/language.md, "Types".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from xdsl.dialects import builtin
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from pto_dialect.ir.core import types as t

from ..errors.types import TypeSyntaxError, parameter_text
from ..read.tokens import balanced, is_alias
from .attributes import parse_attribute, unescape

PORTABLE_ELEMENT = "pto.element"
PORTABLE_SPACE = "pto.space"
"""Entries of the dictionary that holds what MLIR does not allow in a memref; see ``syntax.portable``."""

_PORTABLE = re.compile(
    rf"\{{\s*(?:{PORTABLE_ELEMENT}\s*=\s*(![^#{{}}]+?)\s*)?(,\s*)?(?:{PORTABLE_SPACE}\s*=\s*(#[\w.]+(?:{balanced(2)})?)\s*)?\}}"
)


def builtin_form(head: Any, parameters: list[Any], parse_type: Callable[[str], Attribute]) -> Attribute:
    """Returns the type that ``head`` (memref, vector or tensor) makes of its parameters; ``parse_type`` reads types in
    them."""
    if head.text == "tuple":
        if any(parameter.form != "type" for parameter in parameters):
            raise _fail("tuple takes types", head, "tuple<i32, f32>")
        return builtin.TupleType(builtin.ArrayAttr([parameter.value for parameter in parameters]))
    if head.text == "complex":
        return _complex(head, parameters)
    if head.text in ("memref", "tensor") and parameters and parameters[0].form == "unranked":
        return _unranked(head, parameters)
    if not parameters or parameters[0].form not in ("shaped", "type"):
        raise _fail(f"{head.text} takes dimensions and an element type", head, f"{head.text}<16xf32>")
    first = parameters[0]
    dims, element = first.value if first.form == "shaped" else ((), first.value)
    dims = [builtin.DYNAMIC_INDEX if dim == t.DYNAMIC else dim for dim in dims]
    if head.text == "memref":
        return _memref(element, dims, parameters[1:], parse_type)
    if head.text == "tensor":
        if len(parameters) > 2:
            raise _fail("a tensor has at most an encoding after its elements", parameters[2])
        return builtin.TensorType(element, dims, *map(_attribute, parameters[1:]))
    if len(parameters) > 1:
        raise _fail("a vector has dimensions and an element type, and nothing after them", parameters[1])
    return builtin.VectorType(element, dims)


def _fail(message: str, where: Any, help: str | None = None) -> TypeSyntaxError:
    return TypeSyntaxError("type-syntax", message, where.start, where.end, help)


def _memref(
    element: Attribute, dims: list[int], parameters: list[Any], parse_type: Callable[[str], Attribute]
) -> Attribute:
    """Returns a memref with layout and memory space, each of which may be missing."""
    layout: Any = builtin.NoneAttr()
    if parameters and parameters[0].form == "attribute" and parameters[0].value.startswith(("strided", "affine_map")):
        layout = _layout(parameters[0])
        parameters = parameters[1:]
    if len(parameters) > 1:
        raise _fail("a memref has at most a layout and, after it, a memory space", parameters[1])
    if not parameters:
        return builtin.MemRefType(element, dims, layout)
    text = parameters[0].value if parameters[0].form == "attribute" else ""
    found = _PORTABLE.fullmatch(text)
    if found is None or bool(found[1] and found[3]) is not bool(found[2]) or not (found[1] or found[3]):
        return builtin.MemRefType(element, dims, layout, _attribute(parameters[0]))
    stated = parse_type(found[1]) if found[1] else element
    return builtin.MemRefType(stated, dims, layout, parse_attribute(found[3]) if found[3] else builtin.NoneAttr())


def _complex(head: Any, parameters: list[Any]) -> Attribute:
    if len(parameters) == 1 and isinstance(parameters[0].value, (builtin.IntegerType, builtin.AnyFloat)):
        return builtin.ComplexType(parameters[0].value)
    raise _fail("complex takes an integer or float type", head, "complex<f32>")


def _unranked(head: Any, parameters: list[Any]) -> Attribute:
    """Returns a memref or tensor of any rank."""
    if len(parameters) > (2 if head.text == "memref" else 1):
        raise _fail("a memref of any rank has at most a memory space", parameters[-1])
    if head.text == "tensor":
        return builtin.UnrankedTensorType(parameters[0].value)
    return builtin.UnrankedMemRefType.from_type(parameters[0].value, *map(_attribute, parameters[1:]))


def _layout(parameter: Any) -> Attribute:
    if parameter.value.startswith("strided"):
        return parse_attribute(parameter.value)
    from xdsl.utils.exceptions import ParseError  # deferred: start-up

    from .affine_layout import layout_map  # deferred: start-up

    try:
        return layout_map(parameter.value)
    except (ParseError, VerifyException, ValueError):
        raise _fail("this is no affine map", parameter, "affine_map<(d0) -> (d0)>") from None


def _attribute(parameter: Any) -> Attribute:
    """Returns a memory space or an encoding."""
    if parameter.form == "integer":
        return builtin.IntegerAttr(parameter.value, 64)
    if parameter.form == "typed_integer" and isinstance(parameter.value[1], (builtin.IntegerType, builtin.IndexType)):
        try:
            return builtin.IntegerAttr(*parameter.value)
        except VerifyException:
            raise _fail("this number does not fit its type", parameter, None) from None
    if parameter.form == "word" and parameter.value in ("true", "false"):
        return builtin.IntegerAttr(int(parameter.value == "true"), 1)
    if parameter.form == "attribute":
        text = parameter.value
        if is_alias(text):
            raise TypeSyntaxError("name-undefined", f"undefined alias {text}", parameter.start, parameter.end)
        return builtin.StringAttr(unescape(text)) if text[0] == '"' else parse_attribute(text)
    raise _fail(
        f"a memory space or an encoding is an attribute, found {parameter_text(parameter)!r}",
        parameter,
        "#pto.address_space<vec>",
    )
