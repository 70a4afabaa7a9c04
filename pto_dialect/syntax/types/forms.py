"""Parameter lists of the individual types: the parameters of each, and their spellings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xdsl.ir import Attribute

from pto_dialect.diagnostics.remedies.names import choose, replace
from pto_dialect.diagnostics.remedies.order import repeated_entry
from pto_dialect.diagnostics.remedies.types import (
    long_key,
    missing_pointee,
    nearest_number,
    pointer_parameters,
    register_type,
    tile_parameters,
    valid_extent,
)
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.diagnostics.suggest import near_hint, near_terms
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attributes import OpaqueAttr

from ..errors.types import TypeSyntaxError, parameter_text

SPACE_ALIASES = {
    "gm": "gm",
    "l1": "l1",
    "l0a": "l0a",
    "l0b": "l0b",
    "l0c": "l0c",
    "ub": "ub",
    "bt": "bt",
    "fb": "fb",
    "mat": "l1",
    "left": "l0a",
    "right": "l0b",
    "acc": "l0c",
    "vec": "ub",
    "bias": "bt",
    "scaling": "fb",
}
"""Every accepted address-space name and the pointer space it means."""

LOCS = ("vec", "mat", "left", "right", "acc", "bias", "scaling")
_WORD_KEYS = {
    "blayout": ("row_major", "col_major"),
    "slayout": ("none_box", "row_major", "col_major"),
}
_ENUM_KEYS = {"pad": ("null", "zero", "max", "min"), "compact": ("null", "normal", "row_plus_one")}
WORDS_OF_KEYS = {"loc": LOCS, **_WORD_KEYS, **_ENUM_KEYS}
"""Values of the keys of a tile type that are words."""
SHORT_KEYS = ("valid", "blayout", "slayout", "fractal", "pad", "compact")
LONG_KEYS = ("loc", "dtype", "rows", "cols", "v_row", "v_col", "blayout", "slayout", "fractal", "pad", "compact")


def _fail(rule: str, message: str, where: Any, help: str | None = None, *remedies: Remedy) -> TypeSyntaxError:
    return TypeSyntaxError(rule, message, where.start, where.end, help, remedies)


def _unknown_keyword(rule: str, what: str, where: Any, word: str, near: Sequence[str], listed: str) -> TypeSyntaxError:
    """Returns the error for a ``word`` that is none of those ``listed``; it was probably meant to be one of
    ``near``."""
    hint = near_hint(near)
    message = f"unknown {what} {word!r}" + (f"; {hint}" if hint else "")
    words = listed.removeprefix("one of ").split(", ")
    return _fail(rule, message, where, listed, *((replace(word, *near),) if near else ()), choose(word, *words))


def _space(parameter: Any) -> str:
    word = parameter.value
    if parameter.form == "attribute":
        found = re.fullmatch(r"#pto\.address_space<\s*(\w+)\s*>", word)
        word = found.group(1) if found else word
    space = SPACE_ALIASES.get(word) if isinstance(word, str) else None
    if space is None:
        found = parameter_text(parameter)
        meant = _OTHER_SPACES.get(found.lower())
        near = [meant] if meant else near_terms(found, tuple(SPACE_ALIASES))
        raise _unknown_keyword("ptr-space", "address space", parameter, found, near, "gm l1 l0a l0b l0c ub bt fb")
    return space


def _unknown_element(word: str, start: int, end: int) -> TypeSyntaxError:
    """Returns the error for a token in place of an element type."""
    from ..errors.element_names import element_suggestion  # deferred: start-up

    close = element_suggestion(word)
    help = f"did you mean {close}?" if close else "for example f16, bf16, f32, i8, i32 or !pto.hif8"
    mended = (replace(word, close) if close else missing_pointee(),)
    return TypeSyntaxError("type-syntax", f"unknown element type {word!r}", start, end, help, mended)


def _ptr(head: Any, parameters: list[Any]) -> Attribute:
    if len(parameters) == 2 and parameters[0].value in SPACE_ALIASES and parameters[1].form == "type":
        message = f"the element type comes before the space {parameters[0].value}"
        help = f"!pto.ptr<{parameter_text(parameters[1])}, {parameters[0].value}>"
        raise _fail("type-syntax", message, parameters[0], help, pointer_parameters(help))
    if parameters and parameters[0].form == "word":
        raise _unknown_element(parameters[0].value, parameters[0].start, parameters[0].end)
    if not 1 <= len(parameters) <= 2 or parameters[0].form != "type":
        raise _fail("type-syntax", "!pto.ptr takes an element type and an optional space", head, "!pto.ptr<f16, ub>")
    return t.PtrType(parameters[0].value, _space(parameters[1]) if len(parameters) == 2 else "gm")


def _view(cls: type[t.ShapedView]) -> Callable[[Any, list[Any]], Attribute]:
    def form(head: Any, parameters: list[Any]) -> Attribute:
        if len(parameters) == 1 and parameters[0].form == "shaped":
            return cls(*parameters[0].value)
        if len(parameters) == 1 and parameters[0].form == "shaped_word":
            word, end = parameters[0].value[1], parameters[0].end
            raise _unknown_element(word, end - len(word), end)
        example = f"{head.text}<16x?xf32>"
        raise _fail("type-syntax", f"{head.text} takes dimensions and an element type", head, example)

    return form


_OTHER_SPACES = {
    **dict.fromkeys(("ubuf", "ubm", "unified_buffer", "local"), "ub"),
    **dict.fromkeys(("ddr", "hbm", "global", "out"), "gm"),
    **dict.fromkeys(("cbuf", "l1buf"), "l1"),
    **dict.fromkeys(("ca", "l0_a"), "l0a"),
    **dict.fromkeys(("cb", "l0_b"), "l0b"),
    **dict.fromkeys(("cc", "l0_c"), "l0c"),
}
"""Address spaces by the names of other documents."""

_OTHER_LOCS = {
    **dict.fromkeys(("ub", "ubuf", "vector", "vecin", "vecout"), "vec"),
    **dict.fromkeys(("l1", "cbuf", "matrix"), "mat"),
    **dict.fromkeys(("l0a", "lhs", "ca"), "left"),
    **dict.fromkeys(("l0b", "rhs", "cb"), "right"),
    **dict.fromkeys(("l0c", "cc", "accumulator", "co1"), "acc"),
    "bt": "bias",
    "fb": "scaling",
}
"""Tile locations by the names of memories."""


def _tile_word(key: str, parameter: Any, allowed: tuple[str, ...], rule: str) -> str:
    word = parameter.value
    if word not in allowed:
        found = parameter_text(parameter)
        meant = _OTHER_LOCS.get(found.lower()) if allowed is LOCS else None
        near = [meant] if meant else near_terms(found, allowed)
        raise _unknown_keyword(rule, key, parameter, found, near, "one of " + ", ".join(allowed))
    return word


def _tile_number(key: str, parameter: Any) -> int:
    if parameter.form != "integer":
        raise _fail("tile-key", f"{key} takes an integer, found {parameter_text(parameter)}", parameter)
    return parameter.value


def _tile_option(fields: dict[str, Any], entry: Any) -> None:
    """Reads one ``key=value`` of the options that both tile_buf forms share."""
    key, value = entry.key, entry.value
    if key in _WORD_KEYS:
        fields[key] = _tile_word(key, value, _WORD_KEYS[key], "tile-layout-keyword")
    elif key == "fractal":
        fields[key] = _tile_number(key, value)
        if fields[key] not in (32, 512, 1024):
            message = f"fractal must be 32, 512 or 1024, found {fields[key]}"
            remedy = nearest_number(fields[key], "32", "512", "1024")
            raise _fail("tile-fractal", message, value, None, remedy)
    else:
        names = _ENUM_KEYS[key]
        number = names.index(value.value) if value.value in names else value.value
        if not isinstance(number, int) or not 0 <= number < len(names):
            allowed = ", ".join(f"{i} ({n})" for i, n in enumerate(names))
            mended = choose(None, *names)
            raise _fail("tile-key", f"unknown {key} {parameter_text(value)!r}", value, "one of " + allowed, mended)
        fields[key] = number


def _tile_buf(head: Any, parameters: list[Any]) -> Attribute:
    if parameters and parameters[0].form == "keyed":
        return _long_tile_buf(head, parameters)
    if len(parameters) > 1 and parameters[0].form == "word" and parameters[1].form == "shaped_word":
        word, end = parameters[1].value[1], parameters[1].end
        raise _unknown_element(word, end - len(word), end)
    if len(parameters) < 2 or parameters[0].form != "word" or parameters[1].form != "shaped":
        raise _fail(
            "type-syntax",
            "!pto.tile_buf takes a location, a shape with element type, and key=value options",
            head,
            "!pto.tile_buf<vec, 16x64xf32, valid=16x60>",
            tile_parameters(),
        )
    loc = _tile_word("loc", parameters[0], LOCS, "tile-loc-keyword")
    dims, element = parameters[1].value
    fields: dict[str, Any] = {}
    valid: tuple[int, int] | None = None
    seen: set[str] = set()
    for entry in parameters[2:]:
        _known_key(entry, SHORT_KEYS, "option")
        if entry.key in seen:
            message = f"duplicate {entry.key} in tile_buf compact syntax"
            raise _fail("tile-key", message, entry, None, repeated_entry())
        seen.add(entry.key)
        if entry.key == "valid":
            if entry.value.form != "extent" or len(entry.value.value) != 2:
                message = "tile_buf valid must have exactly two dims, rows x cols"
                raise _fail("tile-key", message, entry.value, "valid=16x60 or valid=?x?")
            valid = entry.value.value
        else:
            _tile_option(fields, entry)
    return _checked_tile(loc, dims, element, valid, fields, parameters[1], head)


def _known_key(entry: Any, keys: Iterable[str], what: str) -> None:
    """Raises ``TypeSyntaxError`` for an entry of a tile type without one of its keys."""
    known = tuple(keys)
    if entry.form != "keyed" or entry.key not in known:
        name = entry.key or parameter_text(entry)
        near = near_terms(str(name), known)
        raise _unknown_keyword("tile-key", f"tile_buf {what}", entry, str(name), near, ", ".join(known))


def _long_tile_buf(head: Any, parameters: list[Any]) -> Attribute:
    entries: dict[str, Any] = {}
    expected = iter(LONG_KEYS)
    for entry in parameters:
        _known_key(entry, LONG_KEYS, "key")
        if entry.key in entries:
            raise _fail("tile-key", f"key {entry.key} is given twice", entry, None, repeated_entry())
        if entry.key not in expected:
            raise _fail("tile-key-order", f"key {entry.key} is out of order", entry, ", ".join(LONG_KEYS))
        entries[entry.key] = entry
    for key in LONG_KEYS[: LONG_KEYS.index("compact")]:
        if key not in entries:
            message = f"the long form of tile_buf needs the key {key}"
            following = LONG_KEYS[LONG_KEYS.index(key) + 1 :]
            help = ", ".join(LONG_KEYS) + " (compact is optional)"
            raise _fail("tile-key", message, head, help, long_key(key, *following))
    loc = _tile_word("loc", entries["loc"].value, LOCS, "tile-loc-keyword")
    if entries["dtype"].value.form != "type":
        word = entries["dtype"].value
        raise _unknown_element(parameter_text(word), word.start, word.end)
    rows, cols = (_tile_number(key, entries[key].value) for key in ("rows", "cols"))
    valid = tuple(_tile_number(key, entries[key].value) for key in ("v_row", "v_col"))
    fields: dict[str, Any] = {}
    for key in ("blayout", "slayout", "fractal", "pad", "compact"):
        if key in entries:
            _tile_option(fields, entries[key])
    return _checked_tile(
        loc, (rows, cols), entries["dtype"].value.value, (valid[0], valid[1]), fields, entries["rows"], head
    )


def _checked_tile(
    loc: str,
    dims: tuple[int, ...],
    element: Attribute,
    valid: tuple[int, int] | None,
    fields: dict[str, Any],
    where: Any,
    head: Any,
) -> Attribute:
    if len(dims) != 2:
        raise _fail("tile-rank2", f"a tile has two dimensions, found {len(dims)}", where, "rows x cols x element type")
    rows, cols = dims
    _require_extents(rows, cols, where, "what is known at run time only is its valid part: valid=?x?")
    for name, part, full in zip(("rows", "columns"), valid or dims, dims, strict=True):
        if part > full or part < t.DYNAMIC:
            message = f"valid {name} {part} must be within 0..{full}"
            raise _fail("tile-valid-le-shape", message, where, None, valid_extent(name, part, full))
    return t.TileBufType(loc, rows, cols, element, valid, **fields)


def _require_extents(rows: int, cols: int, where: Any, help: str) -> None:
    """Refuses extents that no tile has; ``help`` is for dynamic ones."""
    if rows <= 0 or cols <= 0:
        is_dynamic = t.DYNAMIC in (rows, cols)
        message = f"{'expected static shape: ' if is_dynamic else ''}rows and cols of a tile must be positive numbers"
        raise _fail("tile-rank2", message, where, help if is_dynamic else None)


def _multi_tile_buf(head: Any, parameters: list[Any]) -> Attribute:
    last = parameters[-1] if parameters else head
    if not parameters or last.form != "keyed" or last.key != "count" or last.value.form != "integer":
        raise _fail("type-syntax", "!pto.multi_tile_buf needs count=N", last, "count=2..16")
    first = parameters[0]
    slot = first.value if first.form == "type" else _tile_buf(head, parameters[:-1])
    if not isinstance(slot, t.TileBufType):
        raise _fail("type-syntax", "the slot of !pto.multi_tile_buf must be a tile_buf type", first)
    return t.MultiTileBufType(slot, last.value.value)


def _tile(head: Any, parameters: list[Any]) -> Attribute:
    """Reads a Level 1 tile: ``16x16xf32`` or the documents' ``f32, 16, 16`` with ignored layout words."""
    rest = [p for p in parameters if p.form not in ("keyed", "word")]
    if len(rest) == 1 and rest[0].form == "shaped" and len(rest[0].value[0]) == 2:
        (rows, cols), element = rest[0].value
    elif [p.form for p in rest[:3]] == ["type", "integer", "integer"]:
        element, rows, cols = (p.value for p in rest[:3])
    elif len(rest) == 1 and rest[0].form == "shaped_word":
        word, end = rest[0].value[1], rest[0].end
        raise _unknown_element(word, end - len(word), end)
    else:
        raise _fail("type-syntax", "!pto.tile takes rows x cols x element type", head, "!pto.tile<16x16xf32>")
    _require_extents(
        rows, cols, rest[0], "a tile whose valid part is known at run time only is a !pto.tile_buf with valid=?x?"
    )
    return t.TileType(rows, cols, element)


