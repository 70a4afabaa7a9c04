"""Classes of `pto` whose constructors take their arguments in several forms."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Attribute as XAttribute
from xdsl.ir import SSAValue

from pto_dialect.ir.core.types import PartitionViewType
from pto_dialect.syntax.types.parser import intern_type

from ..declare import make_class
from ..ir.attributes import wrap
from ..ir.structure import value_of
from .enums import ENUM_CLASSES
from .signatures import form_of

_PartitionView = make_class(form_of("pto.partition_view"), module=__name__)


class PartitionViewOp(_PartitionView):
    """The operation `pto.partition_view`; the result type may be left out."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        stated = len(arguments) + sum(one in named for one in ("source", "offsets", "sizes"))
        if stated == 3 and "result" not in named:
            source = value_of(arguments[0] if arguments else named["source"], "argument source of PartitionViewOp")
            super().__init__(_part_of(source.type), *arguments, **named)
        else:
            super().__init__(*arguments, **named)


def _part_of(view: XAttribute) -> Any:
    shape = getattr(view, "shape", None)
    element = getattr(view, "element", None)
    if shape is None or element is None:
        raise TypeError(f"argument source of PartitionViewOp is a view, found {wrap(view)}")
    return wrap(intern_type(PartitionViewType([-1] * len(shape), element)))


_TScatter = make_class(form_of("pto.tscatter"), module=__name__)


class TScatterOp(_TScatter):
    """The operation `pto.tscatter`; the indices are before or after the destination, or a mask pattern is."""

    def __init__(self, src: Any, *arguments: Any, **named: Any) -> None:
        if len(arguments) > 2:
            raise TypeError(f"TScatterOp() takes 3 arguments by position, found {len(arguments) + 1}")
        rest = list(arguments)
        if rest and _is_pattern(rest[-1]):
            named["maskPattern"] = rest.pop()
        if len(rest) == 2:
            of = value_of(src, "argument src of TScatterOp").type
            first, second = (_type_of(one) == of for one in rest)
            named["dst"], named["indexes"] = rest if first and not second else reversed(rest)
        elif rest and "dst" in named:
            named["indexes"] = rest[0]
        elif rest:
            named["dst"] = rest[0]
        if named.get("indexes") is None and named.get("maskPattern") is None:
            raise TypeError("TScatterOp() needs indexes or maskPattern")
        super().__init__(src, **named)


def _is_pattern(value: Any) -> bool:
    pattern = ENUM_CLASSES["MaskPattern"]
    return isinstance(value, pattern) or getattr(getattr(value, "_x", None), "kind", "") == "mask_pattern"


def _type_of(value: Any) -> XAttribute | None:
    found = getattr(value, "_x", None)
    if isinstance(found, SSAValue):
        return found.type
    return value_of(value, "an argument of TScatterOp").type


SPECIAL_CLASSES: dict[str, Any] = {"pto.partition_view": PartitionViewOp, "pto.tscatter": TScatterOp}
"""Classes that are not made by the rule alone, by mnemonic."""
