"""Communication between ranges of global memory, asynchronous transfers, and signals."""

from __future__ import annotations

import numpy as np
import pytest
from function_programs import run_on_each

from pto_dialect.runtime.errors import ProgramError

VIEW, TENSOR = "!pto.partition_tensor_view<2x8xf32>", "!pto.tensor_view<2x8xf32>"
TILE = "!pto.tile_buf<vec, 2x8xf32>"


def run(body: str, *values: np.ndarray) -> None:
    """The statements on views %v0, %v1, ... of the buffers, all of 2 x 8 numbers, with a staging tile %t."""
    lines = [f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 8)]
    for number in range(len(values)):
        lines += [
            f"%w{number} = pto.make_tensor_view %p{number}, shape = [%c2, %c8], strides = [%c8, %c1] : {TENSOR}",
            f"%v{number} = pto.partition_view %w{number}, offsets = [%c0, %c0], sizes = [%c2, %c8]"
            f" : {TENSOR} -> {VIEW}",
        ]
    arguments = ", ".join(f"%p{number}: !pto.ptr<f32>" for number in range(len(values)))
    head = 'module attributes {pto.target_arch = "a5"} {'
    text = [head, f"func.func @k({arguments}) {{", *lines, f"%t = pto.alloc_tile : {TILE}", body, "return\n}\n}"]
    run_on_each("\n".join(text), values)