def _vreg(head: Any, parameters: list[Any]) -> Attribute:
    if len(parameters) != 1 or parameters[0].form != "shaped" or len(parameters[0].value[0]) != 1:
        raise _fail("type-syntax", "!pto.vreg takes lanes x element type", head, "!pto.vreg<64xf32>")
    (lanes,), element = parameters[0].value
    bits = t.bit_width(element)
    if bits is None:
        message = f"elements of a vector register are numbers, found {t.type_text(element)}"
        raise _fail("vreg-256", message, parameters[0], "!pto.vreg<64xf32>")
    if lanes * bits != 2048:
        fix = f"!pto.vreg<{2048 // bits}x{t.type_text(element)}>"
        message = f"a vector register holds 256 bytes, found {lanes} x {bits} bits"
        raise _fail("vreg-256", message, parameters[0], fix, register_type(fix))
    return t.VRegType(lanes, element)


def _mask(head: Any, parameters: list[Any]) -> Attribute:
    if len(parameters) != 1 or parameters[0].value not in ("b8", "b16", "b32"):
        mended = choose(None, "b8", "b16", "b32")
        raise _fail(
            "type-syntax", "!pto.mask takes b8, b16 or b32", parameters[0] if parameters else head, None, mended
        )
    return t.MaskType(parameters[0].value)


