"""What is known of queues between cores. Source: docs/reference/execution.md, "Queues between cores"."""

from __future__ import annotations

import pytest
from xdsl.ir import Operation

from pto_dialect import parse
from pto_dialect.analysis.queues import direction_mask, nosplit, peer_function, slot_count


def modules(*functions: str, own: str = "") -> Operation:
    """An operation that names @peer, in a module beside others with a function each."""
    asking = (
        'func.func @asking() {\n%x = pto.import_reserved_buffer {name = "b", peer_func = @peer} -> i32\nreturn\n}\n'
    )
    others = "".join(f"module {{\n{each} {{\nreturn\n}}\n}}\n" for each in functions)
    text = f"module {{\nmodule {{\n{own}{asking}}}\n{others}}}\n"
    return next(op for op in parse(text).walk() if op.name == "pto.import_reserved_buffer")


@pytest.mark.parametrize(
    ("functions", "found"),
    [
        ((), None), (("func.func @peer()",), 0), (("func.func @other()", "func.func @peer()"), 1),
        (("func.func private @peer()",), None), (("func.func public @peer()",), 0), (("func.func nested @peer()",), 0),
        (("func.func private @peer()", "func.func @peer()"), 1),
        # Nobody says which of two is meant.
        (("func.func @peer()", "func.func @peer()"), None),
    ],
)  # fmt: skip
def test_the_one_function_of_that_name_in_modules_beside(functions: tuple[str, ...], found: int | None) -> None:
    op = modules(*functions)
    peer = peer_function(op)
    if found is None:
        assert peer is None
    else:
        outer = op.parent_op().parent_op().parent_op()  # pyright: ignore[reportOptionalMemberAccess]
        assert outer is not None and peer is not None
        assert peer.parent_op() is [*outer.regions[0].block.ops][found + 1]


def test_a_function_of_the_own_module_comes_first() -> None:
    op = modules("func.func @peer()", own="func.func private @peer() {\nreturn\n}\n")
    peer = peer_function(op)
    assert peer is not None and peer.parent_op() is op.parent_op().parent_op()  # pyright: ignore[reportOptionalMemberAccess]


@pytest.mark.parametrize(
    ("attributes", "mask", "slots", "split"),
    [
        ("dir_mask = 1, slot_size = 1024", 1, 8, None), ("dir_mask = 2, slot_size = 1024", 2, 8, None),
        ("dir_mask = 3, slot_size = 1024", 3, 4, None), ("dir_mask = 3, slot_size = 1024, slot_num = 6", 3, 6, None),
        ("dir_mask = 1, slot_size = 1024, nosplit = true", 1, 8, True),
        ("dir_mask = 1, slot_size = 1024, nosplit = false", 1, 8, False),
    ],
)  # fmt: skip
def test_numbers_of_slots(attributes: str, mask: int, slots: int, split: bool | None) -> None:
    """Eight slots for one direction, four for each of two, unless another number is stated."""
    text = (
        f"func.func @f(%b: i32) {{\n%p = pto.initialize_l2l_pipe {{{attributes}}}(%b : i32) -> !pto.pipe\nreturn\n}}\n"
    )
    init = next(op for op in parse(text).walk() if op.name == "pto.initialize_l2l_pipe")
    assert (direction_mask(init), slot_count(init), nosplit(init)) == (mask, slots, split)