def numbers(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((2, 8)).astype(np.float32)


@pytest.mark.parametrize(("word", "function"), [("", None), ("add", np.add), ("max", np.maximum), ("min", np.minimum)])
def test_put(word: str, function) -> None:
    clause = f" {{atomicType = #pto<atomic_type atomic_{word}>}}" if word else ""
    a, b = numbers(1), numbers(2)
    want = function(a, b) if word else a
    run(f"pto.comm.tput(%v1, %v0, buf(%t) : {VIEW}, {VIEW}, {TILE}){clause}", a.copy(), b)
    np.testing.assert_array_equal(b, want)


def test_get() -> None:
    a, b = numbers(1), numbers(2)
    run(f"pto.comm.tget(%v1, %v0, buf(%t) : {VIEW}, {VIEW}, {TILE})", a.copy(), b)
    np.testing.assert_array_equal(b, a)


def test_one_to_many_and_back() -> None:
    a, b, c = numbers(1), numbers(2), numbers(3)
    run(
        f"pto.comm.tbroadcast(%v0, recv(%t), group(%v1, %v2) : {VIEW}, {TILE}, {VIEW}, {VIEW}) {{root = 0 : i32}}",
        a,
        b,
        c,
    )
    np.testing.assert_array_equal(b, a)
    np.testing.assert_array_equal(c, a)


@pytest.mark.parametrize(("word", "function"), [("sum", np.add), ("max", np.maximum), ("min", np.minimum)])
def test_reduction(word: str, function) -> None:
    a, b, c = numbers(1), numbers(2), np.zeros((2, 8), np.float32)
    a[0, 0] = np.nan
    want = function(a, b)
    clause = f"{{reduceOp = #pto<reduce_op {word}>, root = 0 : i32}}"
    run(
        f"pto.comm.treduce(%v2, %t, recv(%t), group(%v0, %v1) : {VIEW}, {TILE}, {TILE}, {VIEW}, {VIEW}) {clause}",
        a,
        b,
        c,
    )
    np.testing.assert_array_equal(c, want)


@pytest.mark.parametrize("root", [0, 1, 2])
def test_a_reduction_begins_with_the_root(root: int) -> None:
    """(x_root + x_first) + x_second: another order has another rounding."""
    group = [np.full((2, 8), value, np.float32) for value in (1.0, 2.0**24, -(2.0**24))]
    found = np.zeros((2, 8), np.float32)
    clause = f"{{reduceOp = #pto<reduce_op sum>, root = {root} : i32}}"
    views = ", ".join([VIEW, TILE, TILE, VIEW, VIEW, VIEW])
    run(f"pto.comm.treduce(%v3, %t, recv(%t), group(%v0, %v1, %v2) : {views}) {clause}", *group, found)
    first, second = (value for index, value in enumerate(group) if index != root)
    np.testing.assert_array_equal(found, (group[root] + first) + second)
    assert found[0, 0] == (1.0 if root == 2 else 0.0)


def shared(name: str, whole: tuple[int, ...], part: tuple[int, ...], data: np.ndarray) -> list[np.ndarray]:
    """Gathers three views of shape ``part`` into one of shape ``whole``, or scatters it, in buffers of that shape whose
    contents are slices of ``data``: the buffers of the view and of the members afterwards."""
    shapes = {"w": whole, **dict.fromkeys(("a", "b", "c"), part)}
    numbers = {size for shape in shapes.values() for size in (*shape, *(np.prod(shape[i:]) for i in range(len(shape))))}
    lines = [f"%n{int(n)} = arith.constant {int(n)} : index" for n in sorted(numbers | {0, 1})]
    kinds = {}
    for key, shape in shapes.items():
        text = "x".join(map(str, shape))
        kinds[key] = f"!pto.partition_tensor_view<{text}xf32>"
        sizes = ", ".join(f"%n{size}" for size in shape)
        steps = ", ".join(f"%n{int(np.prod(shape[i + 1 :]))}" for i in range(len(shape)))
        tensor = f"!pto.tensor_view<{text}xf32>"
        lines += [
            f"%t{key} = pto.make_tensor_view %p{key}, shape = [{sizes}], strides = [{steps}] : {tensor}",
            f"%v{key} = pto.partition_view %t{key}, offsets = [{', '.join(['%n0'] * len(shape))}], sizes = [{sizes}]"
            f" : {tensor} -> {kinds[key]}",
        ]
    types = f"{kinds['w']}, {TILE}, {kinds['a']}, {kinds['b']}, {kinds['c']}"
    arguments = ", ".join(f"%p{key}: !pto.ptr<f32>" for key in shapes)
    statement = f"pto.comm.{name}(%vw, recv(%t), group(%va, %vb, %vc) : {types}) {{root = 0 : i32}}"
    head = f'module attributes {{pto.target_arch = "a5"}} {{\nfunc.func @k({arguments}) {{'
    text = "\n".join([head, *lines, f"%t = pto.alloc_tile : {TILE}", statement, "return\n}\n}"])
    sizes = [int(np.prod(shape)) for shape in shapes.values()]
    pieces = np.split(data[: sum(sizes)].astype(np.float32), np.cumsum(sizes)[:-1])
    run_on_each(text, pieces)
    return [piece.reshape(shape) for piece, shape in zip(pieces, shapes.values(), strict=True)]


SHARES = [((24,), (8,)), ((6, 8), (2, 8)), ((3, 8), (8,)), ((2, 6, 4), (2, 2, 4)), ((2, 2, 3, 8), (2, 2, 1, 8))]
"""Shapes of a view and of three members: the last dimension but one is three times that of a member."""


@pytest.mark.parametrize(("whole", "part"), SHARES)
def test_members_are_rows_of_each_matrix(whole: tuple[int, ...], part: tuple[int, ...]) -> None:
    data = np.arange(256)
    axis = -1 if len(whole) == 1 else -2
    _, *given = shared("tgather", whole, part, data)
    found, *_ = shared("tgather", whole, part, data)
    rows = [member.reshape(*whole[:axis], -1, *whole[axis:][1:]) for member in given]
    np.testing.assert_array_equal(found, np.concatenate(rows, axis))

    given, *members = shared("tscatter", whole, part, data)
    for member, rows in zip(members, np.split(given, 3, axis), strict=True):
        np.testing.assert_array_equal(member, rows.reshape(part))


def test_a_gather_into_more_rows_and_columns_leaves_the_rest() -> None:
    before = np.arange(256, dtype=np.float32)
    found, a, b, c = shared("tgather", (8, 10), (2, 8), before)
    wanted = before[:80].reshape(8, 10).copy()
    wanted[0:2, :8], wanted[2:4, :8], wanted[4:6, :8] = a, b, c
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", ["tgather", "tscatter"])
def test_members_that_are_no_rows_of_the_view(name: str) -> None:
    """One row of three times the columns has the same number of elements, but its rows are not those of members."""
    with pytest.raises(ProgramError, match="3 members of 2x8 elements need 6x8, found 2x24") as error:
        shared(name, (2, 24), (2, 8), np.arange(256))
    assert error.value.rule == "comm-shape"


SIGNAL = "!pto.partition_tensor_view<1xi32>"


def signal(body: str, value: int) -> np.ndarray:
    """The statements on the signal %s; the signal and what is stored in the second element of the buffer."""
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k(%p: !pto.ptr<i32>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 5 : i32
      %w = pto.make_tensor_view %p, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>
      %s = pto.partition_view %w, offsets = [%c0], sizes = [%c1] : !pto.tensor_view<1xi32> -> {SIGNAL}
      {body}
      return
    }}
    }}"""
    buffer = np.array([value, 0], np.int32)
    run_on_each(text, [buffer])
    return buffer


def test_signals_are_set_and_counted() -> None:
    notify = f"pto.comm.tnotify(%s, %n : {SIGNAL}, i32) {{notifyOp = #pto<notify_op {{}}>}}"
    assert signal(notify.replace("{}", "set"), 7).tolist() == [5, 0]
    assert signal(notify.replace("{}", "atomic_add"), 7).tolist() == [12, 0]
    assert signal(notify.replace("{}", "atomic_add"), 2**31 - 1)[0] == -(2**31) + 4


@pytest.mark.parametrize(
    ("compare", "value", "holds"),
    [
        ("eq", 5, True),
        ("eq", 4, False),
        ("ne", 4, True),
        ("gt", 6, True),
        ("gt", 5, False),
        ("ge", 5, True),
        ("lt", 4, True),
        ("le", 6, False),
    ],
)
def test_signals_are_tested(compare: str, value: int, holds: bool) -> None:
    body = f"""
      %r = pto.comm.ttest(%s, %n : {SIGNAL}, i32) {{cmp = #pto<wait_cmp {compare}>}} -> i1
      %x = arith.extui %r : i1 to i32
      pto.store_scalar %x, %p[%c1] : !pto.ptr<i32>, i32
    """
    assert signal(body, value).tolist() == [value, int(holds)]


def test_a_signal_that_never_comes_is_a_deadlock() -> None:
    wait = f"pto.comm.twait(%s, %n : {SIGNAL}, i32) {{cmp = #pto<wait_cmp ge>}}"
    assert signal(wait, 5).tolist() == [5, 0]
    with pytest.raises(ProgramError) as caught:
        signal(wait, 4)
    assert caught.value.rule == "sync-deadlock"
    assert caught.value.span is not None and caught.value.span.text.startswith("pto.comm.twait")


@pytest.mark.parametrize(
    ("compare", "good", "bad"),
    [("eq", 5, 4), ("ne", 4, 5), ("gt", 6, 5), ("ge", 5, 4), ("lt", 4, 5), ("le", 5, 6)],
)
def test_what_a_wait_waits_for(compare: str, good: int, bad: int) -> None:
    wait = f"pto.comm.twait(%s, %n : {SIGNAL}, i32) {{cmp = #pto<wait_cmp {compare}>}}"
    assert signal(wait, good).tolist() == [good, 0]
    with pytest.raises(ProgramError) as caught:
        signal(wait, bad)
    assert caught.value.rule == "sync-deadlock"


@pytest.mark.parametrize(("offset", "fails"), [(0, False), (64, True)])
def test_a_session_with_an_offset_is_refused(offset: int, fails: bool) -> None:
    """The offset moves both addresses of a transfer, which a run does not do."""
    workspace = "%ws = pto.castptr %p0 : !pto.ptr<f32> -> !pto.ptr<ui8>"
    session = (
        f"%s = pto.comm.build_async_session(%t, %ws : {TILE}, !pto.ptr<ui8>)"
        f" {{comm_block_offset = {offset} : i64}} -> !pto.async_session"
    )
    if not fails:
        run(f"{workspace}\n{session}", numbers(1))
        return
    with pytest.raises(ProgramError, match="comm_block_offset moves its transfers cannot be executed"):
        run(f"{workspace}\n{session}", numbers(1))
