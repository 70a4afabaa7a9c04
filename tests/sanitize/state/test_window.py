"""Arrays of instrumented memory behave like the arrays they stand for, and report the bytes that are used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from groups import in_groups

from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.sanitize.instrument.observer import RunObserver
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.state.arena import InstrumentedArena
from pto_dialect.sanitize.state.regions import Region


class Accesses:
    """In place of the observer of a run: keeps what is read and written."""

    numbers = None

    def __init__(self) -> None:
        self.bytes: dict[str, set[int]] = {"read": set(), "write": set()}

    def read(self, arena: InstrumentedArena, region: Any) -> None:
        self.bytes["read"] |= set(region.offsets().tolist())

    def write(self, arena: InstrumentedArena, region: Any) -> None:
        self.bytes["write"] |= set(region.offsets().tolist())

    def undefined(self, arena: InstrumentedArena, region: Any) -> None: ...


def instrumented() -> tuple[Any, np.ndarray, Accesses]:
    """A window of 4 x 6 numbers at byte 16, the same numbers as a plain array, and what is accessed."""
    accesses = Accesses()
    arena = InstrumentedArena(Arena("ub", 256), accesses, np.zeros(256, np.uint8))
    plain = np.random.default_rng(1).permutation(24).astype(np.float32).reshape(4, 6)
    arena.memory[16:112] = plain.reshape(-1).view(np.uint8)
    return arena.array((4, 6), np.dtype(np.float32), 16, (24, 4)), plain, accesses


WHOLE = set(range(16, 112))
FIRST = set(range(16, 20))


@in_groups(
    ("use", "read"),
    [
        (lambda a: a + 1, WHOLE),
        (lambda a: a[1:3, ::2] * 2, {16 + 24 * r + 4 * c + b for r in (1, 2) for c in (0, 2, 4) for b in range(4)}),
        (lambda a: a[np.array([0, 3]), np.array([0, 5])], FIRST | set(range(108, 112))),
        (lambda a: np.sort(a, axis=1), WHOLE),
        (lambda a: a.sum(axis=0), WHOLE),
        (lambda a: a.T + 0, WHOLE),
        (lambda a: a.ravel() + 0, WHOLE),
        (lambda a: a.swapaxes(0, 1) + 0, WHOLE),
        (lambda a: a[:1].squeeze(0) + 0, set(range(16, 40))),
        (lambda a: a.reshape(6, 4) + 0, WHOLE),
        (lambda a: np.concatenate([a, a]), WHOLE),
        (lambda a: list(a[0] + 0), set(range(16, 40))),
        (lambda a: [float(row.sum()) for row in a], WHOLE),
        (lambda a: float(a[:1, :1].reshape(())), FIRST),
        (lambda a: int(a[:1, :1].reshape(())), FIRST),
        (lambda a: bool(a[:1, :1].reshape(())), FIRST),
        (lambda a: a[0, 0], FIRST),
        (lambda a: a[3, -1], set(range(108, 112))),
        (lambda a: a[1:][2][5], set(range(108, 112))),
        (lambda a: a[1::2, 2], {16 + 24 * r + 8 + b for r in (1, 3) for b in range(4)}),
        (lambda a: a[a[:1, :1].size : 1, 0], set()),
        (lambda a: 7.0 in a, WHOLE),
        (lambda a: (a.shape, a.strides, a.ndim, a.size, a.itemsize, a.nbytes, len(a), a.dtype), set()),
    ],
)
def test_what_uses_it_gives_the_same(use: Callable[[Any], Any], read: set[int]) -> None:
    window, plain, accesses = instrumented()
    np.testing.assert_equal(use(window), use(plain))
    assert accesses.bytes == {"read": read, "write": set()}


def _sort(a: Any) -> None:
    a.sort(axis=1)


def _fill(a: Any) -> None:
    a[1:2].fill(5)


def _assign(a: Any) -> None:
    a[0] = 3


def _add(a: Any) -> None:
    np.add(a[0], 1, out=a[1])


def _copy_where(a: Any) -> None:
    np.copyto(a[0], 9, where=np.array([1, 0, 0, 0, 0, 1], bool))


def _at(a: Any) -> None:
    np.add.at(a, (np.array([0, 0]), np.array([0, 0])), 1)


@pytest.mark.parametrize(
    ("change", "read", "write"),
    [
        (_sort, WHOLE, WHOLE),
        (_fill, set(), set(range(40, 64))),
        (_assign, set(), set(range(16, 40))),
        (_add, set(range(16, 40)), set(range(40, 64))),
        (_copy_where, set(), FIRST | set(range(36, 40))),
        (_at, FIRST, FIRST),
    ],
)
def test_what_changes_it_changes_the_memory(change: Callable[[Any], None], read: set[int], write: set[int]) -> None:
    window, plain, accesses = instrumented()
    change(window)
    change(plain)
    assert (window.data == plain).all()
    assert accesses.bytes == {"read": read, "write": write}


def test_an_index_is_a_number() -> None:
    accesses = Accesses()
    arena = InstrumentedArena(Arena("ub", 8), accesses, np.zeros(8, np.uint8))
    window = arena.array((), np.dtype(np.int32), 0, ())
    assert [10, 20][window] == 10
    assert accesses.bytes["read"] == {0, 1, 2, 3}


def test_a_copy_is_instrumented_as_well() -> None:
    window, plain, accesses = instrumented()
    copied = window.arena.copy()
    copied.array((4, 6), np.dtype(np.float32), 16, (24, 4))[0] = 1
    assert (window.data == plain).all() and accesses.bytes["write"] == set(range(16, 40))


@pytest.mark.parametrize(
    "view",
    [
        lambda part: part[1:3, 2:],
        lambda part: part[2],
        lambda part: part[:, 3],
        lambda part: part[1:].T[2:],
        lambda part: part[1:, 1:].transpose(1, 0),
        lambda part: part[2:].reshape(3, 4)[1:],
        lambda part: part.swapaxes(0, 1)[1:, 2:],
        lambda part: part[3:].squeeze()[4:],
        lambda part: part[1:].view(np.int32)[:, 5:],
        lambda part: part[-2:, 1:],
        lambda part: part[::-1, ::2],
        lambda part: part[..., 1:],
        lambda part: part[None, 1:],
        lambda part: part[np.int64(2), 1:],
    ],
)
def test_windows_know_where_they_begin(view: Callable[[Any], Any]) -> None:
    window, plain, accesses = instrumented()
    part = view(window)
    assert part.offset is None or part.offset == part.arena.offset_of(part.data)
    part.note_read()
    numbers = np.arange(24, dtype=np.float32).reshape(4, 6)
    assert accesses.bytes["read"] == {
        16 + 4 * int(n) + b for n in view(numbers).view(np.float32).ravel() for b in range(4)
    }
    assert np.array_equal(part.copy(), view(plain))


def test_quick_indices_need_no_look_at_the_memory() -> None:
    window, _, _ = instrumented()
    assert window[1:3, 2:].offset == 16 + 24 + 8 and window[2].T.offset == 16 + 48
    assert window[-1].offset is None and window[::2].offset == 16


KEYS = [
    0, 3, -1, slice(1, 3), slice(-2, None), slice(3, None, -1), slice(None, None, 2), slice(2, 2), (1, 2),
    (-1, 2), (1, -2),
    (slice(1, 3), -1), (slice(1, 3), slice(2, None)), (slice(1, None, 2), slice(4, 0, -1)), (None, 1),
    (1, None), (Ellipsis, 1),
    (1, Ellipsis), (slice(None), 5), slice(-9, 2), (slice(-9, 2), 1),
]  # fmt: skip


@in_groups("number", range(len(KEYS)))
def test_where_a_part_begins(number: int) -> None:
    """Its bytes are those of numpy's view, whether its location is known beforehand or is read from the view."""
    key = KEYS[number]
    window, plain, accesses = instrumented()
    part = plain[key]
    if not isinstance(part, np.ndarray):
        part = plain[tuple(slice(k, k + 1 or None) for k in key)]
    base = plain.__array_interface__["data"][0]
    expected: set[int] = set()
    for index in np.ndindex(part.shape):
        place = part[index:] if index == () else part[tuple(slice(i, i + 1) for i in index)]
        start = 16 + place.__array_interface__["data"][0] - base
        expected |= set(range(start, start + 4))
    found = window[key]
    assert np.array_equal(np.asarray(found), plain[key])
    assert accesses.bytes == {"read": expected, "write": set()}


def test_other_forms_of_memory_that_lies_apart_are_read() -> None:
    """Numpy answers with a copy: the numbers are used when it is made."""
    for form in (lambda a: a.T.reshape(24), lambda a: a[:, ::2].ravel()):
        window, plain, accesses = instrumented()
        found = form(window)
        assert type(found) is np.ndarray and np.array_equal(found, form(plain))
        assert accesses.bytes["read"] == (
            {*WHOLE} if found.size == 24 else {b for b in WHOLE if (b - 16) // 4 % 2 == 0}
        )
    window, _, accesses = instrumented()
    window.reshape(24)
    window[:0].reshape(0)
    assert accesses.bytes["read"] == set()


def test_nothing_is_noted_outside_of_an_operation() -> None:
    observer = RunObserver(SanitizeOptions(), False)
    arena = InstrumentedArena(Arena("ub", 256), observer, np.zeros(256, np.uint8))
    for note in (observer.read, observer.write):
        note(arena, Region(0, 4))
    assert len(observer.log.count) == 1
