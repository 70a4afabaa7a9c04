"""The data cache of a scalar unit: lines of 64 bytes that MTE2, MTE3 and other cores do not see.

%b has 64 elements, 16 in a line. Each program is right as it is; without what is marked with ``?``, or with what is
marked with ``!``, it has the finding that the table states.
"""

from __future__ import annotations

import numpy as np
import pytest
from groups import in_groups
from sanitize_programs import diagnostics
from scalar_programs import kernel

from pto_dialect import parse
from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.runtime.run.cached import CachedKernel
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

LOST, STALE, UNFLUSHED = "cache-lost-update", "cache-stale-read", "cache-unflushed-store"
TARGETS = ("a2a3", "a5")

STORED = ("fill x", "V>MTE3", "store x", "MTE3>S")
"""MTE3 writes all of %b, and the scalar unit knows it."""

FINDINGS: dict[str, tuple[str, tuple[str, ...]]] = {
    # One core: MTE3 and the scalar unit change one line.
    "the line is held since before MTE3 wrote it": (LOST, ("fetch c0", *STORED, "cmo b?", "change c0")),
    "dcci of the line": (LOST, ("fetch c0", *STORED, "dcci b?", "change c1")),
    "dcci of the whole cache": (LOST, ("fetch c0", *STORED, "dcciall b?", "change c0")),
    "cmo of the whole cache": (LOST, ("fetch c0", *STORED, "cmoall?", "change c0")),
    "another line was cleaned": (LOST, ("fetch c0", *STORED, "cmo b?", "!cmo b20", "change c0")),
    "lines of the UB were cleaned": (LOST, ("fetch c0", *STORED, "dcci b?", "!dccub b", "change c0")),
    "cleaned before MTE3 wrote": (LOST, ("fetch c0", "!cmo b", "!fetch c1", *STORED, "cmo b?", "change c0")),
    "changed, then written by MTE3": (LOST, ("change c0", "cmo b?", *STORED)),
    "changed in each iteration": (
        LOST,
        ("for", "fill x", "V>MTE3", "store x", "MTE3>S", "MTE3>V", "change c0", "cmo b?", "end"),
    ),
    "held from the iteration before": (
        LOST,
        (
            *("fetch c0", "for", "cmo b?", "change c3", "cmo b", "fetch c1"),
            *("fill x", "V>MTE3", "store x", "MTE3>V", "MTE3>S", "end"),
        ),
    ),
    "changed in a branch": (LOST, ("fetch c0", *STORED, "if", "cmo b?", "change c0", "end")),
    "a neighbour past the cache": (LOST, ("change c0", "cmo b?", "stdev c1")),
    "the line of a part": (LOST, ("fetch c20", "small", "V>MTE3", "part b16", "MTE3>S", "cmo b20?", "change c20")),
    # The scalar unit reads what it has from before.
    "read again after MTE3 wrote it": (STALE, ("fetch c0", *STORED, "cmo b?", "fetch c1")),
    "read again after dcci": (STALE, ("fetch c0", *STORED, "dcci b?", "fetch c0")),
    "read in the next iteration": (
        STALE,
        ("for", "cmo b?", "fetch c0", "fill x", "V>MTE3", "store x", "MTE3>S", "MTE3>V", "end"),
    ),
    "its own store past the cache": (STALE, ("fetch c0", "stdev c0", "cmo b?", "fetch c0")),
    "only one of two lines": (STALE, ("fetch c0", "fetch c20", *STORED, "cmo b", "cmo b20?", "fetch c1", "fetch c20")),
    # Others read what is in the cache alone.
    "MTE2 reads it": (UNFLUSHED, ("change c0", "cmo b?", "dsb DDR", "read x")),
    "MTE2 reads it after dcci": (UNFLUSHED, ("change c0", "dcci b?", "dsb DDR", "read x")),
    "MTE2 reads it after dsb alone": (UNFLUSHED, ("change c0", "dcciall b?", "dsb DDR", "read x")),
    "MTE2 reads it behind a flag": (UNFLUSHED, ("change c0", "cmo b?", "S>MTE2", "read x")),
    "MTE2 reads it behind a barrier": (UNFLUSHED, ("change c0", "cmo b?", "barrier ALL", "read x")),
    "read past the cache": (UNFLUSHED, ("change c0", "cmo b?", "lddev c0")),
    "cleaned, then changed again": (UNFLUSHED, ("change c0", "!cmo b", "change c1", "cmo b?", "read x")),
    "read in a loop": (UNFLUSHED, ("change c0", "cmo b?", "for", "read x", "end")),
    "changed in a loop, read behind it": (UNFLUSHED, ("for", "change c0", "cmo b?", "end", "read x")),
}

