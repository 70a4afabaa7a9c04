"""The enumerations of `pto` in Python, and the classes of their attributes."""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar

from xdsl.ir import Attribute as XAttribute

from pto_dialect.ir.core.attributes import ENUM_ALIASES, ENUMS, EnumAttr, enum_attr

from ..ir.attributes import WRAPPERS, Attribute, unwrap, wrap
from ..ir.context import Context, need_context

_PRECISION = "Default HighPrecision"
_NAMES: dict[str, tuple[str, str]] = {
    "AddressSpace": ("address_space", "Zero GM MAT LEFT RIGHT ACC VEC BIAS SCALING"),
    "FenceScope": ("fence_scope", "LocalMemory GM All"),
    "BLayout": ("blayout", "RowMajor ColMajor"),
    "SLayout": ("slayout", "NoneBox RowMajor ColMajor"),
    "PadValue": ("pad_value", "Null Zero Max Min"),
    "CompactMode": ("compact_mode", "Null Normal RowPlusOne"),
    "RoundMode": ("round_mode", "NONE RINT ROUND FLOOR CEIL TRUNC ODD"),
    "DivPrecision": ("div_precision", _PRECISION),
    "ExpPrecision": ("exp_precision", _PRECISION),
    "LogPrecision": ("log_precision", _PRECISION),
    "RecipPrecision": ("recip_precision", _PRECISION),
    "RemPrecision": ("rem_precision", _PRECISION),
    "RsqrtPrecision": ("rsqrt_precision", _PRECISION),
    "SqrtPrecision": ("sqrt_precision", _PRECISION),
    "FmodPrecision": ("fmod_precision", _PRECISION),
    "PowPrecision": ("pow_precision", _PRECISION),
    "SaturationMode": ("saturation_mode", "ON OFF"),
    "CmpMode": ("cmp", "EQ NE LT LE GT GE"),
    "PIPE": ("pipe", " ".join(ENUMS["pipe"].values)),
    "Layout": ("layout", "ND DN NZ MX_A_ZZ MX_B_NN"),
    "AccToVecMode": ("acc_to_vec_mode", "SingleModeVec0 SingleModeVec1 DualModeSplitM DualModeSplitN"),
    "TInsertMode": ("tinsert_mode", "SPLIT2 SPLIT4"),
    "ReluPreMode": ("relu_pre_mode", "NoRelu NormalRelu"),
    "AtomicType": ("atomic_type", "AtomicNone AtomicAdd AtomicMax AtomicMin"),
    "NotifyOp": ("notify_op", "AtomicAdd Set"),
    "WaitCmp": ("wait_cmp", "EQ NE GT GE LT LE"),
    "ReduceOp": ("reduce_op", "Sum Max Min"),
    "SyncOpType": ("sync_op_type", " ".join(ENUMS["sync_op_type"].values)),
    "EVENT": ("event", " ".join(ENUMS["event"].values)),
    "MaskPattern": ("mask_pattern", " ".join(ENUMS["mask_pattern"].values)),
    "Coalesce": ("coalesce", "Row Elem"),
    "QuantType": ("quant_type", "INT8_SYM INT8_ASYM MXFP8 MXFP4_E2M1"),
    "QuantScaleAlg": ("quant_scale_alg", "OCP NV"),
    "MxGroupAxis": ("mx_group_axis", "Axis0 Axis1"),
    "VecStoreMode": ("vec_store_mode", "ND NZ"),
}
"""Python class to enumeration and the Python names of its enumerators, in the order of their encoding."""

_FIRST = {"mask_pattern": 1, "tinsert_mode": 2}
"""The numbers of first enumerators that are not 0."""

_NUMBERS = {"PIPE_UNASSIGNED": 99}

_MORE = {"RoundMode": {"CAST_RINT": 7}}
"""Enumerators in Python that programs spell as another one (``ENUM_ALIASES``), with their numbers."""


class PtoEnum(Enum):
    """Base of the enumerations."""

    @property
    def kind(self) -> str:
        """The name of the enumeration in programs."""
        return _NAMES[type(self).__name__][0]

    @property
    def attribute(self) -> EnumAttr:
        """The enumerator in programs."""
        names = _NAMES[type(self).__name__][1].split()
        name = ENUM_ALIASES.get(self.kind, {}).get(self.name, self.name)
        return enum_attr(self.kind, ENUMS[self.kind].values[names.index(name)])

    def __int__(self) -> int:
        return self.value

    __index__ = __int__


def _make_enum(name: str) -> type[PtoEnum]:
    kind, names = _NAMES[name]
    first = _FIRST.get(kind, 0)
    members = {member: _NUMBERS.get(member, first + number) for number, member in enumerate(names.split())}
    found: Any = PtoEnum(name, members | _MORE.get(name, {}), module=__package__)
    return found