def _layout(parameters: list[Any], lanes: int) -> Attribute | None:
    if len(parameters) != 2:
        return None
    from .vmi_layout import layout_fault, layout_fields  # deferred: start-up

    text = " ".join(str(parameters[1].value).split())
    fault = layout_fault(text)
    groups = layout_fields(text).get("num_groups", lanes)
    if fault is None and groups != lanes:
        fault = f"a layout of {groups} groups has {groups} lanes, found {lanes}"
    if fault is not None:
        raise _fail("vmi-layout", fault, parameters[1])
    return OpaqueAttr(text)


def _vmi_vreg(head: Any, parameters: list[Any]) -> Attribute:
    if not 1 <= len(parameters) <= 2 or parameters[0].form != "shaped" or len(parameters[0].value[0]) != 1:
        raise _fail("type-syntax", "!pto.vmi.vreg takes lanes x element type", head, "!pto.vmi.vreg<128xf32>")
    (lanes,), element = parameters[0].value
    if lanes <= 0:
        raise _fail("vmi-lanes", "the number of lanes must be positive", parameters[0])
    if t.bit_width(element) not in (8, 16, 32):
        message = f"elements of a logical vector have 8, 16 or 32 bits, found {t.type_text(element)}"
        raise _fail("vmi-types", message, parameters[0])
    return t.VmiVRegType(lanes, element, _layout(parameters, lanes))


