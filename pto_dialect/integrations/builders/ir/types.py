"""Types: `Type` and the builtin types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from xdsl.dialects import builtin as xb
from xdsl.ir import Attribute as XAttribute
from xdsl.ir import TypeAttribute

from pto_dialect.diagnostics.render import shortened
from pto_dialect.ir.core.types import BUILTIN_SCALARS
from pto_dialect.syntax.errors.types import TypeSyntaxError
from pto_dialect.syntax.types.parser import intern_type, parse_type

from .attributes import DYNAMIC, WRAPPERS, Attribute, StridedLayoutAttr, _plain, unwrap, whole, wrap, wraps
from .context import Context, Location, need_context
from .errors import MLIRError
from .layouts import LayoutError, packed_strides, strides_of, with_layout
from .texts import plain_text


def read_type(text: str) -> XAttribute:
    """Returns the type with this text. Raises ``MLIRError`` where there is none."""
    plain = plain_text(text, "asm").strip()
    try:
        found = parse_type(plain)
        return intern_type(with_layout(found)) if isinstance(found, xb.MemRefType) else found
    except (TypeSyntaxError, LayoutError) as error:
        raise MLIRError(f"cannot read the type {text!r}: {error}") from None


class Type(Attribute):
    """A type of values."""

    _classes = (TypeAttribute,)

    @staticmethod
    def parse(asm: str, context: Context | None = None) -> Any:
        """Returns the type with this text. Raises ``MLIRError`` where there is none."""
        need_context(context)
        return wrap(read_type(asm))

    @property
    def type(self) -> Any:
        """Raises ``AttributeError``: only values and attributes have a type."""
        raise AttributeError(f"{type(self).__name__} has no attribute 'type': it is a type")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"


_plain[True] = Type


class PlainType(Type):
    """Base of types without parameters."""

    __slots__ = ()

    _type: ClassVar[XAttribute]

    @classmethod
    def get(cls, context: Context | None = None) -> Any:
        """Returns the type."""
        need_context(context)
        return wrap(cls._type)


class FloatType(Type):
    """A floating-point type."""

    _classes = (xb.AnyFloat,)

    @property
    def width(self) -> int:
        """The number of bits."""
        return self._x.bitwidth  # pyright: ignore[reportAttributeAccessIssue]


def _scalar(name: str, spelling: str, base: type[Type] = FloatType) -> type[Any]:
    found = BUILTIN_SCALARS.get(spelling)
    of = parse_type(spelling) if found is None else found
    fields = {"_type": of, "_classes": (type(of),), "__doc__": f"The type `{spelling}`.", "__module__": __name__}
    return wraps(type(of))(type(name, (PlainType, base), fields))


IndexType = _scalar("IndexType", "index", Type)
NoneType = _scalar("NoneType", "none", Type)
F16Type = _scalar("F16Type", "f16")
BF16Type = _scalar("BF16Type", "bf16")
F32Type = _scalar("F32Type", "f32")
F64Type = _scalar("F64Type", "f64")
FloatTF32Type = _scalar("FloatTF32Type", "tf32")
Float8E4M3FNType = _scalar("Float8E4M3FNType", "f8E4M3FN")
Float8E4M3Type = _scalar("Float8E4M3Type", "f8E4M3")
Float8E5M2Type = _scalar("Float8E5M2Type", "f8E5M2")


@wraps(xb.IntegerType)
class IntegerType(Type):
    """An integer type."""

    @staticmethod
    def get_signless(width: int, context: Context | None = None) -> IntegerType:
        """Returns ``iN``."""
        return _integer(width, xb.Signedness.SIGNLESS, context)

    @staticmethod
    def get_signed(width: int, context: Context | None = None) -> IntegerType:
        """Returns ``siN``."""
        return _integer(width, xb.Signedness.SIGNED, context)

    @staticmethod
    def get_unsigned(width: int, context: Context | None = None) -> IntegerType:
        """Returns ``uiN``."""
        return _integer(width, xb.Signedness.UNSIGNED, context)

    @property
    def width(self) -> int:
        """The number of bits."""
        return self._x.width.data  # pyright: ignore[reportAttributeAccessIssue]

    def _sign(self) -> xb.Signedness:
        return self._x.signedness.data  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def is_signless(self) -> bool:
        """Whether it is ``iN``."""
        return self._sign() is xb.Signedness.SIGNLESS

    @property
    def is_signed(self) -> bool:
        """Whether it is ``siN``."""
        return self._sign() is xb.Signedness.SIGNED

    @property
    def is_unsigned(self) -> bool:
        """Whether it is ``uiN``."""
        return self._sign() is xb.Signedness.UNSIGNED


def _integer(width: int, sign: xb.Signedness, context: Context | None) -> IntegerType:
    need_context(context)
    bits = whole(width, "the width of an integer type")
    if not 0 < bits < 1 << 24:
        raise ValueError(f"the width of an integer type is positive, found {bits}")
    return wrap(intern_type(xb.IntegerType(bits, sign)))


@wraps(xb.FunctionType)
class FunctionType(Type):
    """The type of a function."""

    @staticmethod
    def get(inputs: Sequence[Any], results: Sequence[Any], context: Context | None = None) -> FunctionType:
        """Returns the type of functions with these arguments and results."""
        takes = [unwrap(one, "an input of FunctionType.get") for one in inputs]
        gives = [unwrap(one, "a result of FunctionType.get") for one in results]
        return wrap(xb.FunctionType.from_lists(takes, gives))

    @property
    def inputs(self) -> list[Any]:
        """The types of the arguments."""
        return [wrap(one) for one in self._x.inputs.data]  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def results(self) -> list[Any]:
        """The types of the results."""
        return [wrap(one) for one in self._x.outputs.data]  # pyright: ignore[reportAttributeAccessIssue]


class ShapedType(Type):
    """A type with a shape."""

    _classes = (xb.ShapedType,)

    @staticmethod
    def get_dynamic_size() -> int:
        """Returns the number that stands for a dynamic dimension."""
        return DYNAMIC

    @staticmethod
    def get_dynamic_stride_or_offset() -> int:
        """Returns the number that stands for a dynamic stride or offset."""
        return DYNAMIC

    @property
    def element_type(self) -> Any:
        """The type of the elements."""
        return wrap(self._x.element_type)  # pyright: ignore[reportAttributeAccessIssue]

    def _shape(self) -> tuple[int, ...]:
        return tuple(self._x.get_shape())  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def has_rank(self) -> bool:
        """Whether the number of dimensions is known."""
        return True

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self._shape())

    @property
    def shape(self) -> list[int]:
        """The dimensions."""
        return [DYNAMIC if one < 0 else one for one in self._shape()]

    @property
    def has_static_shape(self) -> bool:
        """Whether all dimensions are known."""
        return all(one >= 0 for one in self._shape())

    def get_dim_size(self, dim: int) -> int:
        """Returns a dimension."""
        return self.shape[dim]

    def is_dynamic_dim(self, dim: int) -> bool:
        """Returns whether a dimension is known at run time only."""
        return self._shape()[dim] < 0

    def is_dynamic_size(self, size: int) -> bool:
        """Returns whether a number stands for a dynamic dimension."""
        return size == DYNAMIC

    def is_dynamic_stride_or_offset(self, number: int) -> bool:
        """Returns whether a number stands for a dynamic stride or offset."""
        return number == DYNAMIC


def _sizes(shape: Sequence[int], what: str) -> list[int]:
    return [-1 if whole(one, f"a dimension of {what}") < 0 else int(one) for one in shape]


@wraps(xb.MemRefType)
class MemRefType(ShapedType):
    """A memref."""

    @staticmethod
    def get(
        shape: Sequence[int],
        element_type: Any,
        layout: Attribute | None = None,
        memory_space: Attribute | None = None,
        loc: Location | None = None,
    ) -> MemRefType:
        """Returns the type of a memref. Raises ``MLIRError`` for a layout of another rank."""
        # Affine maps are attributes with a text.
        if layout is not None and not str(layout).startswith(("strided<", "affine_map<")):
            raise TypeError(f"the layout of a memref has strides or is an affine map, found {layout}")
        dims = "".join("?x" if one < 0 else f"{one}x" for one in _sizes(shape, "a memref"))
        parts = [f"{dims}{element_type}", *(str(one) for one in (layout, memory_space) if one is not None)]
        return wrap(read_type(f"memref<{', '.join(parts)}>"))

    @property
    def memory_space(self) -> Any:
        """The memory space; ``None`` without one."""
        found = self._x.memory_space  # pyright: ignore[reportAttributeAccessIssue]
        return None if isinstance(found, xb.NoneAttr) else wrap(found)

    @property
    def layout(self) -> Any:
        """The layout; ``None`` without one."""
        found = self._x.layout  # pyright: ignore[reportAttributeAccessIssue]
        return None if isinstance(found, xb.NoneAttr) else wrap(found)

    def get_strides_and_offset(self) -> tuple[list[int], int]:
        """Returns the strides and the offset, in elements.

        Numbers that are known at run time only are ``ShapedType.get_dynamic_stride_or_offset()``.

        Raises:
            RuntimeError: the layout is an affine map that is no sum of multiples of its dimensions.
        """
        layout = self.layout
        if layout is None:
            return packed_strides(self.shape), 0
        if isinstance(layout, StridedLayoutAttr):
            return layout.strides, layout.offset
        found = strides_of(layout._x.data) if isinstance(layout._x, xb.AffineMapAttr) else None
        if found is None:
            raise RuntimeError(f"{shortened(str(self))} has no strides and offset: its layout is no sum of multiples")
        return found


@wraps(xb.VectorType)
class VectorType(ShapedType):
    """A vector."""

    @staticmethod
    def get(shape: Sequence[int], element_type: Any, loc: Location | None = None, **options: Any) -> VectorType:
        """Returns the type of a vector."""
        sizes = _sizes(shape, "a vector")
        of = unwrap(element_type, "the element type of a vector")
        return wrap(intern_type(xb.VectorType(of, sizes)))


@wraps(xb.TensorType)
class RankedTensorType(ShapedType):
    """A tensor."""

    @staticmethod
    def get(shape: Sequence[int], element_type: Any, encoding: Any = None, loc: Any = None) -> RankedTensorType:
        """Returns the type of a tensor."""
        of = unwrap(element_type, "the element type of a tensor")
        sizes = _sizes(shape, "a tensor")
        if encoding is None:
            return wrap(intern_type(xb.TensorType(of, sizes)))
        return wrap(intern_type(xb.TensorType(of, sizes, unwrap(encoding, "the encoding of a tensor"))))

    @property
    def encoding(self) -> Any:
        """The encoding; ``None`` without one."""
        found = self._x.encoding  # pyright: ignore[reportAttributeAccessIssue]
        return None if isinstance(found, xb.NoneAttr) else wrap(found)


@wraps(xb.UnrankedTensorType)
class UnrankedTensorType(Type):
    """A tensor with any number of dimensions."""


@wraps(xb.ComplexType)
class ComplexType(Type):
    """A complex number."""

    @staticmethod
    def get(element_type: Any, context: Context | None = None) -> ComplexType:
        """Returns the type of complex numbers with these parts."""
        return wrap(read_type(f"complex<{wrap(unwrap(element_type, 'the element type'))}>"))

    @property
    def element_type(self) -> Any:
        """The type of the parts."""
        return wrap(self._x.element_type)  # pyright: ignore[reportAttributeAccessIssue]


@wraps(xb.UnrankedMemRefType)
class UnrankedMemRefType(Type):
    """A memref with any number of dimensions."""


@wraps(xb.TupleType)
class TupleType(Type):
    """A tuple of types."""

    @staticmethod
    def get_tuple(elements: Sequence[Any], context: Context | None = None) -> TupleType:
        """Returns the type of a tuple."""
        types: Any = tuple(unwrap(one, "an element of a tuple type") for one in elements)
        return wrap(xb.TupleType(types))

    @property
    def num_types(self) -> int:
        """The number of elements."""
        return len(self._x.types)  # pyright: ignore[reportAttributeAccessIssue]

    def get_type(self, pos: int) -> Any:
        """Returns the type of an element."""
        return wrap(self._x.types.data[pos])  # pyright: ignore[reportAttributeAccessIssue]


class OpaqueType(Type):
    """A type of a dialect that is not known."""

    @classmethod
    def _holds(cls, attribute: XAttribute) -> bool:
        return False


WRAPPERS.setdefault(TypeAttribute, lambda one: Type)
