"""Stores that signal other cores: a message is written to the address that ``set_ffts_base_addr`` states.

Source: docs/cpp.md, "Operations".
"""

from __future__ import annotations

from collections.abc import Iterator

from pto_dialect.verify.sync.flow import SIGNAL_BASE

from ..llvm.model import Instruction, Value
from .context import Context
from .interface import Operand

SET_SIGNAL_BASE = "set_ffts_base_addr"


def sources_of(address: object) -> Iterator[Value]:
    """Yields the pointer that an integer is made of, if it is made of one."""
    if isinstance(address, Instruction) and address.opcode == "ptrtoint" and isinstance(address.operands[0], Value):
        yield address.operands[0]


def send_signal(message: Operand, ctx: Context) -> None:
    """Emits the signal of a message: bits 4 and 5 have its mode, bits 8 to 11 its flag. The scalar unit sends it."""
    if not isinstance(message.value, int):
        ctx.fail("the message that is stored as a signal between cores is not constant", "use ffts_cross_core_sync")
    mode, flag = message.value >> 4 & 3, message.value >> 8 & 15
    ctx.writer.emit(signal_text("PIPE_S", str(flag), mode, has_base=True))


def signal_text(pipe: str, flag: str, mode: int, *, has_base: bool) -> str:
    """Returns the statement that sends a flag between cores; ``has_base`` if the kernel sets the memory of its
    signals."""
    base = f", {SIGNAL_BASE}" if has_base else ""
    return f"pto.sync.set <{pipe}>, {flag} {{ffts_mode = {mode} : i32{base}}}"
