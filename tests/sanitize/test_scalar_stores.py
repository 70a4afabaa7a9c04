"""Stores of the scalar unit to the unified buffer are complete after a flag from S, not when the next operation is
issued.

Each program is right as it is; without what is marked with ``?``, or with what is marked with ``!``, it has the
race that the table states.
"""

from __future__ import annotations

import numpy as np
import pytest
from groups import in_groups
from lowering_programs import lowered
from sanitize_programs import diagnostics, found
from scalar_programs import kernel, without_order

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

RAW, WAR, WAW = "race-raw", "race-war", "race-waw"

RACES: dict[str, tuple[str, tuple[str, ...]]] = {
    # What S stores, another pipe reads.
    "tsetval, V reads": (RAW, ("load x", "MTE2>S", "set x", "S>V?", "add y x")),
    "tsetval, MTE3 reads": (RAW, ("load x", "MTE2>S", "set x", "S>MTE3?", "store x")),
    "store_scalar, V reads": (RAW, ("load x", "MTE2>S", "put x", "S>V?", "add y x")),
    "store_scalar, MTE3 reads": (RAW, ("load x", "MTE2>S", "put x", "S>MTE3?", "store x")),
    "pto.store, V reads": (RAW, ("load x", "MTE2>S", "write x", "S>V?", "add y x")),
    "pto.store, MTE3 reads": (RAW, ("load x", "MTE2>S", "write x", "S>MTE3?", "store x")),
    "memref.store, V reads": (RAW, ("load x", "MTE2>S", "memref x", "S>V?", "add y x")),
    "memref.store, MTE3 reads": (RAW, ("load x", "MTE2>S", "memref x", "S>MTE3?", "store x")),
    "plain tci, V reads": (RAW, ("count", "S>V?", "double")),
    "two stores, a flag between them": (
        RAW,
        ("load x", "MTE2>S", "set x", "!S>V", "put x", "S>V?", "add y x"),
    ),
    # What S stores, another pipe overwrites.
    "tsetval, V overwrites": (WAW, ("set x", "S>V?", "fill x")),
    "tsetval, MTE2 overwrites": (WAW, ("set x", "S>MTE2?", "load x")),
    "store_scalar, MTE2 overwrites": (WAW, ("put x", "S>MTE2?", "load x")),
    "memref.store, V overwrites": (WAW, ("memref x", "S>V?", "fill x")),
    # S overwrites what others read or write.
    "V reads, S overwrites": (WAR, ("load x", "MTE2>V", "MTE2>S", "add y x", "V>S?", "set x")),
    "MTE3 reads, S overwrites": (WAR, ("load x", "MTE2>MTE3", "MTE2>S", "store x", "MTE3>S?", "set x")),
    "MTE2 writes, S overwrites": (WAW, ("load x", "MTE2>S?", "set x")),
    "V writes, S overwrites": (WAW, ("fill x", "V>S?", "put x")),
    # S reads.
    "MTE2 writes, S reads": (RAW, ("load x", "MTE2>S?", "get x")),
    "V writes, S reads": (RAW, ("fill x", "V>S?", "peek x")),
    # Flags that are there and do not help.
    "the flag is set before the store": (RAW, ("load x", "MTE2>S", "!S>V", "set x", "S>V?", "add y x")),
    "the flag goes to another pipe": (RAW, ("load x", "MTE2>S", "set x", "!S>V", "S>MTE3?", "store x")),
    "the flag goes the other way": (RAW, ("load x", "MTE2>S", "set x", "!V>S", "S>V?", "add y x")),
    "a barrier of V alone": (RAW, ("load x", "MTE2>S", "set x", "!barrier MTE3", "S>MTE3?", "store x")),
    "the second of two readers has no flag": (
        RAW,
        ("load x", "MTE2>S", "set x", "S>V", "add y x", "S>MTE3?", "store x"),
    ),
    # Through other pipes.
    "S to MTE3 through V": (RAW, ("load x", "MTE2>S", "set x", "S>V?", "V>MTE3", "store x")),
    "S to V and back": (RAW, ("load x", "MTE2>S", "set x", "S>V?", "V>S", "store x")),
    "one barrier of all pipes": (RAW, ("load x", "MTE2>S", "set x", "barrier ALL?", "!V>MTE3", "add y x")),
    # Loops and branches.
    "stored in a loop, read in it": (
        RAW,
        ("load x", "MTE2>S", "for", "set x", "S>V?", "add y x", "V>S", "end"),
    ),
    "stored in a loop, read behind it": (RAW, ("load x", "MTE2>S", "for", "set x", "end", "S>MTE3?", "store x")),
    "stored before a loop, read in it": (
        RAW,
        ("load x", "MTE2>S", "set x", "S>V?", "for", "add y x", "V>MTE3", "store y", "MTE3>V", "end"),
    ),
    "read in the next iteration": (
        RAW,
        ("load x", "MTE2>V", "for", "add y x", "V>S", "set x", "S>V?", "end", "V>MTE3", "store y"),
    ),
    "overwritten in the next iteration": (
        WAR,
        ("load x", "MTE2>S", "for", "set x", "S>V", "add y x", "V>S?", "end", "V>MTE3", "store y"),
    ),
    "stored in a branch": (RAW, ("load x", "MTE2>S", "if", "set x", "end", "S>V?", "add y x")),
    "the flag only in the other branch": (
        RAW,
        ("load x", "MTE2>S", "if", "set x", "S>V?", "else", "put x", "S>V", "end", "add y x"),
    ),
    "loaded again in the next iteration": (
        WAW,
        ("for", "load x", "MTE2>S", "set x", "S>MTE2?", "end", "S>MTE3", "store x"),
    ),
}

