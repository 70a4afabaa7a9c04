"""What an operation touches is what it declares: `reads`, `writes` and pipes against runs on memory of known content.

The tables that the sanitizers, the checks of the text and every transformation trust are tried operation by operation:
bytes of each operand are changed and compared, and an instrumented run lists every access.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from all_forms import TARGETS
from operand_numbers import EVERYWHERE, LIMITS, SCALARS
from sampling import sampled
from single_operations import REFUSALS, Statement, Touched, Trial, statements, statements_of

from pto_dialect.families import level_of
from pto_dialect.ir.core.base import Pipe, op_spec
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.registry import all_op_classes, family_of
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.runtime.kernels.registry import find
from pto_dialect.targets.op_availability import MICRO_LEVELS

MORE = {
    "a5": """
func.func @comm(%d: !pto.partition_tensor_view<256xf32>, %a: !pto.partition_tensor_view<128xf32>,
                %b: !pto.partition_tensor_view<128xf32>, %t: !pto.tile_buf<vec, 1x128xf32>) {
  pto.comm.tgather(%d, recv(%t), group(%a, %b) : !pto.partition_tensor_view<256xf32>, !pto.tile_buf<vec, 1x128xf32>,
    !pto.partition_tensor_view<128xf32>, !pto.partition_tensor_view<128xf32>) {root = 0 : i32}
  pto.comm.tscatter(%d, recv(%t), group(%a, %b) : !pto.partition_tensor_view<256xf32>, !pto.tile_buf<vec, 1x128xf32>,
    !pto.partition_tensor_view<128xf32>, !pto.partition_tensor_view<128xf32>) {root = 0 : i32}
  return
}
func.func @compacted(%x: !pto.vreg<64xf32>, %m: !pto.mask<b32>, %p: !pto.ptr<f32, ub>) {
  %a = pto.init_align : !pto.align
  %v = pto.vsqz %x, %m : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>
  %b = pto.vstur %a, %v, %p, "POST_UPDATE" : !pto.align, !pto.vreg<64xf32>, !pto.ptr<f32, ub> -> !pto.align
  return
}
func.func @padding(%a: !pto.tile_buf<vec, 32x32xf32, valid=20x20>, %b: !pto.tile_buf<vec, 32x32xf32, pad=2>) {
  pto.tfillpad_inplace ins(%a : !pto.tile_buf<vec, 32x32xf32, valid=20x20>)
    outs(%b : !pto.tile_buf<vec, 32x32xf32, pad=2>)
  return
}
""",
}
"""Statements besides those of the round-trip programs, where these have no content that shows an effect."""


def extra_statements() -> list[Statement]:
    """The operations of ``MORE``."""
    return [statement for target, text in MORE.items() for statement in statements_of(text, target)]


STAGED = "the transfer goes at once, without the tile that the hardware stages it in"
QUEUED = "an entry of a queue, which only the other end of it shows: tests of queues"
UNSEEN: dict[str, dict[str, str]] = {
    "pto.comm.build_async_session": {
        "scratch": "transfers end at once: a session has no state",
        "workspace": "transfers end at once: a session has no state",
    },
    "pto.mte_l0c_ub": {"destination": "the place is in the memory of the vector core, see ELSEWHERE"},
    "pto.mte_l1_l0a_mx": {"destination": "the scales go to the memory beside the place, see ELSEWHERE"},
    "pto.mte_l1_l0b_mx": {"destination": "the scales go to the memory beside the place, see ELSEWHERE"},
    "pto.syncall": {"gm_workspace": "cores wait for each other without a counter in memory"},
    "pto.talloc": {"entry": "the handle of a place in a queue; its bytes come later"},
    "pto.tpush": {"tile": QUEUED},
    "pto.tprefetch": {"src": "a hint; no result depends on it"},
    "pto.tprefetch_async": {"src": "a hint; no result depends on it"},
    "pto.tsync": {"events": "a name for the order of operations; no bytes are looked at"},
    "pto.vldas": {"source": "the bytes show in the vldus after it"},
    "pto.vstar": {"destination": "stored by the vstur before it already"},
    "pto.vstas": {"destination": "stored by the vstus before it already"},
}
"""Declared operands whose bytes no run changes or depends on, with the reason."""

for _name in ("tbroadcast", "tgather", "tget", "tput", "treduce", "tscatter"):
    UNSEEN[f"pto.comm.{_name}"] = dict.fromkeys(("ping", "pong", "acc", "recvPing", "recvPong"), STAGED)

ELSEWHERE: dict[str, dict[str, str]] = {
    "pto.mte_l0c_ub": {"ub": "destination"},
    "pto.mte_l1_l0a_mx": {"scale_left": "destination"},
    "pto.mte_l1_l0b_mx": {"scale_right": "destination"},
    # With accToVecMode dst is the location in the memory of the second vector core as well.
    **{f"pto.{move}": {"ub": "dst"} for move in ("tmov", "textract", "tinsert")},
}
"""Memories of the core for which an operand stands that gives only the address in them."""

STATES = {"mx_scale": {"scale_left", "scale_right"}}
"""Memories that are state of the machine, by the name of that state."""

ENGINES: dict[str, Pipe] = dict.fromkeys(("pto.comm.tput_async", "pto.comm.tget_async"), Pipe.S)
"""Pipes in whose turn the work of other engines is done."""

UNTRIED = {
    "pto.comm.test_async_event": "asks about a transfer, which has ended",
    "pto.comm.wait_async_event": "asks about a transfer, which has ended",
    "pto.eventid_array_get": "an array in registers",
    "pto.eventid_array_set": "an array in registers",
    "pto.keep": "keeps a value in a register",
    "pto.local_array_get": "an array in registers",
    "pto.local_array_set": "an array in registers",
    "pto.struct_get": "fields in registers",
    "pto.struct_set": "fields in registers",
    "pto.set_quant_vector": "needs both ends of a queue",
    "pto.simt_launch": "runs a function",
    "pto.tfree": "needs both ends of a queue",
    "pto.tfree_from_aic": "needs both ends of a queue",
    "pto.tfree_from_aiv": "needs both ends of a queue",
    "pto.tpop": "needs both ends of a queue",
    "pto.tpush_to_aic": "needs both ends of a queue",
    "pto.tpush_to_aiv": "needs both ends of a queue",
}
"""Operations that run and declare operands in memory, and have no statement that runs alone, with the reason."""


def by_name() -> dict[str, list[Statement]]:
    """Statements by operation, those that run."""
    found: dict[str, list[Statement]] = {}
    for statement in (*statements(), *extra_statements()):
        if find(statement.op.name) is not None:
            found.setdefault(statement.op.name, []).append(statement)
    return found


STATEMENTS = by_name()


def trials(name: str) -> Iterator[tuple[Statement, Touched]]:
    """What runs of the statements of an operation touch; those that cannot run alone are left out."""
    for statement in STATEMENTS[name]:
        try:
            trial = Trial(statement, EVERYWHERE | SCALARS.get(name, {}), LIMITS.get(name, {}))
            yield statement, trial.touched()
        except REFUSALS:
            continue


def undeclared(found: list[set[str]], declared: set[str], states: tuple[str, ...], name: str) -> list[set[str]]:
    """What of ``found`` no declaration covers; bytes that no operand of the operation stands for do not count."""
    allowed = declared.union(*(STATES.get(state, set()) for state in states))
    places = ELSEWHERE.get(name, {})
    return [roles for roles in found if roles and not {places.get(role, role) for role in roles} & allowed]


def is_micro(statement: Statement) -> bool:
    """True for instructions of a vector scope or of work-items."""
    return level_of(family_of(type(statement.op))) in MICRO_LEVELS


def check_touched(statement: Statement, found: Touched) -> None:
    """A run touches what the record of the form says, and on the pipes that it says."""
    name, label, spec = statement.op.name, statement.label, op_spec(type(statement.op))
    form = form_of(statement.op, statement.target, statement.backend)
    reads, writes = set(form.reads), set(form.writes)
    assert not undeclared(found.used, reads, spec.state_reads, name), f"{label} depends on what it does not read"
    # A kernel may read a destination to keep part of it; results must not depend on that.
    assert not undeclared(found.reads, reads | writes, spec.state_reads, name), f"{label} reads more than declared"
    assert not undeclared(found.changed, writes, spec.state_writes, name), f"{label} changes what it does not write"
    assert not undeclared(found.writes, writes, spec.state_writes, name), f"{label} writes more than declared"
    assert not found.unseen, f"{label}: {found.unseen}"
    pipes = {one.value for one in (*form.pipes, ENGINES.get(name)) if one is not None}
    assert found.pipes <= pipes, f"{label} runs on {found.pipes}"
    # What is in a scope is part of one instruction of the vector pipe.
    if found.changed and pipes - {"PIPE_S"} and not (pipes == {"PIPE_V"} and is_micro(statement)):
        assert found.pipes, f"{label} runs on no pipe"
    # Contents that are undefined afterwards are overwritten, so that nobody gets along with them.
    undefined = {role for role in form.clobbered if role in statement.memory_operands}
    assert undefined <= {role for roles in found.changed for role in roles}, f"{label} leaves {undefined} as it was"
    touched = {role for roles in (*found.changed, *found.used) for role in roles if len(roles) == 1}
    assert not touched & set(form.unused), f"{label} touches {touched & set(form.unused)}"


@pytest.mark.parametrize("name", [name for name in STATEMENTS if name not in UNTRIED])
def test_an_operation_touches_what_it_declares(name: str) -> None:
    used: set[str] = set()
    changed: set[str] = set()
    present: set[str] = set()
    tried = 0
    for statement, found in trials(name):
        tried += 1
        check_touched(statement, found)
        places = ELSEWHERE.get(name, {})
        used |= {places.get(role, role) for roles in found.used for role in roles}
        changed |= {places.get(role, role) for roles in found.changed for role in roles}
        present |= statement.memory_operands - set(form_of(statement.op, statement.target).unused)
    assert tried, "no statement of it runs alone: the reason belongs into UNTRIED"
    spec = op_spec(type(STATEMENTS[name][0].op))
    unseen = ((set(spec.reads) - used) | (set(spec.writes) - changed)) & present
    reasons = UNSEEN.get(name, {}).keys()
    assert unseen <= reasons, f"declared and never seen: {unseen - reasons}"


def other_forms(name: str) -> Iterator[Statement]:
    """The statements of a tile operation on the other target and through the other backend, one for each choice of
    operands."""
    seen: set[object] = set()
    for statement in STATEMENTS[name]:
        for target, backend in TARGETS:
            other = replace(statement, target=target, backend=backend)
            key = (target, backend, tuple(operand for operand, _ in statement.operands))
            usual = (target, backend) == (statement.target, "emitc")
            if usual or key in seen or is_micro(statement) or not form_of(statement.op, target, backend).available:
                continue
            seen.add(key)
            yield other


@pytest.mark.parametrize("name", sampled((name for name in STATEMENTS if name not in UNTRIED), 2))
def test_an_operation_touches_what_it_declares_on_other_targets(name: str) -> None:
    for statement in other_forms(name):
        try:
            found = Trial(statement, EVERYWHERE | SCALARS.get(name, {}), LIMITS.get(name, {})).touched()
        except REFUSALS:
            continue
        check_touched(statement, found)


def test_every_operation_with_effects_on_memory_is_tried() -> None:
    declaring = {
        cls.name
        for cls in all_op_classes()
        if find(cls.name) is not None and (op_spec(cls).reads or op_spec(cls).writes)
    }
    assert not declaring - STATEMENTS.keys() - UNTRIED.keys()
    assert not UNTRIED.keys() - declaring - STATEMENTS.keys()


@pytest.mark.parametrize("name", sorted(UNTRIED.keys() & STATEMENTS.keys()))
def test_what_cannot_be_tried_really_cannot(name: str) -> None:
    for statement, found in trials(name):
        assert not found.changed and not found.used, statement.label


WITH_TILES = [
    name
    for name, found in STATEMENTS.items()
    if any(isinstance(value.type, TileBufType) for one in found for _, value in one.operands)
]


@pytest.mark.parametrize("name", sampled((name for name in WITH_TILES if name not in UNTRIED), 2))
def test_tiles_of_sizes_known_at_run_time_compute_the_same(name: str) -> None:
    """Other code runs for them: without arrays that are prepared before."""
    scalars, limits = EVERYWHERE | SCALARS.get(name, {}), LIMITS.get(name, {})
    for statement in STATEMENTS[name]:
        try:
            _, after, results = Trial(statement, scalars, limits).outcome()
        except REFUSALS:
            continue
        _, others, other_results = Trial(statement, scalars, limits, open_tiles=True).outcome()
        assert all((one == other).all() for one, other in zip(after, others, strict=True)), statement.label
        assert results == other_results, statement.label
