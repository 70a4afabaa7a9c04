"""PTO types and the element types they are built from.

Every PTO type is an xDSL attribute whose payload (``data``) is its canonical text between ``<`` and ``>``; two types
are equal exactly when class and canonical text are equal. Native Python fields (``rows``, ``element`` ...) accompany
it.

Source: docs/reference/language.md, "Types".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from xdsl.dialects import builtin
from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import Attribute, Data, TypeAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from .attribute_text import type_text
from .attributes import StoredText

DYNAMIC = -1
"""Represents a dimension that is only known at run time (``?`` in the text)."""

_SIGNED = {"": Signedness.SIGNLESS, "s": Signedness.SIGNED, "u": Signedness.UNSIGNED}

BUILTIN_SCALARS: dict[str, Attribute] = {
    "index": builtin.IndexType(),
    "none": builtin.NoneType(),
    "f16": builtin.f16,
    "bf16": builtin.bf16,
    "f32": builtin.f32,
    "f64": builtin.f64,
    "tf32": builtin.FloatTF32Type(),
    "f8E4M3FN": builtin.Float8E4M3FNType(),
    "f8E4M3": builtin.Float8E4M3Type(),
    "f8E5M2": builtin.Float8E5M2Type(),
    **{
        f"{prefix}i{width}": IntegerType(width, sign)
        for prefix, sign in _SIGNED.items()
        for width in (1, 2, 4, 8, 16, 32, 64, 128)
    },
}
"""Builtin scalar types by spelling; the values are the interned instances that parsing yields."""

INDEX = BUILTIN_SCALARS["index"]
I1 = BUILTIN_SCALARS["i1"]
I16 = BUILTIN_SCALARS["i16"]
I32 = BUILTIN_SCALARS["i32"]
I64 = BUILTIN_SCALARS["i64"]
F32 = BUILTIN_SCALARS["f32"]


class PtoType(Data[str], TypeAttribute):
    """Base of all PTO types: ``!<name><data>`` is the canonical text."""

    def __init__(self, data: str = "", **fields: Any) -> None:
        for key, value in fields.items():
            object.__setattr__(self, key, value)
        super().__init__(data)

    def __hash__(self) -> int:
        return hash(self.data)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Refuses: only the parser of the dialect reads types of PTO."""
        raise parser.raise_error(f"!{cls.name} is read by the pto parser only")

    def print_parameter(self, printer: Printer) -> None:
        """Prints the parameter in the form that xDSL's printer requires."""
        printer.print_string(f"<{self.data}>" if self.data else "")

    def __str__(self) -> str:
        return f"!{self.name}<{self.data}>" if self.data else f"!{self.name}"


class PtrType(PtoType):
    """Typed pointer into one memory space: ``!pto.ptr<f16, l0a>``."""

    name = "pto.ptr"
    element: Attribute
    space: str

    def __init__(self, element: Attribute, space: str = "gm") -> None:
        super().__init__(f"{type_text(element)}, {space}", element=element, space=space)


class TileBufType(PtoType):
    """Handle of a tile in one on-chip buffer (Level 2).

    ``rows``/``cols`` are the physical shape, ``valid_rows``/``valid_cols`` the valid region (``DYNAMIC`` for ``?``).
    The block layout of a ``left`` tile is not significant (each target has its native one) and is stored as
    ``col_major``.
    """

    name = "pto.tile_buf"
    loc: str
    rows: int
    cols: int
    element: Attribute
    valid_rows: int
    valid_cols: int
    blayout: str
    slayout: str
    fractal: int
    pad: int
    compact: int

    def __init__(
        self,
        loc: str,
        rows: int,
        cols: int,
        element: Attribute,
        valid: tuple[int, int] | None = None,
        blayout: str = "row_major",
        slayout: str = "none_box",
        fractal: int = 512,
        pad: int = 0,
        compact: int = 0,
    ) -> None:
        valid_rows, valid_cols = valid if valid is not None else (rows, cols)
        if loc == "left":
            blayout = "col_major"
        parts = [loc, f"{rows}x{cols}x{type_text(element)}"]
        if (valid_rows, valid_cols) != (rows, cols):
            parts.append(f"valid={dim_text(valid_rows)}x{dim_text(valid_cols)}")
        if blayout != "row_major":
            parts.append(f"blayout={blayout}")
        if slayout != "none_box":
            parts.append(f"slayout={slayout}")
        if fractal != 512:
            parts.append(f"fractal={fractal}")
        if pad:
            parts.append(f"pad={pad}")
        if compact:
            parts.append(f"compact={compact}")
        super().__init__(
            ", ".join(parts),
            loc=loc,
            rows=rows,
            cols=cols,
            element=element,
            valid_rows=valid_rows,
            valid_cols=valid_cols,
            blayout=blayout,
            slayout=slayout,
            fractal=fractal,
            pad=pad,
            compact=compact,
        )

    def replace(self, **changes: Any) -> TileBufType:
        """Returns the same type with some fields changed; ``valid`` is a pair."""
        fields: dict[str, Any] = {
            "loc": self.loc,
            "rows": self.rows,
            "cols": self.cols,
            "element": self.element,
            "valid": (self.valid_rows, self.valid_cols),
            "blayout": self.blayout,
            "slayout": self.slayout,
            "fractal": self.fractal,
            "pad": self.pad,
            "compact": self.compact,
        }
        return TileBufType(**(fields | changes))