CLEAN: dict[str, tuple[str, ...]] = {
    "fetched after MTE3 wrote it": (*STORED, "change c0"),
    "read after MTE3 wrote it": (*STORED, "fetch c0"),
    "nobody else": ("fetch c0", "change c0", "fetch c0", "change c1"),
    "another line": ("fetch c0", "small", "V>MTE3", "part b16", "MTE3>S", "change c0"),
    "read before MTE3 writes it": ("fetch c0", *STORED),
    "past the cache": ("stdev c0", "lddev c1", "read x"),
    "MTE2 reads what S has read": ("fetch c0", "read x"),
    "what it has stored since": ("fetch c0", "change c0", "fetch c0"),
}


def find(text: str, blocks: int = 1, fill: float = 0.0) -> list[Diagnostic]:
    """What a run finds about caches, with a number of blocks; %b is full of ``fill``."""
    values = [np.arange(64, dtype=np.float32), np.full(64, fill, np.float32), 3]
    return diagnostics(text, values, blocks, checks={"cache", "race"}, sync="strict")


def rules(found: list[Diagnostic]) -> list[str]:
    return [one.rule for one in found]


@pytest.mark.parametrize("target", TARGETS)
@in_groups("name", FINDINGS)
def test_a_line_that_is_not_coherent_is_found(name: str, target: str) -> None:
    rule, words = FINDINGS[name]
    assert rules(find(kernel(words, target, incorrect=True))) == [rule]
    assert rules(find(kernel(words, target))) == []


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CLEAN)
def test_what_the_cache_does_not_hide_is_no_finding(name: str, target: str) -> None:
    assert rules(find(kernel(CLEAN[name], target))) == []


BLOCKS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # Incorrect, and right with a line for each block.
    "scalar stores of blocks": (("change block",), ("change line",)),
    "each block cleans its line": (("change block", "cmo b", "dsb DDR"), ("change line", "cmo b", "dsb DDR")),
    "halves of a line": (("change half",), ("change line",)),
    "MTE3 beside scalar stores": (
        ("small", "V>MTE3", "part bhalf", "MTE3>S", "change half"),
        ("small", "V>MTE3", "part bline", "MTE3>S", "change line"),
    ),
    "in a loop": (("for", "change block", "end"), ("for", "change line", "end")),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_that_share_a_line_lose_stores(name: str, target: str) -> None:
    incorrect, right = BLOCKS[name]
    found = find(kernel(incorrect, target), blocks=2)
    assert set(rules(found)) == {LOST}
    assert "of its own" in str(found[0].help)
    assert rules(find(kernel(right, target), blocks=2)) == []


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("the line is held since before MTE3 wrote it", LOST),
        ("read again after MTE3 wrote it", STALE),
        ("MTE2 reads it behind a flag", UNFLUSHED),
    ],
)
def test_severity_says_whether_a_value_differs(name: str, rule: str) -> None:
    """MTE3 and S store 1: where memory holds 1 already, the cache makes no difference."""
    text = kernel(FINDINGS[name][1], "a5", incorrect=True)
    for fill, severity in ((0.0, Severity.ERROR), (1.0, Severity.WARNING)):
        assert [(one.rule, one.severity) for one in find(text, fill=fill)] == [(rule, severity)]


def test_programs_whose_order_a_compiler_makes_have_the_findings() -> None:
    """No compiler takes care of the cache."""
    values = [np.arange(64, dtype=np.float32), np.zeros(64, np.float32), 3]
    text = kernel(("fetch c0", "fill x", "store x", "change c0"), "a2a3")
    assert [one.rule for one in diagnostics(text, values, checks={"cache"})] == [LOST]