class EnumAttribute(Attribute):
    """Base of the attributes of enumerations."""

    __slots__ = ()

    ENUM: ClassVar[type[PtoEnum]]
    KIND: ClassVar[str]

    @classmethod
    def _holds(cls, attribute: XAttribute) -> bool:
        return isinstance(attribute, EnumAttr) and attribute.kind == cls.KIND

    @classmethod
    def get(cls, value: Any, context: Context | None = None) -> Any:
        """Returns the attribute of an enumerator, or of its number."""
        need_context(context)
        return wrap(cls._member(value).attribute)

    @classmethod
    def _member(cls, value: Any) -> PtoEnum:
        number = value if isinstance(value, int) else getattr(value, "value", None)
        if not isinstance(number, int) or (isinstance(value, PtoEnum) and not isinstance(value, cls.ENUM)):
            found = type(value).__name__
            raise TypeError(f"{cls.__name__}.get takes {cls.ENUM.__name__} or a number, found {found}")
        try:
            return cls.ENUM(number)
        except ValueError:
            raise ValueError(f"{cls.ENUM.__name__} has no enumerator {number}") from None

    def member(self) -> PtoEnum:
        """Returns the enumerator."""
        spelled: str = self._x.value  # pyright: ignore[reportAttributeAccessIssue]
        return list(self.ENUM)[ENUMS[self.KIND].values.index(spelled)]

    @property
    def value(self) -> Any:
        """The number of the enumerator."""
        return self.member().value


class CmpModeAttr(EnumAttribute):
    """How values are compared."""

    @classmethod
    def get(cls, context: Any, value: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Returns the attribute of an enumerator; the context comes first."""
        if isinstance(value, Context):
            context, value = value, context
        need_context(context)
        return wrap(cls._member(value).attribute)


class MaskPatternAttr(EnumAttribute):
    """Which elements are taken."""

    @property
    def value(self) -> Any:
        """The enumerator."""
        return self.member()

    @property
    def int_value(self) -> int:
        """The number of the enumerator."""
        return self.member().value

    @classmethod
    def get_legacy_raw(cls, value: int, context: Context | None = None) -> Any:
        """Returns the attribute of a number of older releases, of which some mean the same pattern today."""
        need_context(context)
        if value not in _LEGACY_PATTERNS:
            raise ValueError(f"the numbers of older patterns are {sorted(_LEGACY_PATTERNS)}, found {value}")
        return wrap(enum_attr("mask_pattern", _LEGACY_PATTERNS[value]))


_LEGACY_PATTERNS = {0: "P0101", 3: "P0010", 4: "P0100", 5: "P1000"}


def attribute_name(name: str) -> str:
    """Returns the name of the class of the attributes of an enumeration."""
    return f"{name.capitalize() if name.isupper() else name}Attr"


def _make_attribute(name: str, enum: type[PtoEnum]) -> type[EnumAttribute]:
    special = {"CmpMode": CmpModeAttr, "MaskPattern": MaskPatternAttr}.get(name)
    kind = _NAMES[name][0]
    if special is None:
        doc = f"An attribute of the enumeration `{kind}`."
        special = type(attribute_name(name), (EnumAttribute,), {"__doc__": doc, "__module__": __name__})
    special.ENUM, special.KIND = enum, kind
    return special


ENUM_CLASSES: dict[str, type[PtoEnum]] = {name: _make_enum(name) for name in _NAMES}
"""Enumerations by Python name."""

ATTRIBUTE_CLASSES: dict[str, type[EnumAttribute]] = {
    attribute_name(name): _make_attribute(name, enum) for name, enum in ENUM_CLASSES.items()
}
"""Classes of attributes of enumerations by Python name."""

_by_kind = {cls.KIND: cls for cls in ATTRIBUTE_CLASSES.values()}
WRAPPERS[EnumAttr] = lambda one: _by_kind.get(one.kind, Attribute)


def enumerator(value: Any, name: str) -> XAttribute:
    """Returns the attribute of an enumeration from an enumerator, its name, or the attribute."""
    enum = ENUM_CLASSES[name]
    if isinstance(value, enum):
        return value.attribute
    if isinstance(value, str):
        kind = _NAMES[name][0]
        spelled = ENUM_ALIASES.get(kind, {}).get(value.upper(), value.upper())
        if spelled not in ENUMS[kind].values:
            raise ValueError(f"{name} has no enumerator {value!r}")
        return enum_attr(kind, spelled)
    return unwrap(value, f"the {name}")