class MultiTileBufType(PtoType):
    """``count`` equal tile slots with one handle."""

    name = "pto.multi_tile_buf"
    slot: TileBufType
    count: int

    def __init__(self, slot: TileBufType, count: int) -> None:
        super().__init__(f"{slot}, count={count}", slot=slot, count=count)


class TileType(PtoType):
    """Tile value (Level 1 and PTO-AS): shape and element type only."""

    name = "pto.tile"
    rows: int
    cols: int
    element: Attribute

    def __init__(self, rows: int, cols: int, element: Attribute) -> None:
        super().__init__(f"{rows}x{cols}x{type_text(element)}", rows=rows, cols=cols, element=element)


class ShapedView(PtoType):
    """Common part of the global-memory view types."""

    shape: tuple[int, ...]
    element: Attribute

    def __init__(self, shape: Sequence[int], element: Attribute) -> None:
        dims = "".join(f"{dim_text(d)}x" for d in shape)
        super().__init__(dims + type_text(element), shape=tuple(shape), element=element)


class TensorViewType(ShapedView):
    """Strided view of a global-memory buffer, rank 1 to 5."""

    name = "pto.tensor_view"


class PartitionViewType(ShapedView):
    """Rectangular part of a tensor view; what ``tload`` and ``tstore`` move."""

    name = "pto.partition_tensor_view"


class AsMemRefType(ShapedView):
    """``!pto.memref<16x16xf32>``: memory operand of the assembly form."""

    name = "pto.memref"


class VRegType(PtoType):
    """Vector register: ``lanes`` elements, 256 bytes in all."""

    name = "pto.vreg"
    lanes: int
    element: Attribute

    def __init__(self, lanes: int, element: Attribute) -> None:
        super().__init__(f"{lanes}x{type_text(element)}", lanes=lanes, element=element)


class MaskType(PtoType):
    """Vector predicate of one granularity (``b8``, ``b16`` or ``b32``)."""

    name = "pto.mask"
    granularity: str

    def __init__(self, granularity: str) -> None:
        super().__init__(granularity, granularity=granularity)


class VmiVRegType(PtoType):
    """Logical vector of any number of lanes."""

    name = "pto.vmi.vreg"
    lanes: int
    element: Attribute
    layout: Attribute | None

    def __init__(self, lanes: int, element: Attribute, layout: Attribute | None = None) -> None:
        tail = f", {layout}" if layout is not None else ""
        super().__init__(f"{lanes}x{type_text(element)}{tail}", lanes=lanes, element=element, layout=layout)


class VmiMaskType(PtoType):
    """Logical predicate of any number of lanes."""

    name = "pto.vmi.mask"
    lanes: int
    granularity: str
    layout: Attribute | None

    def __init__(self, lanes: int, granularity: str, layout: Attribute | None = None) -> None:
        tail = f", {layout}" if layout is not None else ""
        super().__init__(f"{lanes}x{granularity}{tail}", lanes=lanes, granularity=granularity, layout=layout)


class EventIdArrayType(PtoType):
    """Array of ``size`` event ids."""

    name = "pto.eventid_array"
    size: int

    def __init__(self, size: int) -> None:
        super().__init__(str(size), size=size)


class LocalArrayType(PtoType):
    """Array in scalar registers or stack memory, static shape."""

    name = "pto.local_array"
    shape: tuple[int, ...]
    element: Attribute

    def __init__(self, shape: Sequence[int], element: Attribute) -> None:
        super().__init__("".join(f"{d}x" for d in shape) + type_text(element), shape=tuple(shape), element=element)


class StructType(PtoType):
    """Aggregate of scalar fields."""

    name = "pto.struct"
    fields: tuple[Attribute, ...]

    def __init__(self, fields: Sequence[Attribute]) -> None:
        super().__init__(", ".join(type_text(f) for f in fields), fields=tuple(fields))


class AlignType(PtoType):
    """State of an unaligned vector load or store stream."""

    name = "pto.align"


class PipeType(PtoType):
    """First-in first-out channel between cores."""

    name = "pto.pipe"


class AsyncSessionType(PtoType):
    """Session of asynchronous transfers."""

    name = "pto.async_session"


class AsyncEventType(PtoType):
    """Completion event of an asynchronous transfer."""

    name = "pto.async_event"