CLEAN: dict[str, tuple[str, ...]] = {
    "S reads what it stored": ("set x", "get x", "S>MTE3", "store x"),
    "S stores twice": ("set x", "put x", "memref x", "S>MTE3", "store x"),
    "what S has read may be overwritten": ("load x", "MTE2>S", "get x", "fill x"),
    "a number is an operand": ("load x", "MTE2>S", "get x", "MTE2>V", "scale"),
    "other bytes": ("load x", "MTE2>S", "set x", "fill y", "V>MTE3", "store y"),
    "a barrier of the scalar unit": ("load x", "MTE2>S", "set x", "barrier S", "add y x"),
    "a barrier of the scalar unit while all pipes are idle": ("set x", "barrier S", "add y x"),
    "dsb": ("load x", "MTE2>S", "set x", "dsb UB", "add y x"),
}

TARGETS = ("a2a3", "a5")


def run(text: str, n: int = 3, sync: str = "auto") -> list[str]:
    """Rules that a run finds, %b is written."""
    values = [np.arange(64, dtype=np.float32), np.zeros(64, np.float32), n]
    return [one.rule for one in diagnostics(text, values, checks={"race", "deadlock"}, sync=sync)]


@pytest.mark.parametrize("target", TARGETS)
@in_groups("name", RACES)
def test_sanitizer_finds_the_race_and_nothing_without_it(name: str, target: str) -> None:
    rule, words = RACES[name]
    assert rule in run(kernel(words, target, incorrect=True), sync="strict")
    assert run(kernel(words, target), sync="strict") == []


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CLEAN)
def test_sanitizer_reports_no_order_that_there_is(name: str, target: str) -> None:
    assert run(kernel(CLEAN[name], target), sync="strict") == []


FOLLOWED = [
    name for name, (_, words) in RACES.items() if not {"put", "write", "memref", "peek"} & set(" ".join(words).split())
]
"""check-sync compares handles: those of pointers and memrefs are others than that of the tile."""


@pytest.mark.parametrize("target", TARGETS)
@in_groups("name", FOLLOWED)
def test_check_sync_finds_the_race_and_nothing_without_it(name: str, target: str) -> None:
    # The order of a program without any flag or barrier is left to the compiler.
    words = (*RACES[name][1], "barrier MTE2")
    assert "sync-static-hazard" in [one.rule for one in found(kernel(words, target, incorrect=True))]
    assert [one for one in found(kernel(words, target)) if one.severity is Severity.ERROR] == []


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", [*RACES, *CLEAN])
def test_insert_sync_orders_scalar_stores(name: str, target: str) -> None:
    words = without_order(CLEAN[name] if name in CLEAN else RACES[name][1])
    text = after("insert-sync", kernel(words, target))
    assert run(text, sync="strict") == []
    assert run(after("remove-redundant-sync", text), sync="strict") == []


@in_groups("name", RACES)
def test_needed_flags_stay(name: str) -> None:
    """remove-redundant-sync takes out nothing without which there is a race."""
    _, words = RACES[name]
    assert run(after("remove-redundant-sync", kernel(words, "a5")), sync="strict") == []


def after(name: str, text: str) -> str:
    """A program after a pass."""
    module, said = lowered(text, name)
    assert not [one for one in said if one.severity is Severity.ERROR], said
    return print_module(module)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("pipe", ["V", "MTE3"])
def test_a_schedule_shows_the_old_value(pipe: str, target: str) -> None:
    """Element 3 of x is 3 before the scalar unit stores 1 there."""
    reads = ("add y x", "V>MTE3", "store y") if pipe == "V" else ("store x",)
    words = ("load x", "MTE2>S", "set x", f"S>{pipe}?", *reads)
    factor = 2 if pipe == "V" else 1
    assert element(kernel(words, target), "newest") == 1 * factor
    assert element(kernel(words, target, incorrect=True), "newest") == 3 * factor
    assert element(kernel(words, target, incorrect=True), "text") == 1 * factor
    random = {element(kernel(words, target, incorrect=True), f"random:{seed}") for seed in range(8)}
    assert random == {1 * factor, 3 * factor}


def element(text: str, schedule: str) -> float:
    """Element 3 of %b after a run under a schedule."""
    a, b = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    options = RunOptions(schedule=Schedule.parse(schedule))
    Kernel(parse(text), None, None, options).run([a, b, 3])
    return float(b[3])
