"""Attributes of an operation from the modes of a call: template values and enumerators of C++.

Source: docs/reference/enumerators.md, "Enumerations of form S".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import PtoOp, signature

if TYPE_CHECKING:
    from ..translate.interface import Call, Emitter

ENUMERATORS = {
    "RoundMode": ("round", "CAST_NONE CAST_RINT CAST_ROUND CAST_FLOOR CAST_CEIL CAST_TRUNC CAST_ODD"),
    "SaturationMode": ("sat", "ON OFF"),
    "CmpMode": ("cmp", "EQ NE LT LE GT GE"),
    "AtomicType": ("atomic", "AtomicNone AtomicAdd AtomicMax AtomicMin"),
    "NotifyOp": ("notify", "AtomicAdd Set"),
    "WaitCmp": ("wait", "EQ NE GT GE LT LE"),
    "ReduceOp": ("reduce", "Sum Max Min"),
}
"""Enumerations of arguments: their mode, and their enumerators by number."""

MODE_ATTRIBUTES = {
    "atomic": ("atomicType",),
    "relu": ("reluPreMode",),
    "phase": ("stPhase", "accPhase"),
    "round": ("rmode",),
    "sat": ("sat_mode",),
    "cmp": ("cmpMode",),
    "mask": ("maskPattern",),
    "axis": ("axis",),
    "precision": ("precisionType",),
    "tovec": ("accToVecMode",),
    "insert": ("tinsertMode",),
    "coalesce": ("coalesce",),
    "oob": ("gatherOob", "scatterOob"),
    "atomicop": ("scatterAtomicOp",),
    "conflict": ("scatterConflict",),
    "descending": ("descending",),
    "upper": ("upperOrLower",),
    "rounds": ("rounds",),
    "exhausted": ("exhausted",),
    "binary": ("isBinary",),
    "isBinary": ("isBinary",),
    "quant": ("quant_type",),
    "scalealg": ("quantScaleAlg",),
    "store": ("storeMode",),
    "grpaxis": ("grpAxis",),
    "interleave": ("interleave",),
    "byte": ("byte",),
    "format": ("printFormat",),
    "offset": ("offset",),
    "notify": ("notifyOp",),
    "wait": ("cmp",),
    "reduce": ("reduceOp",),
}
"""Attributes that a mode may be, of which an operation has one."""

_FLAGS = frozenset(("descending", "exhausted", "isBinary", "interleave"))
_NUMBERS = frozenset(("upperOrLower", "rounds", "byte", "offset"))
_WITHOUT_VALUES = frozenset(("phase",))
"""Modes that change no values, so that operations without them leave them out."""
_ELSEWHERE = frozenset(("fill", "pad", "split", "setctrl", "exec", "engine"))
"""Modes that other code reads, or that change neither values nor order."""
_MX = {
    "OcpMxFp8E4M3": ("MXFP8", "ocp"),
    "NvMxFp8E4M3": ("MXFP8", "nv"),
    "OcpMxFp4E2M1": ("MXFP4_E2M1", "ocp"),
    "NvMxFp4E2M1": ("MXFP4_E2M1", "nv"),
}
_PLAIN = frozenset(("NoRelu", "AtomicNone", "DEFAULT", "Unspecified", "Unknown"))
"""Enumerators that mean the same as none."""
_PLAIN_VALUES = frozenset(("no_relu", "atomic_none", "default", "unspecified"))
"""The same as values of attributes."""
_OTHER_NAMES = {"Unknown": "unspecified", "LAST": "last", "0": "axis0", "1": "axis1"}


def modes_of(call: Call, emitter: Emitter) -> dict[str, str]:
    """Returns the modes of a call, those of enumerators among its arguments included."""
    modes = dict(call.modes)
    if "mx" in modes:
        quant, scale = _MX.get(modes["mx"], ("", ""))
        if not quant:
            emitter.fail(f"{call.name} with {modes['mx']} has no counterpart in .pto")
        del modes["mx"]
        modes |= {"quant": quant, "scalealg": scale}
    for group in call.groups:
        if group.kind == "enum" and group.fields[0] in ENUMERATORS:
            key, names = ENUMERATORS[group.fields[0]]
            (operand,) = group.operands
            if not isinstance(operand.value, int) or not 0 <= operand.value < len(names.split()):
                emitter.fail(
                    f"{call.name}: its {group.fields[0]} is not constant",
                    "write the enumerator in the call, once in each branch that chooses one",
                )
            modes[key] = names.split()[operand.value]
    return modes


def attributes_of(op: type[PtoOp], modes: dict[str, str], call: Call, emitter: Emitter) -> dict[str, str]:
    """Returns the texts of the attributes that the modes of a call are."""
    declared = signature(op)
    found: dict[str, str] = {}
    for mode, value in modes.items():
        if mode in _ELSEWHERE:
            continue
        name = next((one for one in MODE_ATTRIBUTES.get(mode, ()) if one in declared.attributes), None)
        if name is None:
            if mode in _WITHOUT_VALUES or value in _PLAIN:
                continue
            emitter.fail(f"{call.name} with {mode} {value} has no counterpart in .pto")
        text = _text(name, value, op)
        if text is None:
            emitter.fail(f"{call.name} with {mode} {value} has no counterpart in .pto")
        if value not in _PLAIN:
            found[name] = text
    return found


def _text(name: str, value: str, op: type[PtoOp]) -> str | None:
    if name in _FLAGS:
        return "true" if value in ("1", "true") else "false"
    if name in _NUMBERS:
        number = value.rpartition("_")[2]
        return f"{number} : i32" if number.lstrip("-").isdigit() else None
    if name == "axis":
        return '"col"' if value.endswith("COL") else '"row"'
    enumeration = ENUMS[signature(op).attributes[name].kind.enums[0]]
    found = next((one for one in _spellings(value) if one in enumeration.values), None)
    return None if found is None else enumeration.spell(found)


def _spellings(enumerator: str) -> tuple[str, ...]:
    """Returns how the dialect may spell an enumerator of C++."""
    without_prefix = enumerator.removeprefix("CAST_")
    return enumerator, without_prefix, _OTHER_NAMES.get(enumerator, ""), _snake(enumerator), enumerator.lower()


def spells(enumerator: str, value: str) -> bool:
    """Returns whether an enumerator of C++ is a value of an attribute."""
    return value in _spellings(enumerator) or enumerator.rpartition("_")[2] in (value, value.upper())


def is_plain(value: str) -> bool:
    """Returns whether a value of an attribute means the same as none."""
    return value in _PLAIN_VALUES


def _snake(text: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()


__all__ = ["ENUMERATORS", "MODE_ATTRIBUTES", "attributes_of", "is_plain", "modes_of", "spells"]
