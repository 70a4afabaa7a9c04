"""Cores of blocks: their names, memories, addresses and flags, and blocks that are used again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Arena, Pointer
from pto_dialect.runtime.run.machine import AddressMap, Block, Core, NeedsQueues, RunOptions, block_cores
from pto_dialect.targets.choice import get_profile

F32 = np.dtype(np.float32)


def block(kinds: tuple[str, ...] = ("aic", "aiv"), mixed: bool = True, **options: Any) -> Block:
    return Block(3, 8, get_profile("a5"), RunOptions(**options), mixed, kinds)


def buffer(name: str, size: int = 64) -> Arena:
    return Arena.from_array(np.zeros(size, np.uint8), name=name)


@pytest.mark.parametrize(
    ("kinds", "mixed", "names", "duties", "count"),
    [
        (("aic", "aiv"), True, ["AIC", "AIV0", "AIV1"], [(True, False), (False, True), (False, True)], 2),
        (("aiv",), True, ["AIV0", "AIV1"], [(False, True)] * 2, 2),
        (("aic",), False, ["AIC"], [(True, False)], 1),
        (("all",), False, ["core"], [(True, True)], 1),
    ],
)
def test_cores_of_a_block(kinds: Any, mixed: bool, names: list[str], duties: list[Any], count: int) -> None:
    cores = block(kinds, mixed).cores
    assert [core.name for core in cores] == names
    assert [(core.cube, core.vector) for core in cores] == duties
    assert {core.subblock_count for core in cores} == {count}
    assert [core.index for core in cores] == [int(name == "AIV1") for name in names]
    assert all(core.state == {"ctrl": 0} and core.flags == {} for core in cores)


def test_one_vector_core_of_a_block() -> None:
    found = Block(0, 1, get_profile("a5"), RunOptions(), True, ("aic", "aiv"), vector_cores=1)
    assert [core.name for core in found.cores] == ["AIC", "AIV0"]
    assert {core.subblock_count for core in found.cores} == {1}


def test_cores_that_a_core_finds_in_its_block() -> None:
    cube, first, second = block().cores
    for core in (cube, first, second):
        assert block_cores(core) == (cube, [first, second])
    alone = block(("aiv",)).cores
    assert block_cores(alone[0]) == (None, alone)
    (single,) = block(("all",), False).cores
    assert block_cores(single) == (None, [])


def test_memories_of_cores() -> None:
    """Those of the matrix unit are one for the block, each vector core has its own; names state whose they are."""
    found = block()
    cube, first, second = found.cores
    assert cube.arena("l1") is first.arena("l1") is second.arena("l1")
    assert first.arena("ub") is not second.arena("ub")
    assert found.unified_buffers == [first.arena("ub"), second.arena("ub")]
    assert cube.arena("ub") is first.arena("ub")
    assert (cube.arena("l0c").name, second.arena("ub").name) == ("block3.aic.l0c", "block3.aiv1.ub")
    with pytest.raises(Fault, match="AIV1 has no memory moon") as caught:
        second.arena("moon")
    assert caught.value.rule == "unmodelled"


def test_a_block_that_is_used_again_is_as_new() -> None:
    found = block()
    cube = found.cores[0]
    cube.arena("l1").bytes[:8] = 7
    cube.flags["a"] = 1  # type: ignore[index]
    cube.state["ctrl"] = 5
    found.addresses.base(buffer("x"))
    found.join_rank(2, buffer("w"))
    found.guard, found.passed = "guard", print  # type: ignore[assignment]
    assert [core.name for core in found.cores] == ["AIC of rank 2", "AIV0 of rank 2", "AIV1 of rank 2"]
    found.renew(1, 4)
    fresh = Block(1, 4, found.profile, found.options, True, ("aic", "aiv"))
    assert (found.index, found.count, found.rank) == (1, 4, None)
    assert (found.guard, found.passed) == (fresh.guard, fresh.passed)
    assert [core.name for core in found.cores] == ["AIC", "AIV0", "AIV1"]
    assert [arena.name for arena in found.arenas] == [arena.name for arena in fresh.arenas]
    assert cube.state == {"ctrl": 0} and cube.flags == {}
    assert not cube.arena("l1").bytes[:8].any()
    with pytest.raises(Fault, match="no global-memory buffer"):
        found.addresses.locate(AddressMap.GAP)


def test_buffers_have_addresses_of_their_own() -> None:
    """The order of asking counts; offsets may be below the beginning and far above it."""
    window, one, two = (buffer(name) for name in ("w", "a", "b"))
    addresses = AddressMap([window])
    assert [addresses.base(arena) for arena in (one, two, window, one)] == [2 << 32, 3 << 32, 1 << 32, 2 << 32]
    for offset in (0, 1, 63, 10**6, -1, -(1 << 31), (1 << 31) - 1):
        assert addresses.locate((2 << 32) + offset) == (one, offset)
    assert addresses.locate(1 << 32) == (window, 0) and addresses.locate((3 << 32) + 5) == (two, 5)
    null, offset = addresses.locate(0)
    assert offset == 0 and null.capacity == 0
    for outside in (1, (1 << 31) - 1, (3 << 32) + (1 << 31), 4 << 32, -5):
        with pytest.raises(Fault, match=f"address {outside:#x} is in no") as caught:
            addresses.locate(outside)
        assert caught.value.rule == "mem-oob"


def test_addresses_and_what_lies_there() -> None:
    core = block().cores[1]
    own, host, local = core.arena("ub"), buffer("x"), Arena("ub", 256, name="argument")
    assert core.address_of(Pointer(own, 48, F32, 4)) == 48
    assert core.locate("ub", 48) == (own, 48)
    far = core.address_of(Pointer(host, 8, F32, 4))
    assert far == (1 << 32) + 8 and core.locate("gm", far) == core.locate("ub", far) == (host, 8)
    # A memory of an argument is none of the core's, whatever its space.
    assert core.address_of(Pointer(local, 16, F32, 4)) == (2 << 32) + 16
    assert core.locate("ub", (2 << 32) + 16) == (local, 16)
    limit = AddressMap.GAP // 2
    assert core.locate("ub", limit - 1) == (own, limit - 1)
    assert core.locate("ub", limit) == (host, -limit)
    with pytest.raises(Fault, match="no global-memory buffer"):
        core.locate("gm", 48)


def test_pointers_after_values() -> None:
    core, pointer = block().cores[0], Pointer(buffer("x"), 4, F32, 4)

    class View:
        """Something that begins at a pointer."""

        def __init__(self, pointer: Any) -> None:
            self.pointer = pointer

    assert core.pointer_of(pointer) is core.pointer_of(View(pointer)) is pointer
    for value, name in ((View(5), "View"), (7, "int")):
        with pytest.raises(Fault, match=f"a value of kind {name} has no address") as caught:
            core.pointer_of(value)
        assert caught.value.rule == "unmodelled"


def test_flags_in_program_order() -> None:
    core = block().cores[0]
    core.set_flag("V", "MTE3", 0)
    core.set_flag("V", "MTE3", 0)
    core.set_flag("V", "MTE3", 1)
    for _ in range(2):
        core.wait_flag("V", "MTE3", 0)
    for key in (("V", "MTE3", 0), ("V", "MTE2", 1), ("MTE3", "V", 1)):
        with pytest.raises(NeedsQueues, match="precedes its set_flag"):
            core.wait_flag(*key)
    core.wait_flag("V", "MTE3", 1)
    assert set(core.flags.values()) == {0}


def test_signals_in_memory_change_in_one_step() -> None:
    found = block()
    seen: list[str] = []

    class Guard:
        """Reports when it is held."""

        def __enter__(self) -> None:
            seen.append("in")

        def __exit__(self, *_: object) -> None:
            seen.append("out")

    found.guard = Guard()
    core = found.cores[0]
    core.notify(lambda signal, value: seen.append(f"{signal}={value}"), "s", 4)
    assert seen == ["in", "s=4", "out"]
    assert core.holds(lambda signal, value: signal > value, 5, 4) is True
    assert core.holds(lambda signal, value: signal > value, 4, 4) is False


def test_what_memories_begin_with() -> None:
    for fill, byte in (("zero", 0), ("poison", 0xCD)):
        core: Core = block(fill=fill).cores[0]
        content = core.arena("l1").bytes[:4]
        assert (content == content[0]).all() and bool(content[0]) is bool(byte)
