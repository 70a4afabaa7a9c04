"""Flags, barriers, signals between cores, caches, and where a kernel runs.

Source: docs/reference/execution.md, "Synchronisation".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pto_dialect.ir.core.attributes import EnumAttr

from ..operations.queries import MACHINE
from ..operations.sync import PIPES, SYNC_CORES
from .buffers import groups_of, number_of, tensor
from .errors import fail
from .expression import Expr, cast
from .writer import Writer, emits

if TYPE_CHECKING:
    from xdsl.ir import Operation

_BLOCK_MODE = 2
"""The mode of signals between the cores of a block."""
_FACTS = {
    "block_idx": "get_block_idx",
    "block_num": "get_block_num",
    "subblock_idx": "get_subblockid",
    "subblock_num": "get_subblockdim",
}
"""Functions by the names of facts."""
_CORES = {word: name for name, word in SYNC_CORES.items()}
_FUNCTIONS = {mnemonic: _FACTS[name] for name, mnemonic in MACHINE.items()}
_OPERATIONS = {
    "TLOAD": "PIPE_MTE2",
    "TSTORE_ACC": "PIPE_FIX",
    "TSTORE_VEC": "PIPE_MTE3",
    "TMOV_M2L": "PIPE_MTE1",
    "TMOV_M2S": "PIPE_FIX",
    "TMOV_M2B": "PIPE_MTE1",
    "TMOV_M2V": "PIPE_FIX",
    "TMOV_V2M": "PIPE_FIX",
    "TMATMUL": "PIPE_M",
    "TVEC": "PIPE_V",
    "TVECWAIT_EVENT": "PIPE_V",
}
"""Pipes of the classes of operations that events name."""


def _word(op: Operation, name: str) -> str:
    attribute = op.attributes[name]
    assert isinstance(attribute, EnumAttr)
    return attribute.value


def pipe(op: Operation, name: str) -> str:
    """Returns the pipe that an attribute names."""
    word = _word(op, name)
    found = _OPERATIONS.get(word, word)
    if found not in PIPES.values():
        fail(op, f"{word} is no pipe in C++")
    return found


@emits("pto.set_flag", "pto.wait_flag")
def emit_flag(op: Operation, w: Writer) -> None:
    """A flag between two pipes."""
    name = op.name.removeprefix("pto.")
    w.line(f"{name}({pipe(op, 'src_pipe')}, {pipe(op, 'dst_pipe')}, {_word(op, 'event_id')});")


@emits("pto.record_event", "pto.wait_event")
def emit_event(op: Operation, w: Writer) -> None:
    """A flag between the pipes of two operations."""
    name = "set_flag" if op.name == "pto.record_event" else "wait_flag"
    w.line(f"{name}({pipe(op, 'src_op')}, {pipe(op, 'dst_op')}, {_word(op, 'event_id')});")


@emits("pto.set_flag_dyn", "pto.wait_flag_dyn")
def emit_computed_flag(op: Operation, w: Writer) -> None:
    """A flag whose number is computed."""
    name = op.name.removeprefix("pto.").removesuffix("_dyn")
    event = cast("event_t", w.get(op.operands[0], op))
    w.line(f"{name}({pipe(op, 'src_pipe')}, {pipe(op, 'dst_pipe')}, {event.text});")


@emits("pto.barrier")
def emit_barrier(op: Operation, w: Writer) -> None:
    """Later work of a pipe waits for its earlier work."""
    w.line(f"pipe_barrier({pipe(op, 'pipe')});")


@emits("pto.barrier_sync")
def emit_operation_barrier(op: Operation, w: Writer) -> None:
    """A barrier on the pipe of an operation."""
    w.line(f"pipe_barrier({pipe(op, 'op_type')});")


@emits(*_FUNCTIONS)
def emit_fact(op: Operation, w: Writer) -> None:
    """Where the kernel runs."""
    if list(op.results[0].uses):
        w.declare(op, Expr(f"{_FUNCTIONS[op.name]}()"))


def _flag_number(op: Operation, w: Writer) -> str:
    stated = number_of(op.attributes.get("event_id"))
    dynamic = groups_of(op).get("event_id_dyn", ())
    return str(stated) if stated is not None else w.get(dynamic[0], op).text


@emits("pto.sync.set")
def emit_signal(op: Operation, w: Writer) -> None:
    """A signal to the other cores of a block."""
    mode = number_of(op.attributes.get("ffts_mode"))
    number = _flag_number(op, w)
    if w.shared.target == "a5":
        w.line(f"set_intra_block({pipe(op, 'pipe')}, {number});")
        return
    message = f"0x1 | (0x{_BLOCK_MODE if mode is None else mode:x} << 4) | ({number} << 8)"
    w.line(f"ffts_cross_core_sync({pipe(op, 'pipe')}, {message});")


@emits("pto.sync.wait")
def emit_await(op: Operation, w: Writer) -> None:
    """Waits for the signal of the other cores."""
    if w.shared.target == "a5":
        w.line(f"wait_intra_block({pipe(op, 'pipe')}, {_flag_number(op, w)});")
        return
    w.line(f"wait_flag_dev({_flag_number(op, w)});")


@emits("pto.set_intra_block", "pto.wait_intra_block")
def emit_block_signal(op: Operation, w: Writer) -> None:
    """A signal to one core of the block."""
    w.line(f"{op.name.removeprefix('pto.')}({pipe(op, 'pipe')}, {_flag_number(op, w)});")


@emits("pto.set_ffts")
def emit_signal_memory(op: Operation, w: Writer) -> None:
    """Where the signals of the cores are."""
    w.line(f"set_ffts_base_addr((uint64_t){w.get(op.operands[0], op).at(8)});")


@emits("pto.get_ctrl")
def emit_control(op: Operation, w: Writer) -> None:
    """The control register."""
    if list(op.results[0].uses):
        w.declare(op, Expr("(int64_t)get_ctrl()"))


@emits("pto.syncall")
def emit_all_cores(op: Operation, w: Writer) -> None:
    """A barrier over the cores of all blocks."""
    groups = groups_of(op)
    core = f"SyncCoreType::{_CORES[_word(op, 'core_type')]}"
    if _word(op, "mode") == "hard":
        w.line(f"SYNCALL<{core}>();")
        return
    if groups["ub_workspace"] or groups["l1_workspace"] or not groups["gm_workspace"]:
        fail(op, "pto.syncall over memory on the chip has no form in C++", "give it a workspace in global memory")
    workspace = tensor(groups["gm_workspace"][0], op, w).text
    cores = f", {w.get(groups['used_cores'][0], op).text}" if groups["used_cores"] else ""
    w.line(f"SYNCALL<SyncAllMode::Soft, {core}>({workspace}{cores});")


@emits("pto.dsb")
def emit_memory_barrier(op: Operation, w: Writer) -> None:
    """Waits for accesses of the scalar unit."""
    w.line(f"dsb(DSB_{_word(op, 'mem')});")


@emits("pto.dcci")
def emit_cache(op: Operation, w: Writer) -> None:
    """Writes back the data cache."""
    target = f", {_word(op, 'dst')}" if "dst" in op.attributes else ""
    w.line(f"dcci({w.get(op.operands[0], op).text}, {_word(op, 'cache')}{target});")


__all__: list[str] = []