def _vmi_mask(head: Any, parameters: list[Any]) -> Attribute:
    allowed = ("pred", "b8", "b16", "b32")
    if not 1 <= len(parameters) <= 2 or parameters[0].form != "shaped_word" or parameters[0].value[1] not in allowed:
        raise _fail("type-syntax", "!pto.vmi.mask takes lanes x granularity", head, "!pto.vmi.mask<128xpred>")
    (lanes, *_), granularity = parameters[0].value
    if lanes <= 0:
        raise _fail("vmi-lanes", "the number of lanes must be positive", parameters[0])
    if granularity == "pred" and len(parameters) == 2:
        raise _fail("vmi-layout", "a pred mask has no layout", parameters[1], "state b8, b16 or b32")
    return t.VmiMaskType(lanes, granularity, _layout(parameters, lanes))


def _eventid_array(head: Any, parameters: list[Any]) -> Attribute:
    if len(parameters) != 1 or parameters[0].form != "integer" or parameters[0].value <= 0:
        raise _fail("type-syntax", "!pto.eventid_array takes a positive size", head, "!pto.eventid_array<8>")
    return t.EventIdArrayType(parameters[0].value)


def _local_array(head: Any, parameters: list[Any]) -> Attribute:
    if len(parameters) != 1 or parameters[0].form != "shaped" or min(parameters[0].value[0]) <= 0:
        raise _fail("type-syntax", "!pto.local_array takes positive static dimensions and an element type", head)
    return t.LocalArrayType(*parameters[0].value)


