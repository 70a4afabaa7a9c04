"""The control register of a core, whose bits change what operations compute.

Source: docs/reference/execution.md, "Registers of a core".
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..translate.interface import Call, Emitter


def _refuse(reason: str, help: str = "") -> Callable[[Call, Emitter], None]:
    def fail(call: Call, emitter: Emitter) -> None:
        emitter.fail(f"{call.name} has no counterpart in .pto: {reason}", help)

    return fail


def _stop(call: Call, emitter: Emitter) -> None:
    emitter.emit("pto.trap")


def _check(call: Call, emitter: Emitter) -> None:
    (group,) = call.groups
    condition = emitter.scalar(group.operands[0], "i1")
    text = "".join(letter if letter.isprintable() else " " for letter in group.descriptor.partition(":")[2])
    emitter.emit(f"cf.assert {condition}, {json.dumps(text, ensure_ascii=False)}")


_BITS = _refuse(
    "operations of tiles do not read the control register", "state modes in the calls, such as SaturationMode"
)
CONTROL_CALLS: dict[str, Callable[[Call, Emitter], None]] = {
    "SetMadTF32Mode": _refuse("products of f32 tiles have the precision of f32"),
    "set_ctrl": _BITS,
    **dict.fromkeys(
        [f"set_atomic_{mode}" for mode in ("add", "max", "min", "f32", "f16", "bf16", "s32", "s16", "s8")],
        _refuse("stores of tiles state their atomic operation", "write TSTORE<Tile, Global, AtomicType::AtomicAdd>"),
    ),
    "assert": _check,
    "trap": _stop,
}
"""Functions that change the control register or stop the core, and checks."""

__all__ = ["CONTROL_CALLS"]
