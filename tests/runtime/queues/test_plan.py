"""What initialisations say of their queues: slots, where these lie, and which operand has their address.

Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

from typing import Any

import pytest
from parse_helpers import parsed
from xdsl.ir import Operation

from pto_dialect.analysis.queues import C2V, V2C
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.queues.plan import Epilogue, FifoFacts, FifoPlan, gm_operand, local_buffers
from pto_dialect.runtime.queues.schedule import Schedule, ScheduleError

ARGUMENTS = "%g: !pto.ptr<f32, gm>, %a: i32, %b: i32"
RESERVED = '%r = pto.reserve_buffer {name = "fifo", size = $, location = #pto.address_space<vec>, auto = true} -> i32'


def function(*lines: str, kind: str = "cube") -> Operation:
    body = "".join(f"  {line}\n" for line in lines)
    module, found = parsed(
        f"func.func @f({ARGUMENTS}) attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}} {{\n{body}  return\n}}\n"
    )
    assert module is not None and not found, found
    return next(op for op in module.walk() if op.name == "func.func")


def planned(*lines: str, arch: str = "a5") -> FifoPlan:
    return FifoPlan([function(*lines)], arch)


def facts(*lines: str, arch: str = "a5") -> tuple[Operation, FifoFacts]:
    ((init, found),) = planned(*lines, arch=arch).ends.items()
    return init, found


def core(fields: str, operands: str = "c2v_consumer_buf = %a : i32, v2c_consumer_buf = %b : i32") -> str:
    return f"pto.aic_initialize_pipe {{id = 2, slot_size = 1024, {fields}}} ({operands})"


@pytest.mark.parametrize(
    ("fields", "slots"),
    [("dir_mask = 1", 8), ("dir_mask = 2", 8), ("dir_mask = 3", 4), ("dir_mask = 1, slot_num = 5", 5)],
)
def test_slots(fields: str, slots: int) -> None:
    _, found = facts(core(fields))
    assert (found.slots, found.local_slots, found.slot_size) == (slots, slots, 1024)
    assert found.mask == int(fields.split()[2].rstrip(","))


@pytest.mark.parametrize(
    ("arch", "operands", "through", "named"),
    [
        ("a5", "c2v_consumer_buf = %a : i32", False, None),
        ("a5", "gm_slot_buffer = %g : !pto.ptr<f32, gm>, c2v_consumer_buf = %a : i32", False, "g"),
        ("a2a3", "gm_slot_buffer = %g : !pto.ptr<f32, gm>, c2v_consumer_buf = %a : i32", True, "g"),
        ("a2a3", "c2v_consumer_buf = %a : i32", False, None),
    ],
)
def test_where_slots_lie(arch: str, operands: str, through: bool, named: str | None) -> None:
    init, found = facts(core("dir_mask = 1, local_slot_num = 2", operands), arch=arch)
    assert found.through_gm == through
    value = gm_operand(init)
    assert (None if value is None else value.name_hint) == named
    assert local_buffers(init) == {C2V: "c2v_consumer_buf", V2C: "v2c_consumer_buf"}


@pytest.mark.parametrize("size", [8192, 4096, 8200, 16384, 255, 256, 127, 128])
@pytest.mark.parametrize("arch", ["a5", "a2a3"])
def test_steps_between_local_slots(size: int, arch: str) -> None:
    """Equal parts of what is reserved, of whole blocks of 32 bytes; a slot where that is too small or not known."""
    operands = "gm_slot_buffer = %g : !pto.ptr<f32, gm>, c2v_consumer_buf = %r : i32"
    lines = (RESERVED.replace("$", str(size)), core("dir_mask = 1, slot_num = 8, local_slot_num = 4", operands))
    ((_, end),) = planned(*lines, arch=arch).ends.items()
    count = 4 if arch == "a2a3" else 8
    part = size // count // 32 * 32 if size >= 32 * count else 1024
    assert end.steps[C2V] == (part if arch == "a2a3" else max(part, 1024))
    assert end.steps[V2C] == 1024


L2L = "%q = pto.initialize_l2l_pipe {{dir_mask = {}, slot_size = 512, slot_num = 4{}}}({}) -> !pto.pipe"
L2G2L = "%q = pto.initialize_l2g2l_pipe {{dir_mask = {}, slot_size = 512, slot_num = 4{}}}({}) -> !pto.pipe"
GM = "%g : !pto.ptr<f32, gm>"


@pytest.mark.parametrize(
    ("line", "through", "buffers", "local"),
    [
        (L2L.format(1, "", "%a : i32"), False, {C2V: "local_addr"}, 4),
        (L2L.format(2, "", "%a : i32"), False, {V2C: "local_addr"}, 4),
        (L2L.format(3, "", "%a : i32, %b : i32"), False, {C2V: "local_addr", V2C: "peer_local_addr"}, 4),
        (L2G2L.format(1, ", local_slot_num = 2", f"{GM}, %a : i32"), True, {C2V: "local_addr"}, 2),
        (L2G2L.format(2, "", GM), True, {V2C: "local_addr"}, 4),
        (
            L2G2L.format(3, "", f"{GM}, %a : i32, %b : i32"),
            True,
            {C2V: "local_addr", V2C: "peer_local_addr"},
            4,
        ),
    ],
)
def test_queues_with_a_handle(line: str, through: bool, buffers: dict[int, str], local: int) -> None:
    init, found = facts(line)
    assert (found.through_gm, found.local_slots, local_buffers(init)) == (through, local, buffers)
    value = gm_operand(init)
    assert (value is not None and value.name_hint == "g") == through


def test_conversions_of_pushes() -> None:
    text = "acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = {}, relu = {}>"
    fields = f"dir_mask = 1, nosplit = true, {text}"
    _, found = facts(core(fields.format("deqf16_scalar", "normal_relu"), "c2v_consumer_buf = %a : i32"))
    assert found.epilogue == Epilogue("deqf16_scalar", "normal_relu")
    assert facts(core("dir_mask = 1"))[1].epilogue is None


ACC = "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
VEC = "!pto.tile_buf<vec, 16x16xf32>"


def transfers(*lines: str, kind: str) -> list[tuple[str, int, bool]]:
    plan_function = function(*lines, kind=kind)
    plan = FifoPlan([plan_function], "a5")
    found: list[tuple[str, int, bool]] = []
    for op in plan_function.walk():
        if op.name.startswith(("pto.tpush", "pto.tpop", "pto.tfree")):
            transfer = plan.transfer(op)
            found.append((transfer.role, transfer.direction, transfer.on_cube))
    return found


def test_directions_of_transfers() -> None:
    cube = [core("dir_mask = 3"), f"%t = pto.alloc_tile : {ACC}", f"pto.tpush_to_aiv(%t : {ACC}) {{id = 2, split = 1}}"]
    cube += [f"%e = pto.tpop_from_aiv {{id = 2, split = 1}} -> {VEC}", "pto.tfree_from_aiv {id = 2, split = 1}"]
    assert transfers(*cube, kind="cube") == [("push", C2V, True), ("pop", V2C, True), ("free", V2C, True)]
    vector = [
        line.replace("aic_", "aiv_").replace("_to_aiv", "_to_aic").replace("_from_aiv", "_from_aic") for line in cube
    ]
    vector = [line.replace(ACC, VEC) for line in vector]
    assert transfers(*vector, kind="vector") == [("push", V2C, False), ("pop", C2V, False), ("free", C2V, False)]


def test_a_queue_that_is_not_there() -> None:
    with pytest.raises(ProgramError) as caught:
        transfers(core("dir_mask = 3"), "pto.tfree_from_aiv {id = 3, split = 1}", kind="cube")
    assert caught.value.rule == "pipe-id"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("text", ("text", 0, False)),
        ("oldest", ("oldest", 0, True)),
        ("newest", ("newest", 0, True)),
        ("random", ("random", 0, True)),
        ("random:12", ("random", 12, True)),
        ("random:" + "9" * 19, ("random", 10**19 - 1, True)),
    ],
)
def test_schedules(text: str, wanted: tuple[Any, ...]) -> None:
    found = Schedule.parse(text)
    assert (found.kind, found.seed, found.queued) == wanted and not found.strict
    assert Schedule.parse(text, strict=True).strict
    assert (found.chooser("x") is not None) == (found.kind in ("newest", "random"))


@pytest.mark.parametrize("text", ["", "first", "text:1", "newest:2", "random:x", "random:-1", "random:" + "9" * 20])
def test_texts_that_name_no_schedule(text: str) -> None:
    with pytest.raises(ScheduleError, match="schedules are text, oldest, newest, random:SEED"):
        Schedule.parse(text)


def sides(mask: int, kind: str, *lines: str) -> list[tuple[str, str, str]]:
    """Role, direction and core of transfers by handle; ``kind`` is that of the function, if it says one."""
    operands = "%a : i32, %b : i32" if mask == C2V | V2C else "%a : i32"
    stated = f" attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}}" if kind else ""
    body = "\n  ".join((L2L.format(mask, "", operands), *lines))
    module, found = parsed(f"func.func @f({ARGUMENTS}, %t: {VEC}, %c: {ACC}){stated} {{\n  {body}\n  return\n}}\n")
    assert module is not None and not found, found
    plan = FifoPlan([op for op in module.walk() if op.name == "func.func"], "a5")
    transfers = [plan.transfer(op) for op in module.walk() if op.name in ("pto.tpush", "pto.tpop", "pto.tfree")]
    names = {C2V: "to vector", V2C: "to cube"}
    return [(t.role, names[t.direction], "cube" if t.on_cube else "vector") for t in transfers]


PUSH, POP = f"pto.tpush(%t, %q : {VEC}, !pto.pipe) {{split = 0}}", f"pto.tpop(%t, %q : {VEC}, !pto.pipe) {{split = 0}}"
PUSH_ACC = f"pto.tpush(%c, %q : {ACC}, !pto.pipe) {{split = 0}}"


@pytest.mark.parametrize("mask", [C2V, V2C])
def test_one_direction_states_the_core_of_a_transfer(mask: int) -> None:
    way, (source, sink) = ("to vector", ("cube", "vector")) if mask == C2V else ("to cube", ("vector", "cube"))
    assert sides(mask, "", PUSH) == [("push", way, source)]
    assert sides(mask, "", POP) == [("pop", way, sink)]


@pytest.mark.parametrize("kind", ["cube", "vector"])
def test_the_function_states_the_core_of_a_transfer(kind: str) -> None:
    out, back = ("to vector", "to cube") if kind == "cube" else ("to cube", "to vector")
    assert sides(C2V | V2C, kind, PUSH, POP) == [("push", out, kind), ("pop", back, kind)]


def test_the_tile_states_the_core_of_a_transfer() -> None:
    found = sides(C2V | V2C, "", PUSH, PUSH_ACC, POP)
    assert found == [("push", "to cube", "vector"), ("push", "to vector", "cube"), ("pop", "to vector", "vector")]


@pytest.mark.parametrize("arch", ["a5", "a2a3"])
def test_slots_that_are_a_tensor(arch: str) -> None:
    view = "!pto.tensor_view<8x16x16xf32>"
    lines = [f"%c{n} = arith.constant {n} : index" for n in (1, 8, 16, 256)]
    lines.append(f"%s = pto.make_tensor_view %g, shape = [%c8, %c16, %c16], strides = [%c256, %c16, %c1] : {view}")
    init, found = facts(*lines, core("dir_mask = 1", f"gm_slot_tensor = %s : {view}"), arch=arch)
    value = gm_operand(init)
    assert found.through_gm and value is not None and value.name_hint == "s"


def test_choices_of_the_newest() -> None:
    chooser = Schedule.parse("newest").chooser("x")
    assert chooser is not None
    assert [chooser.head(numbers) for numbers in ([3], [3, 9, 4], [7, 2])] == [0, 1, 0]
    assert (chooser.steps(), chooser.quantum(), chooser.skips(0), chooser.order(3)) == (0, 0, False, [2, 1, 0])


def test_random_choices_are_those_of_their_seed() -> None:
    def made(text: str, salt: str) -> list[Any]:
        one = Schedule.parse(text).chooser(salt)
        assert one is not None
        return [(one.head([1, 2, 3]), one.steps(), one.quantum(), one.skips(1), *one.order(4)) for _ in range(40)]

    first = made("random:5", "a")
    assert first == made("random:5", "a")
    assert first != made("random:6", "a") and first != made("random:5", "b")
    heads, steps, turns, skipped = (set(column) for column in list(zip(*first, strict=True))[:4])
    assert heads == {0, 1, 2} and turns == set(range(1, 7)) and skipped <= {False, True}
    assert min(steps) >= 0 and max(steps) <= 6
    assert all(sorted(row[4:]) == [0, 1, 2, 3] for row in first)


def test_some_random_schedules_run_ahead_and_some_cores_are_slow() -> None:
    choosers = [Schedule.parse(f"random:{seed}").chooser("x") for seed in range(60)]
    ahead = [all(one.steps() == 0 for _ in range(60)) for one in choosers if one is not None]
    assert 10 < sum(ahead) < 50
    shares = [sum(one.skips(0) for _ in range(100)) for one in choosers if one is not None]
    assert min(shares) == 0 and max(shares) > 85 and any(30 < share < 70 for share in shares)
