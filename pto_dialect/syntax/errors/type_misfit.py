"""Errors in the spelling of a type that the grammar does not accept."""

from __future__ import annotations

import re

from pto_dialect.diagnostics.remedies.characters import LOOK_ALIKE, ascii_characters
from pto_dialect.diagnostics.remedies.marks import comma_before, other_mark, without_comma
from pto_dialect.diagnostics.remedies.names import underscores
from pto_dialect.diagnostics.remedies.types import missing_element

from .type_names import type_suggestion
from .types import TypeSyntaxError

FORMS = {
    "!pto.tile_buf": "!pto.tile_buf<vec, 16x64xf32, valid=16x60>",
    "!pto.tile": "!pto.tile<16x16xf32>",
    "!pto.ptr": "!pto.ptr<f16, ub>",
    "!pto.tensor_view": "!pto.tensor_view<16x?xf32>",
    "!pto.partition_tensor_view": "!pto.partition_tensor_view<16x64xf32>",
    "!pto.vreg": "!pto.vreg<64xf32>",
    "!pto.mask": "!pto.mask<b32>",
    "memref": "memref<16x64xf32>",
    "vector": "vector<16xf32>",
}
"""A type of each kind, as an example."""

_HEAD = re.compile(r"!?[A-Za-z_][\w.]*")
_LEFT = re.compile(r"[^\s<>(),=:]+\Z")
_DIMS = re.compile(r"(?:(?:\d+|\?)\s*x\s*)+\Z")
_WORD = re.compile(r"[^\s<>(),=:]+")


def misfit(text: str, start: int, end: int) -> TypeSyntaxError:
    """Returns the error for the unexpected token ``text[start:end]`` of a type."""
    head = _HEAD.match(text)
    form = FORMS.get(head.group() if head else "")
    token = text[start:end].strip()
    before = text[:start].rstrip()
    left = _LEFT.search(before)
    dims = _DIMS.search(text, 0, start)
    if dims is not None and token.isdigit():
        extents = f"{dims.group().strip()}{token}"
        message, help = f"the element type is missing after {extents}", f"{extents}xf32"
        return TypeSyntaxError("type-syntax", message, dims.start(), end, help, (missing_element(extents),))
    if dims is not None and token in (">", ","):
        shown = dims.group().strip()
        message = f"the element type is missing after {shown}"
        return TypeSyntaxError("type-syntax", message, dims.start(), end, f"{shown}f32", (missing_element(shown),))
    if before.endswith(",") and token in (">", ")", ","):
        text, at = "nothing follows this ','", len(before)
        return TypeSyntaxError("type-syntax", text, at - 1, at, "remove it", (without_comma(),))
    if token == ":" and left is not None:
        message = f"the value of {left.group()} follows '=', not ':'"
        return TypeSyntaxError("type-syntax", message, start, end, f"{left.group()}=..", (other_mark(":", "="),))
    right = _WORD.match(text, start)
    if left is not None and right is not None:
        message = f"',' is missing between {left.group()} and {right.group()}"
        help = f"{left.group()}, {right.group()}"
        if right.group()[0] == "-":
            return TypeSyntaxError("type-syntax", message, start, right.end(), help, (underscores(),))
        if any(letter in LOOK_ALIKE for letter in right.group()):
            return TypeSyntaxError("type-syntax", message, start, right.end(), help, (ascii_characters(),))
        return TypeSyntaxError("type-syntax", message, start, right.end(), help, (comma_before(),))
    what = f"unexpected {token!r} in the type {head.group()}" if head else f"unexpected {token!r} in type"
    if form is not None:
        return TypeSyntaxError("type-syntax", what, start, end, f"for example {form}")
    close = type_suggestion(head.group()) if head else None
    help = f"did you mean {close}<..>?" if close else "the type is complete before it"
    return TypeSyntaxError("type-syntax", what, start, end, help)
