"""Queue operations between the cube core and the vector cores, as rules see them.

Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation, OpResult, SSAValue

from pto_dialect.ir.core.base import is_pto, op_spec
from pto_dialect.ir.core.facts.queues import C2V, V2C, QueueAction
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.types import TensorViewType, TileBufType
from pto_dialect.ir.core.walk import ancestors
from pto_dialect.ir.core_dialects.func import FuncOp

from .symbols import Symbols
from .type_facts import integer_attribute

CORE_INITS = ("pto.aic_initialize_pipe", "pto.aiv_initialize_pipe")
HANDLE_INITS = ("pto.initialize_l2l_pipe", "pto.initialize_l2g2l_pipe")
INITS = CORE_INITS + HANDLE_INITS
ID_OPERATIONS = (
    *("pto.tpush_to_aiv", "pto.talloc_to_aiv", "pto.tpop_from_aic", "pto.tfree_from_aic"),
    *("pto.tpush_to_aic", "pto.talloc_to_aic", "pto.tpop_from_aiv", "pto.tfree_from_aiv"),
)
HANDLE_OPERATIONS = ("pto.tpush", "pto.talloc", "pto.tpop", "pto.tfree")
QUANT_SETTERS = ("pto.set_quant_scalar", "pto.set_quant_vector")
"""Names of operations that rules are declared for: queues with ids and with handles, transfers on either, setters of
scales.

The class of an operation states what it does, see ``action_of``.
"""


def action_of(op: Operation) -> QueueAction | None:
    """Returns what ``op`` does on a queue; ``None`` for operations without a queue."""
    return op_spec(type(op)).queue if is_pto(op) else None


def is_pop(op: Operation) -> bool:
    """Returns True for operations that take an entry out of a queue."""
    action = action_of(op)
    return action is not None and action.role == "pop"


def is_push(op: Operation) -> bool:
    """Returns True for operations that put an entry into a queue."""
    action = action_of(op)
    return action is not None and action.role == "push"


def queue_id(op: Operation) -> int:
    """Id of the queue that ``op`` names; 0 by default."""
    return integer_attribute(op, "id") or 0


LOWERED_QUEUE_ID = "__pto.frontend_id"
"""Attribute of a queue with a handle: its id before lowering."""


def lowered_queue_id(init: Operation) -> int | None:
    """Returns the id of a queue with a handle before lowering, if stated."""
    return integer_attribute(init, LOWERED_QUEUE_ID)


def initialization_of_handle(op: Operation) -> Operation | None:
    """Returns the initialization that defines the queue handle of ``op``; ``None`` where it has none."""
    value = find(op, "pipe_handle")
    if not isinstance(value, OpResult):
        return None
    action = action_of(value.op)
    return value.op if action is not None and action.role == "init" else None


def entry(op: Operation) -> SSAValue | None:
    """Returns the tile or view that ``op`` transfers, binds or returns."""
    if op.results and isinstance(op.results[0].type, (TileBufType, TensorViewType)):
        return op.results[0]
    return find(op, "tile") or find(op, "entry")


def has_handle(init: Operation) -> bool:
    """Returns whether a queue is identified by its handle rather than by an id."""
    action = action_of(init)
    return action is not None and action.core is None


def uses_global_memory(init: Operation, arch: str) -> bool:
    """Returns whether the entries of a queue are stored in global memory, so that the receiver loads a tile it pops."""
    if has_handle(init):
        return find(init, "gm_addr") is not None
    if find(init, "gm_slot_tensor") is not None:
        return True
    return arch == "a2a3" and find(init, "gm_slot_buffer") is not None


def is_freed_by_pop(init: Operation, arch: str) -> bool:
    """Returns whether popping a tile frees its slot: the tile is loaded into a local slot, where it stays until a later
    pop loads another one. ``tfree`` then applies to views of slots only."""
    return arch == "a2a3" and uses_global_memory(init, arch)


def queue_of(op: Operation, by_id: Mapping[tuple[str, int], Operation]) -> Operation | None:
    """Returns the initialization of the queue that a transfer uses, among those ``by_id``: keys are core and id."""
    action = action_of(op)
    if action is None:
        return None
    return initialization_of_handle(op) if action.core is None else by_id.get((action.core, queue_id(op)))


def direction_mask(init: Operation) -> int:
    """Directions that a queue enables, as the bits ``C2V`` and ``V2C``."""
    return integer_attribute(init, "dir_mask") or 0


def slot_count(init: Operation) -> int:
    """Returns the number of slots of a queue: as stated, or 8 for one direction and 4 for two."""
    return integer_attribute(init, "slot_num") or (4 if direction_mask(init) == C2V | V2C else 8)


def nosplit(init: Operation) -> bool | None:
    """Returns the stated ``nosplit``, ``None`` when it is left to inference."""
    value = init.attributes.get("nosplit")
    return bool(value.value.data) if isinstance(value, IntegerAttr) else None


def definition(value: SSAValue | None) -> Operation | None:
    """Returns the operation that yields ``value``."""
    return value.op if isinstance(value, OpResult) else None


def string_attribute(op: Operation, name: str) -> str:
    """Returns a string attribute, empty when it is absent."""
    value = op.attributes.get(name)
    return value.data if isinstance(value, StringAttr) else ""


def peer_function(op: Operation, find: Callable[[Operation, str], Operation | None] | None = None) -> FuncOp | None:
    """Returns the function that an import names; ``find`` looks up symbols."""
    symbol = op.attributes.get("peer_func")
    if not isinstance(symbol, SymbolRefAttr):
        return None
    name = symbol.root_reference.data
    peer = (find or Symbols().find)(op, name)
    if isinstance(peer, FuncOp):
        return peer
    return _in_sibling_modules(op, name)


def _in_sibling_modules(op: Operation, name: str) -> FuncOp | None:
    """Returns the unique public function of that name in the sibling modules of the module of ``op``."""
    inner = next((parent for parent in ancestors(op) if isinstance(parent, ModuleOp)), None)
    outer = inner.parent_op() if inner is not None else None
    if not isinstance(outer, ModuleOp):
        return None
    functions = [
        function
        for outer_block in outer.body.blocks
        for module in outer_block.ops
        if isinstance(module, ModuleOp)
        for block in module.body.blocks
        for function in block.ops
        if isinstance(function, FuncOp)
        and function.sym_name.data == name
        and not (function.sym_visibility is not None and function.sym_visibility.data == "private")
    ]
    return functions[0] if len(functions) == 1 else None