_STORABLE = frozenset(
    (*(f"{sign}i{bits}" for sign in ("", "s", "u") for bits in (8, 16, 32, 64)), "f16", "bf16", "f32", "f64")
)


def _struct(head: Any, parameters: list[Any]) -> Attribute:
    if not parameters or any(p.form != "type" for p in parameters):
        raise _fail("type-syntax", "!pto.struct takes one or more field types", head, "!pto.struct<i32, f32>")
    for parameter in parameters:
        if t.type_text(parameter.value) not in _STORABLE and not isinstance(parameter.value, t.StructType):
            message = f"a field of !pto.struct is a number or a struct, found {t.type_text(parameter.value)}"
            raise _fail("struct-field", message, parameter, ", ".join(sorted(_STORABLE)))
    return t.StructType([p.value for p in parameters])


def _kept(head: Any, parameters: list[Any]) -> Attribute:
    """Reads document-only types without fields of their own."""
    return t.OpaqueType(f"{head.text}<{', '.join(str(p.value) for p in parameters)}>")


PTO_FORMS: dict[str, Callable[[Any, list[Any]], Attribute]] = {
    "pto.ptr": _ptr,
    "pto.tensor_view": _view(t.TensorViewType),
    "pto.partition_tensor_view": _view(t.PartitionViewType),
    "pto.memref": _view(t.AsMemRefType),
    "pto.tile_buf": _tile_buf,
    "pto.multi_tile_buf": _multi_tile_buf,
    "pto.tile": _tile,
    "pto.vreg": _vreg,
    "pto.mask": _mask,
    "pto.vmi.vreg": _vmi_vreg,
    "pto.vmi.mask": _vmi_mask,
    "pto.eventid_array": _eventid_array,
    "pto.local_array": _local_array,
    "pto.struct": _struct,
    "pto.group": _kept,
    "pto.fmatrix_config": _kept,
}
"""The reader of the parameters of each PTO type."""
