"""Attributes that are lists: arrays, dictionaries, dense arrays and the elements of vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from xdsl.dialects import builtin as xb
from xdsl.ir import Attribute as XAttribute

from .attributes import WRAPPERS, Attribute, NamedAttribute, unwrap, wrap, wraps
from .context import Context, need_context


class _Elements(Attribute):
    """Base of attributes that are lists."""

    __slots__ = ()

    def _elements(self) -> list[Any]:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._elements())

    def __getitem__(self, index: Any) -> Any:
        return self._elements()[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._elements())


@wraps(xb.ArrayAttr)
class ArrayAttr(_Elements):
    """A list of attributes."""

    @staticmethod
    def get(attributes: Sequence[Any], context: Context | None = None) -> ArrayAttr:
        """Returns the attribute of a list."""
        if not isinstance(attributes, Iterable):
            raise TypeError(f"ArrayAttr.get takes a list, found {type(attributes).__name__}")
        return wrap(xb.ArrayAttr([unwrap(one, "an element of ArrayAttr.get") for one in attributes]))

    def _elements(self) -> list[Any]:
        return [wrap(one) for one in self._x.data]  # pyright: ignore[reportAttributeAccessIssue]

    def __add__(self, other: Sequence[Any]) -> ArrayAttr:
        return ArrayAttr.get([*self, *other])


@wraps(xb.DictionaryAttr)
class DictAttr(Attribute):
    """Attributes by name."""

    @staticmethod
    def get(value: Mapping[str, Any] | None = None, context: Context | None = None) -> DictAttr:
        """Returns the attribute of a dictionary."""
        need_context(context)
        if value is not None and not isinstance(value, Mapping):
            raise TypeError(f"DictAttr.get takes a dictionary, found {type(value).__name__}")
        entries = {key: unwrap(one, f"entry {key!r} of DictAttr.get") for key, one in (value or {}).items()}
        return wrap(xb.DictionaryAttr(entries))

    def _entries(self) -> dict[str, Any]:
        return {key: wrap(one) for key, one in self._x.data.items()}  # pyright: ignore[reportAttributeAccessIssue]

    def __contains__(self, name: str) -> bool:
        return name in self._entries()

    def __len__(self) -> int:
        return len(self._entries())

    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, str):
            return self._entries()[key]
        return NamedAttribute(*list(self._entries().items())[key])

    def __iter__(self) -> Iterator[NamedAttribute]:
        return iter([NamedAttribute(*entry) for entry in self._entries().items()])


class _DenseArray(_Elements):
    """Base of dense arrays of one element type."""

    __slots__ = ()

    _classes = (xb.DenseArrayBase,)
    _element: ClassVar[Any]

    @classmethod
    def _holds(cls, attribute: XAttribute) -> bool:
        return isinstance(attribute, xb.DenseArrayBase) and attribute.elt_type == cls._element

    @classmethod
    def get(cls, values: Sequence[Any], context: Context | None = None) -> Any:
        """Returns the attribute of a list of numbers."""
        need_context(context)
        return wrap(xb.DenseArrayBase.from_list(cls._element, [int(one) for one in values]))

    def _elements(self) -> list[Any]:
        return list(self._x.get_values())  # pyright: ignore[reportAttributeAccessIssue]


class DenseBoolArrayAttr(_DenseArray):
    """Truth values."""

    _element = xb.i1

    def _elements(self) -> list[Any]:
        return [bool(one) for one in super()._elements()]


class DenseI8ArrayAttr(_DenseArray):
    """Numbers of type i8."""

    _element = xb.i8


class DenseI16ArrayAttr(_DenseArray):
    """Numbers of type i16."""

    _element = xb.IntegerType(16)


class DenseI32ArrayAttr(_DenseArray):
    """Numbers of type i32."""

    _element = xb.i32


class DenseI64ArrayAttr(_DenseArray):
    """Numbers of type i64."""

    _element = xb.i64


class _DenseFloatArray(_DenseArray):
    __slots__ = ()

    @classmethod
    def get(cls, values: Sequence[Any], context: Context | None = None) -> Any:
        """Returns the attribute of a list of numbers."""
        need_context(context)
        return wrap(xb.DenseArrayBase.from_list(cls._element, [float(one) for one in values]))


class DenseF32ArrayAttr(_DenseFloatArray):
    """Numbers of type f32."""

    _element = xb.f32


class DenseF64ArrayAttr(_DenseFloatArray):
    """Numbers of type f64."""

    _element = xb.f64


_DENSE: dict[XAttribute, type[_DenseArray]] = {
    one._element: one
    for one in (
        DenseBoolArrayAttr,
        DenseI8ArrayAttr,
        DenseI16ArrayAttr,
        DenseI32ArrayAttr,
        DenseI64ArrayAttr,
        DenseF32ArrayAttr,
        DenseF64ArrayAttr,
    )
}
WRAPPERS[xb.DenseArrayBase] = lambda one: _DENSE.get(one.elt_type, Attribute)


class DenseElementsAttr(_Elements):
    """The elements of a vector or tensor."""

    _classes = (xb.DenseIntOrFPElementsAttr,)

    @classmethod
    def get_splat(cls, shaped_type: Any, element_attr: Attribute) -> Any:
        """Returns the attribute whose elements are all the same."""
        number = getattr(element_attr, "value", None)
        if not isinstance(number, (int, float)):
            raise TypeError(f"element_attr is a number as an attribute, found {element_attr}")
        return cls._of(shaped_type, [number])

    @classmethod
    def get(cls, attrs: Any, shaped_type: Any = None, context: Context | None = None, **options: Any) -> Any:
        """Returns the attribute of a list of attributes, or of an array of numbers."""
        of = shaped_type if shaped_type is not None else options.get("type")
        if of is None:
            raise TypeError("DenseElementsAttr.get needs shaped_type")
        values = attrs.ravel().tolist() if hasattr(attrs, "ravel") else [getattr(one, "value", one) for one in attrs]
        return cls._of(of, values)

    @classmethod
    def _of(cls, shaped_type: Any, values: list[Any]) -> Any:
        of: Any = unwrap(shaped_type, "shaped_type")
        if not isinstance(of, (xb.VectorType, xb.TensorType)):
            raise TypeError(f"shaped_type is a vector or tensor, found {shaped_type}")
        return wrap(xb.DenseIntOrFPElementsAttr.from_list(of, values))

    @property
    def is_splat(self) -> bool:
        """Whether all elements are the same."""
        return len(set(self._elements())) == 1

    def get_splat_value(self) -> Any:
        """Returns the element that all are."""
        of: Any = self._x.get_element_type()  # pyright: ignore[reportAttributeAccessIssue]
        value = self._elements()[0]
        return wrap(xb.FloatAttr(value, of) if isinstance(of, xb.AnyFloat) else xb.IntegerAttr(value, of))

    def _elements(self) -> list[Any]:
        return list(self._x.get_values())  # pyright: ignore[reportAttributeAccessIssue]


class DenseIntElementsAttr(DenseElementsAttr):
    """The elements of a vector or tensor of integers."""

    @classmethod
    def _holds(cls, attribute: XAttribute) -> bool:
        kind = attribute.get_element_type() if isinstance(attribute, xb.DenseIntOrFPElementsAttr) else None
        return isinstance(kind, (xb.IntegerType, xb.IndexType))


class DenseFPElementsAttr(DenseElementsAttr):
    """The elements of a vector or tensor of floating-point numbers."""

    @classmethod
    def _holds(cls, attribute: XAttribute) -> bool:
        return isinstance(attribute, xb.DenseIntOrFPElementsAttr) and not DenseIntElementsAttr._holds(attribute)


WRAPPERS[xb.DenseIntOrFPElementsAttr] = lambda one: (
    DenseIntElementsAttr if DenseIntElementsAttr._holds(one) else DenseFPElementsAttr
)
