"""The control register of a core: modes of the matrix unit, and what kernels set themselves.

Source: docs/reference/execution.md, "Registers of a core".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .sync import numbers_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..translate.interface import Call, Emitter

_TF32, _TF32_AWAY = 46, 47
"""Bits of the control register: products of f32 in tf32, and its rounding."""
_ROUNDINGS = {1: False, 2: True}
"""Whether halves are rounded away from zero, by the enumerator of ``RoundMode``."""


def _with_bit(word: str, bit: int, value: bool, emitter: Emitter) -> str:
    mask = 1 << bit
    if value:
        return emitter.define(f"arith.ori {word}, {emitter.constant(mask, 'i64')} : i64", "ctrl")
    return emitter.define(f"arith.andi {word}, {emitter.constant(~mask, 'i64')} : i64", "ctrl")


def _use_tf32(call: Call, emitter: Emitter) -> None:
    numbers = numbers_of(call)
    rounding = numbers.constant(0, "the rounding mode", emitter) if numbers.values else 2
    if rounding not in _ROUNDINGS:
        emitter.fail("SetMadTF32Mode rounds with CAST_ROUND or CAST_RINT")
    word = emitter.define("pto.get_ctrl : i64", "ctrl")
    word = _with_bit(word, _TF32, True, emitter)
    word = _with_bit(word, _TF32_AWAY, _ROUNDINGS[rounding], emitter)
    emitter.emit(f"pto.set_ctrl {word} : i64")


def _use_f32(call: Call, emitter: Emitter) -> None:
    word = emitter.define("pto.get_ctrl : i64", "ctrl")
    emitter.emit(f"pto.set_ctrl {_with_bit(word, _TF32, False, emitter)} : i64")


def _set(call: Call, emitter: Emitter) -> None:
    emitter.emit(f"pto.set_ctrl {emitter.cast(numbers_of(call).values[0], 'i64')} : i64")


def _stop(call: Call, emitter: Emitter) -> None:
    emitter.emit("pto.trap")


CONTROL_CALLS: dict[str, Callable[[Call, Emitter], None]] = {
    "SetMadTF32Mode": _use_tf32,
    "ResetMadMode": _use_f32,
    "set_ctrl": _set,
    "trap": _stop,
}
"""Functions that change the control register or stop the core."""

__all__ = ["CONTROL_CALLS"]