class PrefetchContextType(PtoType):
    """Context of asynchronous prefetches."""

    name = "pto.prefetch_async_context"


class EventType(PtoType):
    """Event value of the documents' ``tsync`` form."""

    name = "pto.event"


class Hif8Type(PtoType):
    """8-bit tapered float."""

    name = "pto.hif8"


class Hif8x2Type(PtoType):
    """Pair of 8-bit tapered floats."""

    name = "pto.hif8x2"


class F4E1M2x2Type(PtoType):
    """Pair of 4-bit floats, one exponent and two mantissa bits; one byte."""

    name = "pto.f4E1M2x2"


class F4E2M1x2Type(PtoType):
    """Pair of 4-bit floats, two exponent and one mantissa bits; one byte."""

    name = "pto.f4E2M1x2"


class F8E8M0Type(PtoType):
    """8-bit power-of-two scale."""

    name = "pto.f8E8M0"


class Bf16x2Type(PtoType):
    """Pair of bf16 values."""

    name = "pto.bf16x2"


class OpaqueType(StoredText, TypeAttribute):
    """A type of another dialect, or a schematic ``!pto.tile<...>``: stored as text without interpretation."""

    name = "pto.opaque_type"
    kept = "opaque types"

    @property
    def schematic(self) -> bool:
        """Whether it is a documentation type whose parameters are written ``...``."""
        return "..." in self.data


PLAIN_TYPES: dict[str, type[PtoType]] = {
    cls.name: cls
    for cls in (
        AlignType,
        PipeType,
        AsyncSessionType,
        AsyncEventType,
        PrefetchContextType,
        EventType,
        Hif8Type,
        Hif8x2Type,
        F4E1M2x2Type,
        F4E2M1x2Type,
        F8E8M0Type,
        Bf16x2Type,
    )
}
"""Types without parameters by name."""

LOW_PRECISION_SCALARS = (Hif8Type, Hif8x2Type, F4E1M2x2Type, F4E2M1x2Type, F8E8M0Type, Bf16x2Type)

_BITS_BY_NAME = {
    "pto.hif8": 8,
    "pto.hif8x2": 16,
    "pto.f4E1M2x2": 8,
    "pto.f4E2M1x2": 8,
    "pto.f8E8M0": 8,
    "pto.bf16x2": 32,
    "index": 64,
    **{"bf16": 16, "f16": 16, "f32": 32, "f64": 64},
}
"""Storage bits of elements by the name of their class; other classes are computed."""


def shape_of(attr: Attribute) -> tuple[int, ...]:
    """Returns the dimensions of a view, tile, memref, tensor or vector with ``DYNAMIC`` for ``?``; empty for other
    types.

    Shaped types of the core dialects mark a dynamic dimension by another number themselves.
    """
    if isinstance(attr, ShapedView):
        return attr.shape
    if isinstance(attr, (TileBufType, TileType)):
        return attr.rows, attr.cols
    if isinstance(attr, builtin.ShapedType):
        return tuple([DYNAMIC if dim < 0 else dim for dim in attr.get_shape()])
    return ()


def dim_text(dim: int) -> str:
    """Returns the spelling of one dimension."""
    return "?" if dim == DYNAMIC else str(dim)


def dims_text(dims: Iterable[int]) -> str:
    """Returns the spelling of a shape, as in ``4x?``; empty without dimensions."""
    return "x".join(map(dim_text, dims))


def element_name(attr: Attribute) -> str:
    """Returns the name of an element type without the dialect prefix: ``f16``, ``ui8``, ``hif8``; the key of all type
    tables."""
    text = type_text(attr)
    return text[5:] if text.startswith("!pto.") else text


def bit_width(attr: Attribute) -> int | None:
    """Returns the storage bits of one element (a packed pair counts as one element); ``None`` for a type without a
    size."""
    # Compare class names: isinstance is slow when the answer is no.
    if type(attr) is IntegerType:
        return attr.width.data
    known = _BITS_BY_NAME.get(attr.name)
    if known is not None:
        return known
    if isinstance(attr, builtin.AnyFloat):
        return attr.bitwidth
    if isinstance(attr, builtin.VectorType):
        lane = bit_width(attr.element_type)
        count = 1
        for dim in attr.get_shape():
            count *= dim
        return None if lane is None else lane * count
    return None


def byte_width(attr: Attribute) -> int | None:
    """Returns the storage bytes of one element; ``None`` for a type without a size. A single 4-bit integer counts as
    one byte."""
    bits = bit_width(attr)
    return None if bits is None else max(1, bits // 8)


def is_float(attr: Attribute) -> bool:
    """Returns whether a type is a floating element type, low-precision ones included."""
    return isinstance(attr, (builtin.AnyFloat, *LOW_PRECISION_SCALARS))