CORES = """module attributes {{pto.target_arch = "a2a3"}} {{
  func.func @k(%a: !pto.ptr<f32, gm>, %b: !pto.ptr<f32, gm>, %n: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    pto.section.cube {{
      {cube}
      pto.sync.set #pto.pipe<PIPE_FIX>, 1
    }}
    pto.section.vector {{
      {before}
      pto.sync.wait #pto.pipe<PIPE_S>, 1
      {after}
    }}
    return
  }}
}}
"""
CHANGE = "pto.store_scalar %one, %b[%c0] : !pto.ptr<f32, gm>, f32"
FETCH = "%v{} = pto.load_scalar %b[%{}] : !pto.ptr<f32, gm> -> f32"
FIRST, AGAIN = FETCH.format(0, "c1"), FETCH.format(1, "c0")
INVALIDATE = "pto.cmo.cacheinvalid %b single_cache_line : !pto.ptr<f32, gm>"


@pytest.mark.parametrize(
    ("cube", "before", "after", "rule"),
    [
        ((CHANGE,), (), (AGAIN,), UNFLUSHED),
        ((CHANGE,), (), (INVALIDATE, AGAIN), UNFLUSHED),
        ((CHANGE, INVALIDATE), (), (AGAIN,), None),
        ((CHANGE, INVALIDATE), (FIRST,), (AGAIN,), STALE),
        ((CHANGE, INVALIDATE), (FIRST,), (INVALIDATE, AGAIN), None),
    ],
)
def test_cores_see_each_other_through_memory(
    cube: tuple[str, ...], before: tuple[str, ...], after: tuple[str, ...], rule: str | None
) -> None:
    text = CORES.format(cube="\n".join(cube), before="\n".join(before), after="\n".join(after))
    assert sorted(set(rules(find(text)))) == ([] if rule is None else [rule])


def results(text: str, blocks: int = 1, kind: type[Kernel] = CachedKernel) -> list[list[float]]:
    """What a run leaves in %a and %b."""
    a, b = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    kind(parse(text), None, None, RunOptions()).run([a, b, 3], blocks)
    return [a.tolist(), b.tolist()]


@pytest.mark.parametrize("name", [name for name, (rule, _) in FINDINGS.items() if rule == LOST])
def test_a_run_with_the_cache_differs_where_the_finding_is_an_error(name: str) -> None:
    words = FINDINGS[name][1]
    lost, right = kernel(words, "a2a3", incorrect=True), kernel(words, "a2a3")
    differs = results(lost) != results(lost, kind=Kernel)
    # In loops MTE3 stores the same numbers again.
    assert differs == ("iteration" not in name)
    assert find(lost)[0].severity is Severity.ERROR or not differs
    assert results(right) == results(right, kind=Kernel)


@pytest.mark.parametrize("name", CLEAN)
def test_a_run_with_the_cache_is_the_same_where_nothing_is_found(name: str) -> None:
    text = kernel(CLEAN[name], "a5")
    assert results(text) == results(text, kind=Kernel)


def test_the_last_block_wins_the_line() -> None:
    """Each of 16 blocks stores 1 to its element of one line: the line of the last one is written back last."""
    _, shared = results(kernel(("change block",), "a2a3"), blocks=16)
    assert shared[:16] == [0.0] * 15 + [1.0]
    _, apart = results(kernel(("change line",), "a2a3"), blocks=4)
    assert apart == [1.0 if number % 16 == 0 else 0.0 for number in range(64)]


@pytest.mark.parametrize(("words", "expected"), [(("cmo b",), 1.0), ((), 0.0)])
def test_a_load_gives_what_the_line_had(words: tuple[str, ...], expected: float) -> None:
    """MTE3 stores 1 after the line was fetched; %a[0] is what the scalar unit reads then."""
    found, _ = results(kernel(("fetch c0", *STORED, *words, "move"), "a5"))
    assert found[0] == expected


@pytest.mark.parametrize(("words", "expected"), [(("cmo b", "dsb DDR"), 1.0), ((), 0.0)])
def test_mte2_sees_what_was_written_back(words: tuple[str, ...], expected: float) -> None:
    """The scalar unit stores 1 to %b[0]; MTE2 and MTE3 copy the line to %a."""
    found, _ = results(kernel(("change c0", *words, "read x", "MTE2>MTE3", "copy x"), "a5"))
    assert found[0] == expected
