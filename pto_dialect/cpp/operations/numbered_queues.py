"""Queues that both cores identify by a number: those whose pushes convert, and those whose pops state valid sizes.

Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pto_dialect.verify.sync.pipe_epilogue import QUANTS

from .statement import Named, dictionary, group
from .tiles import index_name, tile_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..translate.interface import Call, Emitter
    from .operands import Operands
    from .tiles import Extent

_QUANTS = {
    0: "no_convert",
    1: "f32_f16",
    2: "f32_bf16",
    3: "deqf16_scalar",
    4: "deqf16_vec",
    5: "qf322b8_pre_scalar",
    6: "qf322b8_pre_vec",
    9: "req8_scalar",
    10: "req8_vec",
    19: "qf322f16_pre_scalar",
    21: "qf322bf16_pre_scalar",
    23: "qs322bf16_pre_scalar",
    24: "qs322bf16_pre_vec",
    25: "qf322hif8_pre_scalar",
    27: "qf322fp8_pre_scalar",
}
"""Conversions by the number that the headers give them (``QuantMode_t``)."""
_RELUS = {"NoRelu": "no_relu", "NormalRelu": "normal_relu"}
_OTHERS = {"vector": "aic", "cube": "aiv"}
_OWN = {"vector": "aiv", "cube": "aic"}
_SCALED = "scaled queues"


class NumberedQueue(NamedTuple):
    """A queue with its number, and what its pushes do: the texts of layout, conversion and relu."""

    number: int
    epilogue: tuple[str, str, str] | None


def numbered(number: int, pushes: Sequence[str], emitter: Emitter) -> NumberedQueue:
    """Returns a queue whose converting pushes have the given names with modes."""
    if emitter.core not in _OWN:
        emitter.fail("a queue is between the cube core and the vector cores", "compile the kernel for both cores")
    found = {_epilogue(name, emitter) for name in pushes}
    if len(found) > 1:
        emitter.fail("pushes into one TPipe convert in one way", "give each conversion a TPipe with flags of its own")
    return NumberedQueue(number, found.pop() if found else None)


def _epilogue(name: str, emitter: Emitter) -> tuple[str, str, str]:
    modes = dict(part.split("=") for part in name.split(";")[1:])
    quant, relu = _QUANTS.get(int(modes.get("quant", "0"))), _RELUS.get(modes.get("relu", "NoRelu"))
    if quant is None or relu is None:
        emitter.fail("this conversion of TPUSH has no counterpart in .pto", "convert the tile after TPOP")
    return modes.get("layout", "NZ2ND").lower(), quant, relu


def define_numbered(
    queue: NumberedQueue, fields: dict[str, str], buffers: dict[str, Named], emitter: Emitter
) -> NumberedQueue:
    """Emits the definition of one end of a queue."""
    stated = {"id": str(queue.number), **fields}
    if queue.epilogue is not None:
        layout, quant, relu = queue.epilogue
        # What is converted is moved as a whole, whatever the type of the TPipe says.
        stated["nosplit"] = "true"
        stated["acc_push_epilogue"] = f"#pto.acc_push_epilogue<layout = {layout}, quant = {quant}, relu = {relu}>"
        scaled = emitter.state.setdefault(_SCALED, [])
        assert isinstance(scaled, list)
        scaled.append(queue)
    listed = ", ".join(f"{name} = {value.name} : {value.type}" for name, value in buffers.items())
    emitter.emit(f"pto.{_OWN[emitter.core]}_initialize_pipe{dictionary(stated)}({listed})")
    return queue


def push_numbered(queue: NumberedQueue, tile: Named, split: int, core: str, emitter: Emitter) -> None:
    """Emits the push of a tile; ``core`` is the clause with the vector core that the call states."""
    text = f"pto.tpush_to_{_OTHERS[emitter.core]}({tile.name} : {tile.type}) {_entry(queue, split)}"
    emitter.emit(text + core)


def free_numbered(queue: NumberedQueue, split: int, emitter: Emitter) -> None:
    """Emits the return of a slot."""
    emitter.emit(f"pto.tfree_from_{_OTHERS[emitter.core]} {_entry(queue, split)}")


def pop_numbered(
    queue: NumberedQueue, type_: str, valid: Sequence[Extent], split: int, core: str, label: str, emitter: Emitter
) -> Named:
    """Emits a pop, and returns the tile."""
    sizes = ""
    if "?" in type_:
        sizes = f"({', '.join(index_name(size, emitter) for size in valid)})"
    text = f"pto.tpop_from_{_OTHERS[emitter.core]}{sizes} {_entry(queue, split)}{core} -> {type_}"
    return Named(emitter.define(text, label or "tile"), type_)


def _entry(queue: NumberedQueue, split: int) -> str:
    return f"{{id = {queue.number}, split = {split}}}"


def set_scale(call: Call, emitter: Emitter, known: Operands) -> None:
    """Emits the scale of the next pushes, for each queue that takes a scale of this kind."""
    kind = "scalar" if call.name == "SET_QUANT_SCALAR" else "vector"
    scaled = emitter.state.get(_SCALED, [])
    assert isinstance(scaled, list)
    queues = [one for one in scaled if QUANTS[one.epilogue[1]].scale == kind]
    if not queues:
        emitter.fail(f"{call.name} sets the scale of no TPUSH in this kernel", "state the scale in TMOV or TSTORE")
    (operand,) = call.groups
    if kind == "scalar":
        value = Named(emitter.scalar(operand.operands[0], "f32"), "f32")
    else:
        value = known.value(tile_of(operand, emitter), call)
    for queue in queues:
        emitter.emit(f"pto.set_quant_{kind}({group([value])}) {{id = {queue.number}}}")


__all__ = [
    "NumberedQueue",
    "define_numbered",
    "free_numbered",
    "numbered",
    "pop_numbered",
    "push_numbered",
    "set_scale",
]
