"""The types of `pto` in Python."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from xdsl.ir import Attribute as XAttribute

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attributes import ENUMS, OpaqueAttr, enum_attr
from pto_dialect.ir.core.types import PtoType
from pto_dialect.syntax.types.parser import intern_type

from ..ir.attributes import DYNAMIC, WRAPPERS, Attribute, read_attribute, unwrap, whole, wrap, wraps
from ..ir.context import Context, need_context
from ..ir.types import PlainType, Type, read_type
from .enums import ATTRIBUTE_CLASSES, ENUM_CLASSES


def _checked(made: PtoType) -> Any:
    """Returns the wrapper of a type as it is read from its text, where it is checked."""
    return wrap(read_type(str(made)))


def _sizes(shape: Any, what: str) -> list[int]:
    """Returns the dimensions of a sequence, or as many dynamic ones as a number says."""
    if not isinstance(shape, Sequence):
        return [t.DYNAMIC] * whole(shape, f"the shape of {what}")
    return [t.DYNAMIC if whole(one, f"a dimension of {what}") < 0 else int(one) for one in shape]


def _space(value: Any) -> str:
    """Returns the address space of an attribute."""
    attribute = value.attribute if hasattr(value, "attribute") else unwrap(value, "the memory space")
    kind = getattr(attribute, "kind", "")
    if kind != "address_space":
        raise TypeError(f"the memory space is an AddressSpaceAttr, found {value}")
    return attribute.value  # pyright: ignore[reportAttributeAccessIssue]


def _python_sizes(sizes: Sequence[int], dynamic: int = DYNAMIC) -> list[int]:
    return [dynamic if one == t.DYNAMIC else one for one in sizes]


class _WithElement(Type):
    """Base of types with an element type."""

    __slots__ = ()

    @property
    def element_type(self) -> Any:
        """The type of the elements."""
        return wrap(self._x.element)  # pyright: ignore[reportAttributeAccessIssue]


_SPACES = {"ub": "vec", "l1": "mat", "l0a": "left", "l0b": "right", "l0c": "acc", "bt": "bias", "fb": "scaling"}
"""Address spaces of pointers, with the names that enumerations have for them."""


@wraps(t.PtrType)
class PtrType(_WithElement):
    """A typed pointer into one memory."""

    @staticmethod
    def get(element_type: Any, memory_space: Any = None, context: Context | None = None) -> Any:
        """Returns the type of a pointer, by default to global memory."""
        if isinstance(memory_space, Context):
            memory_space = None
        of = unwrap(element_type, "the element type of a pointer")
        space = "gm" if memory_space is None else _space(memory_space)
        return wrap(read_type(f"!pto.ptr<{wrap(of)}, {space}>"))

    @property
    def memory_space(self) -> Any:
        """The memory."""
        space: str = self._x.space  # pyright: ignore[reportAttributeAccessIssue]
        return wrap(enum_attr("address_space", _SPACES.get(space, space)))


class _Lanes(_WithElement):
    __slots__ = ()

    @property
    def element_count(self) -> int:
        """The number of elements."""
        return self._x.lanes  # pyright: ignore[reportAttributeAccessIssue]


@wraps(t.VRegType)
class VRegType(_Lanes):
    """A vector register."""

    @staticmethod
    def get(element_count: int, element_type: Any, context: Context | None = None) -> Any:
        """Returns the type of registers with so many elements."""
        of = unwrap(element_type, "the element type of a register")
        return _checked(t.VRegType(whole(element_count, "the number of elements"), of))


@wraps(t.MaskType)
class MaskType(Type):
    """A predicate of vector registers."""

    @staticmethod
    def get(granularity: str, context: Context | None = None) -> Any:
        """Returns the type of predicates of one granularity."""
        need_context(context)
        return wrap(read_type(f"!pto.mask<{granularity}>"))

    @property
    def granularity(self) -> str:
        """``b8``, ``b16`` or ``b32``."""
        return self._x.granularity  # pyright: ignore[reportAttributeAccessIssue]


class _Layout(Type):
    __slots__ = ()

    @property
    def element_count(self) -> int:
        """The number of elements."""
        return self._x.lanes  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def layout(self) -> Any:
        """The layout; ``None`` without one."""
        found: XAttribute | None = self._x.layout  # pyright: ignore[reportAttributeAccessIssue]
        return None if found is None else wrap(found)


@wraps(t.VmiVRegType)
class VMIVRegType(_Layout):
    """A logical vector."""

    @staticmethod
    def get(element_count: int, element_type: Any, layout: Any = None, context: Context | None = None) -> Any:
        """Returns the type of logical vectors with so many elements."""
        of = unwrap(element_type, "the element type of a vector")
        fields = None if layout is None else unwrap(layout, "the layout")
        return _checked(t.VmiVRegType(whole(element_count, "the number of elements"), of, fields))

    @property
    def element_type(self) -> Any:
        """The type of the elements."""
        return wrap(self._x.element)  # pyright: ignore[reportAttributeAccessIssue]


@wraps(t.VmiMaskType)
class VMIMaskType(_Layout):
    """A logical predicate."""

    @staticmethod
    def get(element_count: int, granularity: str = "pred", layout: Any = None, context: Context | None = None) -> Any:
        """Returns the type of logical predicates with so many elements."""
        need_context(context)
        fields = None if layout is None else unwrap(layout, "the layout")
        return _checked(t.VmiMaskType(whole(element_count, "the number of elements"), granularity, fields))

    @property
    def granularity(self) -> str:
        """``pred``, ``b8``, ``b16`` or ``b32``."""
        return self._x.granularity  # pyright: ignore[reportAttributeAccessIssue]


_PLAIN = {
    "AlignType": t.AlignType,
    "AsyncSessionType": t.AsyncSessionType,
    "AsyncEventType": t.AsyncEventType,
    "PrefetchAsyncContextType": t.PrefetchContextType,
    "PipeType": t.PipeType,
    "EventType": t.EventType,
    "HiF8Type": t.Hif8Type,
    "HiF8x2Type": t.Hif8x2Type,
    "F8E8M0Type": t.F8E8M0Type,
    "BF16x2Type": t.Bf16x2Type,
    "F4E1M2x2Type": t.F4E1M2x2Type,
    "F4E2M1x2Type": t.F4E2M1x2Type,
}


def _plain(name: str, cls: type[PtoType]) -> type[Any]:
    of = intern_type(cls())
    fields = {"_type": of, "__doc__": f"The type `{of}`.", "__module__": __name__}
    return wraps(cls)(type(name, (PlainType,), fields))


@wraps(t.StructType)
class StructType(Type):
    """A structure of scalars."""

    @staticmethod
    def get(field_types: Sequence[Any], context: Context | None = None) -> Any:
        """Returns the type of structures with these fields."""
        if not field_types:
            raise ValueError("a struct has at least one field")
        return _checked(t.StructType([unwrap(one, "a field of a struct") for one in field_types]))

    @property
    def field_types(self) -> list[Any]:
        """The types of the fields."""
        return [wrap(one) for one in self._x.fields]  # pyright: ignore[reportAttributeAccessIssue]


@wraps(t.LocalArrayType)
class LocalArrayType(_WithElement):
    """An array in scalar registers."""


@wraps(t.EventIdArrayType)
class EventIdArrayType(Type):
    """An array of event ids."""


class _View(_WithElement):
    """Base of views of global memory."""

    __slots__ = ()

    _view: ClassVar[type[t.ShapedView]]

    @classmethod
    def get(cls, shape_or_rank: Any, element_type: Any, context: Context | None = None) -> Any:
        """Returns the type of views with these dimensions, or with so many dynamic ones."""
        of = unwrap(element_type, "the element type of a view")
        return _checked(cls._view(_sizes(shape_or_rank, "a view"), of))

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self._x.shape)  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def shape(self) -> list[int]:
        """The dimensions."""
        return _python_sizes(self._x.shape)  # pyright: ignore[reportAttributeAccessIssue]


@wraps(t.TensorViewType)
class TensorViewType(_View):
    """A view of global memory."""

    _view = t.TensorViewType


@wraps(t.PartitionViewType)
class PartitionTensorViewType(_View):
    """A part of a view of global memory."""

    _view = t.PartitionViewType


class _Tile(_WithElement):
    __slots__ = ()

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return 2

    @property
    def shape(self) -> list[int]:
        """The rows and columns."""
        return [self._x.rows, self._x.cols]  # pyright: ignore[reportAttributeAccessIssue]


@wraps(t.TileType)
class TileType(_Tile):
    """A tile value."""

    @staticmethod
    def get(shape: Sequence[int], element_type: Any, context: Context | None = None) -> Any:
        """Returns the type of tiles with these rows and columns."""
        need_context(context)
        rows, cols = _two(_sizes(shape, "a tile"))
        return _checked(t.TileType(rows, cols, unwrap(element_type, "the element type of a tile")))


def _two(sizes: list[int]) -> tuple[int, int]:
    if len(sizes) == 1:
        return 1, sizes[0]
    if len(sizes) != 2:
        raise ValueError(f"a tile has rows and columns, found {len(sizes)} dimensions")
    return sizes[0], sizes[1]


_CONFIG = re.compile(r"(\w+)\s*=\s*(?:#pto\.\w+<\s*(\w+)\s*>|(\w+))")
_CONFIG_KEYS = {"blayout": "blayout", "slayout": "slayout", "pad": "pad_value", "compact": "compact_mode"}


class TileBufConfigAttr(Attribute):
    """The layout of a tile."""

    @classmethod
    def _holds(cls, attribute: XAttribute) -> bool:
        return isinstance(attribute, OpaqueAttr) and attribute.data.startswith("#pto.tile_buf_config")

    @classmethod
    def get_default(cls, context: Context | None = None) -> Any:
        """Returns the layout of a tile whose layout is not stated."""
        need_context(context)
        return cls._make("row_major", "none_box", 512, "null", "null")

    @classmethod
    def get(
        cls,
        blayout: Any,
        slayout: Any,
        s_fractal_size: Any,
        pad: Any,
        context: Context | None = None,
        compact_mode: Any = None,
    ) -> Any:
        """Returns a layout."""
        need_context(context)
        fractal = getattr(s_fractal_size, "value", s_fractal_size)
        return cls._make(
            _word("BLayout", blayout),
            _word("SLayout", slayout),
            whole(fractal, "s_fractal_size"),
            _word("PadValue", pad),
            "null" if compact_mode is None else _word("CompactMode", compact_mode),
        )

    @classmethod
    def _make(cls, blayout: str, slayout: str, fractal: int, pad: str, compact: str) -> Any:
        return wrap(
            read_attribute(
                f"#pto.tile_buf_config<blayout={blayout}, slayout={slayout}, s_fractal_size={fractal}, "
                f"pad=#pto.pad_value<{pad}>, compact=#pto.compact_mode<{compact}>>"
            )
        )


def _word(name: str, value: Any) -> str:
    """Returns the enumerator of an enumeration, from it, its attribute or its number."""
    if isinstance(value, Attribute):
        attribute = value._x
        kind = ATTRIBUTE_CLASSES[f"{name}Attr"].KIND
        if getattr(attribute, "kind", "") == kind:
            return attribute.value  # pyright: ignore[reportAttributeAccessIssue]
        raise TypeError(f"expected a {name}Attr, found {value}")
    if isinstance(value, ENUM_CLASSES[name]):
        return value.attribute.value
    return ATTRIBUTE_CLASSES[f"{name}Attr"]._member(value).attribute.value


def config_fields(attribute: XAttribute) -> dict[str, Any]:
    """Returns the fields of a layout as arguments of a tile type."""
    fields: dict[str, Any] = {}
    for key, word, plain in _CONFIG.findall(attribute.data):  # pyright: ignore[reportAttributeAccessIssue]
        value = word or plain
        if key == "s_fractal_size":
            fields["fractal"] = int(value)
            continue
        values = ENUMS[_CONFIG_KEYS[key]].values
        number = int(value) if value.isdecimal() else values.index(value)
        fields[key] = number if key in ("pad", "compact") else values[number]
    return fields


WRAPPERS[OpaqueAttr] = lambda one: TileBufConfigAttr if TileBufConfigAttr._holds(one) else Attribute


@wraps(t.TileBufType)
class TileBufType(_Tile):
    """The handle of a tile in one memory."""

    @staticmethod
    def get(
        shape: Sequence[int],
        element_type: Any,
        memory_space: Any,
        valid_shape: Sequence[int | None] | None = None,
        config: Any = None,
        context: Context | None = None,
    ) -> Any:
        """Returns the type of tiles; ``None`` or a negative number in ``valid_shape`` is known at run time only."""
        need_context(context)
        rows, cols = _two(_sizes(shape, "a tile"))
        valid = rows, cols
        if valid_shape is not None:
            if len(valid_shape) != len(shape):
                raise RuntimeError("valid_shape rank must match shape rank")
            valid = _two(_sizes([-1 if one is None else one for one in valid_shape], "the valid shape"))
        fields: dict[str, Any] = {}
        if config is not None:
            attribute = unwrap(config, "the config of a tile")
            if not TileBufConfigAttr._holds(attribute):
                raise TypeError(f"the config of a tile is a TileBufConfigAttr, found {config}")
            fields = config_fields(attribute)
        of = unwrap(element_type, "the element type of a tile")
        return _checked(t.TileBufType(_space(memory_space), rows, cols, of, valid, **fields))

    @classmethod
    def upcast_type(cls, type: Any) -> Any:
        """Returns the type as one of tiles; ``None`` for others."""
        return cls(type) if cls.isinstance(type) else None

    def _field(self, name: str) -> Any:
        return getattr(self._x, name)

    @property
    def memory_space(self) -> Any:
        """The memory."""
        return wrap(enum_attr("address_space", self._field("loc")))

    @property
    def valid_shape(self) -> list[int]:
        """The valid rows and columns; the dynamic size of shapes for one that is known at run time only."""
        return _python_sizes([self._field("valid_rows"), self._field("valid_cols")])

    @property
    def blayout_attr(self) -> Any:
        """The layout of the blocks."""
        return wrap(enum_attr("blayout", self._field("blayout")))

    @property
    def slayout_attr(self) -> Any:
        """The layout inside of a block."""
        return wrap(enum_attr("slayout", self._field("slayout")))

    @property
    def blayout_value(self) -> int:
        """The number of the layout of the blocks."""
        return ENUMS["blayout"].values.index(self._field("blayout"))

    @property
    def slayout_value(self) -> int:
        """The number of the layout inside of a block."""
        return ENUMS["slayout"].values.index(self._field("slayout"))

    @property
    def pad_value(self) -> int:
        """The number of the padding."""
        return self._field("pad")

    @property
    def compact_mode(self) -> int:
        """The number of the compact mode."""
        return self._field("compact")

    @property
    def s_fractal_size(self) -> int:
        """The bytes of a fractal."""
        return self._field("fractal")


@wraps(t.MultiTileBufType)
class MultiTileBufType(Type):
    """Several tiles with one handle."""


TYPES: dict[str, Any] = {name: _plain(name, cls) for name, cls in _PLAIN.items()} | {
    cls.__name__: cls
    for cls in (
        PtrType,
        VRegType,
        MaskType,
        VMIVRegType,
        VMIMaskType,
        StructType,
        LocalArrayType,
        EventIdArrayType,
        TensorViewType,
        PartitionTensorViewType,
        TileType,
        TileBufType,
        MultiTileBufType,
        TileBufConfigAttr,
    )
}
"""Classes of types, and of the attribute that is a part of one, by name."""
