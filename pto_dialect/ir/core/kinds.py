"""Operand and result kinds: the coarse type classes that the declaration of an operation names.

A kind decides quickly whether an operand may have a type at all, and describes the allowed types for messages.
Everything finer (address spaces, element types, shapes) is a verification rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from xdsl.dialects import builtin
from xdsl.dialects.builtin import IntegerType, MemRefType, Signedness, VectorType
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, VerificationContext
from xdsl.utils.exceptions import VerifyException

from . import types as t
from .attributes import ENUMS, EnumAttr


@dataclass(frozen=True)
class Kind(AttrConstraint):
    """A set of types (or attributes) with a phrase that describes it.

    Attribute kinds also define the meaning of a bare token of the text: a keyword is a value of one of ``enums`` or one
    of ``words`` (or of ``synonyms``, other spellings of these, which the IR does not have), an integer without a type
    has the type ``integer``. ``default`` is the text of the value that an absent attribute means, empty where it means
    none.
    """

    label: str
    accepts: Callable[[Attribute], bool]
    enums: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    integer: IntegerType | None = None
    synonyms: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)
    default: str = field(default="", compare=False)

    def by_default(self, text: str) -> Kind:
        """Returns the same kind for an attribute whose absence means the value that ``text`` spells."""
        return replace(self, default=text)

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        """Raises ``VerifyException`` for an attribute that is not of this kind."""
        if not self.accepts(attr):
            raise VerifyException(f"expected {self.label}, found {attr}")

    def mapping_type_vars(self, type_var_mapping: object) -> Kind:
        """Returns the kind itself; it has no type variables."""
        return self


def _of(label: str, *classes: type[Attribute]) -> Kind:
    allowed = (*classes, t.OpaqueType)
    # isinstance is slow when the answer is no; attribute classes never change their bases.
    answers: dict[type[Attribute], bool] = {}

    def accepts(attr: Attribute) -> bool:
        answer = answers.get(type(attr))
        if answer is None:
            answer = answers[type(attr)] = isinstance(attr, allowed)
        return answer

    return Kind(label, accepts)


def _exact(*names: str) -> Kind:
    members = frozenset(t.BUILTIN_SCALARS[n] for n in names)
    return Kind(" or ".join(names), lambda attr: attr in members)


def _one_of(*types: Attribute) -> Kind:
    members = frozenset(types)
    return Kind(" or ".join(t.type_text(m) for m in types), lambda attr: attr in members)


def _is_signless(attr: Attribute) -> bool:
    return isinstance(attr, IntegerType) and attr.signedness.data is Signedness.SIGNLESS


def _is_scalar(attr: Attribute) -> bool:
    return isinstance(attr, (IntegerType, builtin.IndexType)) or t.is_float(attr)


def _mask(granularity: str) -> Kind:
    return Kind(
        f"!pto.mask<{granularity}>",
        lambda attr: isinstance(attr, t.MaskType) and attr.granularity == granularity,
    )


ANY = Kind("any type", lambda attr: True)
INDEX = _exact("index")
I1 = _exact("i1")
I16 = _exact("i16")
I32 = _exact("i32")
I64 = _exact("i64")
F32 = _exact("f32")
INTEGER = _of("an integer", IntegerType)
SIGNLESS = Kind("a signless integer", _is_signless)
FLOAT = Kind("a float", t.is_float)
SCALAR = Kind("an integer, index or float", _is_scalar)
INT_OR_FLOAT = Kind("an integer or float", lambda attr: isinstance(attr, IntegerType) or t.is_float(attr))
NUMBER = Kind("a signless integer or float", lambda attr: _is_signless(attr) or t.is_float(attr))
PAD_VALUE = _exact("i8", "i16", "i32", "f16", "bf16", "f32")
PTR = _of("!pto.ptr", t.PtrType)
PTR_OR_MEMREF = _of("!pto.ptr or memref", t.PtrType, MemRefType)
PAYLOAD = Kind(
    "a signless integer, float or !pto.ptr in fb",
    lambda attr: _is_signless(attr) or t.is_float(attr) or isinstance(attr, (t.PtrType, t.OpaqueType)),
)
MEMREF = _of("memref", MemRefType)
TILE = _of("!pto.tile_buf", t.TileBufType, t.TileType, MemRefType)
MULTI_TILE = _of("!pto.multi_tile_buf", t.MultiTileBufType)
TILE_OR_VIEW = _of(
    "a tile or view",
    t.TileBufType,
    t.TileType,
    t.TensorViewType,
    t.PartitionViewType,
    t.AsMemRefType,
    MemRefType,
)
PLACED = _of(
    "a tile or view, not a memref",
    t.TileBufType,
    t.TileType,
    t.TensorViewType,
    t.PartitionViewType,
    t.AsMemRefType,
)
STORAGE = _of(
    "an integer, !pto.ptr, memref, tile or view",
    IntegerType,
    builtin.IndexType,
    t.PtrType,
    MemRefType,
    t.TileBufType,
    t.TileType,
    t.TensorViewType,
    t.PartitionViewType,
)
TENSOR_VIEW = _of("!pto.tensor_view", t.TensorViewType)
PARTITION_VIEW = _of("!pto.partition_tensor_view", t.PartitionViewType)
VIEW = _of("a view", t.TensorViewType, t.PartitionViewType, MemRefType)
PTR_OR_VIEW = _of("!pto.ptr or a view", t.PtrType, t.TensorViewType, t.PartitionViewType, MemRefType)
ENTRY = _of("a tile or !pto.tensor_view", t.TileBufType, t.TileType, MemRefType, t.TensorViewType)
VREG = _of("!pto.vreg", t.VRegType)
MASK = _of("!pto.mask", t.MaskType)
MASK_B8 = _mask("b8")
MASK_B16 = _mask("b16")
MASK_B32 = _mask("b32")
VREG_OR_MASK = _of("!pto.vreg or !pto.mask", t.VRegType, t.MaskType)
ALIGN = _of("!pto.align", t.AlignType)
PIPE = _of("!pto.pipe", t.PipeType)
ASYNC_SESSION = _of("!pto.async_session", t.AsyncSessionType)
ASYNC_EVENT = _of("!pto.async_event", t.AsyncEventType)
PREFETCH_CONTEXT = _of("!pto.prefetch_async_context", t.PrefetchContextType)
EVENTID_ARRAY = _of("!pto.eventid_array", t.EventIdArrayType)
LOCAL_ARRAY = _of("!pto.local_array", t.LocalArrayType)
STRUCT = _of("!pto.struct", t.StructType)
VMI_VREG = _of("!pto.vmi.vreg", t.VmiVRegType)
VMI_MASK = _of("!pto.vmi.mask", t.VmiMaskType)
VMI_ANY = _of("!pto.vmi.vreg or !pto.vmi.mask", t.VmiVRegType, t.VmiMaskType)

_F16, _BF16, _F32 = builtin.f16, builtin.bf16, builtin.f32
_F16X2, _BF16X2 = VectorType(_F16, [2]), VectorType(_BF16, [2])
DEVICE_INTEGER = _exact("i8", "i16", "i32", "i64")
I32_OR_I64 = _exact("i32", "i64")
ATOMIC_VALUE = _one_of(t.I32, t.I64, _F16, _BF16, _F32, _F16X2, _BF16X2)
SHUFFLE_VALUE = _one_of(t.I32, t.I64, _F16, _F32, _F16X2)
SIMT_FLOAT = _one_of(_F16, _F32, _F16X2)
SIMT_FLOAT_ABS = _one_of(_F16, _F32, _F16X2, _BF16X2)
SIMT_FLOAT_FMA = _one_of(_F16, _F32, _BF16, _F16X2, _BF16X2)
CONVERTIBLE = Kind(
    "i32, i64, a float or a packed pair of floats",
    lambda attr: attr in (t.I32, t.I64) or t.is_float(attr) or isinstance(attr, VectorType),
)

ANY_ATTR = Kind("any attribute", lambda attr: True)
UNIT = Kind("a unit attribute", lambda attr: isinstance(attr, builtin.UnitAttr))
BOOL = Kind("true or false", lambda attr: isinstance(attr, builtin.IntegerAttr) and attr.type == t.I1)


def _integer_of(width: int) -> Kind:
    """Returns the attribute kind of a signless integer of ``width`` bits."""
    wanted = IntegerType(width)
    return Kind(
        f"an i{width} attribute",
        lambda attr: isinstance(attr, builtin.IntegerAttr) and attr.type == wanted,
        integer=wanted,
    )


I8_ATTR, I32_ATTR, I64_ATTR = _integer_of(8), _integer_of(32), _integer_of(64)
STRING = Kind("a string attribute", lambda attr: isinstance(attr, builtin.StringAttr))
SYMBOL = Kind("a symbol", lambda attr: isinstance(attr, builtin.SymbolRefAttr))
ARRAY = Kind("an array attribute", lambda attr: isinstance(attr, (builtin.ArrayAttr, builtin.DenseArrayBase)))


def enum(*names: str, default: str = "") -> Kind:
    """Returns the attribute kind of a value of one of the named enumerations; ``default`` is the value, of the first of
    them, that an absent attribute means."""
    wanted = frozenset(names)
    for name in names:
        ENUMS[name]
    label = " or ".join(ENUMS[n].spell("..") for n in names)
    absent = ENUMS[names[0]].spell(default) if default else ""
    return Kind(label, lambda attr: isinstance(attr, EnumAttr) and attr.data[0] in wanted, names, default=absent)


def words(*tokens: str, synonyms: Mapping[str, str] | None = None) -> Kind:
    """Returns the attribute kind of a string from a closed list; ``synonyms`` are other accepted spellings."""
    allowed = frozenset(tokens)
    return Kind(
        "one of " + ", ".join(tokens),
        lambda attr: isinstance(attr, builtin.StringAttr) and attr.data in allowed,
        words=tokens,
        synonyms=synonyms or {},
    )
