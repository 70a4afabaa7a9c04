"""Releases of the reference: which one counts, defaults and verdicts that changed.

Source: docs/reference/releases.md, "Changes", "Choice of the release".
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from parse_helpers import parsed

from pto_dialect.analysis.release import release_of, set_release
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.targets.release import CHANGES, Release, known_releases, newest, release_named
from pto_dialect.verify.verifier import verify_module

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "releases.md"


def test_names_of_releases() -> None:
    assert release_named("0.63") == release_named("v0.63") == Release(63)
    assert str(newest()) == "0.64" and known_releases() == "0.27 to 0.64"
    for text in ("0.26", "0.65", "0.6x", "63", "1.0", "", "0.63.1", " 0.63"):
        assert release_named(text) is None, text


def test_the_page_has_the_table() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert rows == [
        f"| `{key}` | {one.release} | {one.kind} | {one.before} | {one.after} | {one.evidence} |"
        for key, one in CHANGES.items()
    ]


def test_a_change_is_part_of_its_release_and_later_ones() -> None:
    for key, change in CHANGES.items():
        assert not Release(change.release.minor - 1).has(key)
        assert Release(change.release.minor).has(key) and Release(change.release.minor + 1).has(key)


NESTED = """module attributes {{pto.release = "0.61"}} {{
  module attributes {{{inner}}} {{
    func.func @f() {{
      return
    }}
  }}
}}
"""


@pytest.mark.parametrize(("inner", "wanted"), [("", "0.61"), ('pto.release = "0.50"', "0.50")])
def test_the_nearest_module_counts(inner: str, wanted: str) -> None:
    module, found = parsed(NESTED.format(inner=inner))
    (function,) = (op for op in module.walk() if op.name == "func.func")
    assert not found and str(release_of(function)) == wanted
    set_release(module, "v0.63")
    assert str(release_of(function)) == "0.63"


def test_without_a_module_that_names_one_the_newest_counts() -> None:
    module, _ = parsed("func.func @f() {\n  return\n}\n")
    assert release_of(module) == newest()
    set_release(module, None)
    assert "pto.release" not in module.attributes


# ---------------------------------------------------------------- saturation of tcvt

KERNEL = """module attributes {{{release}{backend}pto.target_arch = "{target}"}} {{
  func.func @k(%p: !pto.ptr<{source}>, %q: !pto.ptr<{result}>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %v = pto.make_tensor_view %p, shape = [%c1, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?x{source}>
    %vp = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c1, %c32]
      : !pto.tensor_view<?x?x{source}> -> !pto.partition_tensor_view<1x32x{source}>
    %w = pto.make_tensor_view %q, shape = [%c1, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?x{result}>
    %wp = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%c1, %c32]
      : !pto.tensor_view<?x?x{result}> -> !pto.partition_tensor_view<1x32x{result}>
    %a = pto.alloc_tile : !pto.tile_buf<vec, 1x32x{source}>
    %b = pto.alloc_tile : !pto.tile_buf<vec, 1x32x{result}>
    pto.tload ins(%vp : !pto.partition_tensor_view<1x32x{source}>) outs(%a : !pto.tile_buf<vec, 1x32x{source}>)
    pto.tcvt ins(%a {stated}: !pto.tile_buf<vec, 1x32x{source}>) outs(%b : !pto.tile_buf<vec, 1x32x{result}>)
    pto.tstore ins(%b : !pto.tile_buf<vec, 1x32x{result}>) outs(%wp : !pto.partition_tensor_view<1x32x{result}>)
    return
  }}
}}
"""
DTYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i16": np.int16, "i8": np.int8, "i64": np.int64}


def converted(
    source: str, result: str, release: str, *, target: str = "a5", backend: str = "", stated: str = ""
) -> list[int]:
    text = KERNEL.format(
        source=source,
        result=result,
        target=target,
        stated=stated,
        release=f'pto.release = "{release}", ' if release else "",
        backend=f'pto.backend = "{backend}", ' if backend else "",
    )
    module, found = parsed(text)
    assert not found, found
    values = np.arange(32, dtype=np.int64) * 2000 + 30000
    values = values.astype(DTYPES[source]) if source != "i64" else values * 100_000
    out = np.zeros(32, DTYPES[result])
    compile_kernel(module)(values, out)
    return [int(value) for value in out]


def values_of(source: str) -> list[int]:
    numbers = [2000 * i + 30000 for i in range(32)]
    return [n * 100_000 for n in numbers] if source == "i64" else [int(DTYPES[source](n)) for n in numbers]


def clamped(values: list[int], bits: int) -> list[int]:
    return [min(max(value, -(1 << bits - 1)), (1 << bits - 1) - 1) for value in values]


def wrapped(values: list[int], bits: int) -> list[int]:
    return [(value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1) for value in values]


PAIRS = [("f32", "i16"), ("i32", "i16"), ("i64", "i32")]


@pytest.mark.parametrize(("source", "result"), PAIRS)
@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_an_absent_saturation_is_that_of_the_release(source: str, result: str, target: str) -> None:
    bits = 8 * np.dtype(DTYPES[result]).itemsize
    limited, low = clamped(values_of(source), bits), wrapped(values_of(source), bits)
    assert limited != low
    for release in ("", "0.63", "0.64"):
        assert converted(source, result, release, target=target) == limited
    for release in ("0.44", "0.61", "0.62"):
        assert converted(source, result, release, target=target) == low


@pytest.mark.parametrize("release", ["0.61", "0.64"])
def test_a_stated_saturation_counts_in_every_release(release: str) -> None:
    modes = {word: f"{{sat_mode = #pto<saturation_mode {word}>}} " for word in ("ON", "OFF")}
    assert converted("f32", "i16", release, stated=modes["ON"]) == clamped(values_of("f32"), 16)
    assert converted("f32", "i16", release, stated=modes["OFF"]) == wrapped(values_of("f32"), 16)


@pytest.mark.parametrize("release", ["0.61", "0.64"])
def test_templates_have_one_saturation_for_each_pair(release: str) -> None:
    assert converted("f32", "i16", release, backend="vpto") == wrapped(values_of("f32"), 16)


# ---------------------------------------------------------------- verdicts


def verdicts(body: str, release: str, target: str = "a5", arguments: str = "") -> list[tuple[str, str]]:
    found = diagnostics(body, release, target, arguments)
    return [(rule, message) for rule, message in found if rule.startswith("release-")]


def rules_of(body: str, release: str, target: str, arguments: str) -> set[str]:
    return {rule for rule, _ in diagnostics(body, release, target, arguments)}


def diagnostics(body: str, release: str, target: str, arguments: str) -> list[tuple[str, str]]:
    stated = f'pto.release = "{release}", ' if release else ""
    text = (
        f'module attributes {{{stated}pto.target_arch = "{target}"}} {{\n  func.func @f({arguments}) {{\n{body}\n'
        "    return\n  }\n}\n"
    )
    module, found = parsed(text)
    assert module is not None and not found, found
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    verify_module(module, engine)
    return [(d.rule, d.message) for d in engine.diagnostics]


SOURCE, MASK = "!pto.tile_buf<vec, 8x256xf32>", "!pto.tile_buf<vec, 8x32xi8>"
PACKED = f"    pto.tcmp ins(%a, %b {{cmpMode = #pto<cmp lt>}} : {SOURCE}, {SOURCE}) outs(%m : {MASK})"
PACKED_ARGUMENTS = f"%a: {SOURCE}, %b: {SOURCE}, %m: {MASK}"
POINTER = "%p: !pto.ptr<f32, gm>, %i: index"
LOAD = "    %x = pto.load_scalar %p[%i] : !pto.ptr<f32, gm> -> f32"
TILE = "!pto.tile_buf<vec, 16x16xf16>"
POP = "    %{} = pto.tpop_from_aic {{id = {}, split = 0}} -> " + TILE
FREE = "    pto.tfree_from_aic {{id = {}, split = 0}}"
POPS = {
    "two at once": ([POP.format("x", 0), POP.format("y", 0), FREE.format(0), FREE.format(0)], 1),
    "one after the other": ([POP.format("x", 0), FREE.format(0), POP.format("y", 0), FREE.format(0)], 0),
    "of two queues": ([POP.format("x", 0), POP.format("y", 1), FREE.format(0), FREE.format(1)], 0),
}


def test_packed_masks_on_a5() -> None:
    assert [rule for rule, _ in verdicts(PACKED, "0.61", "a5", PACKED_ARGUMENTS)] == ["release-refused"]
    for release, target in (("0.63", "a5"), ("", "a5"), ("0.61", "a2a3")):
        assert verdicts(PACKED, release, target, PACKED_ARGUMENTS) == []


@pytest.mark.parametrize("name", POPS)
def test_live_pops(name: str) -> None:
    lines, refused = POPS[name]
    assert len(verdicts("\n".join(lines), "0.60")) == refused
    assert verdicts("\n".join(lines), "0.63") == verdicts("\n".join(lines), "") == []


def test_scalar_loads_are_removed_from_a_stated_release_only() -> None:
    assert [rule for rule, _ in verdicts(LOAD, "0.64", arguments=POINTER)] == ["release-refused"]
    assert verdicts(LOAD, "0.63", arguments=POINTER) == verdicts(LOAD, "", arguments=POINTER) == []


TABLE, ROWS = "!pto.partition_tensor_view<32x32xi32>", "!pto.tile_buf<vec, 32x32xi32>"
GATHER = f"    pto.mgather ins(%t, %i : {TABLE}, !pto.tile_buf<vec, 1x32xi32>) outs(%d : {ROWS})"
GATHER_ARGUMENTS = f"%t: {TABLE}, %i: !pto.tile_buf<vec, 1x32xi32>, %d: {ROWS}"


@pytest.mark.parametrize(("release", "refused"), [("0.27", False), ("0.44", False), ("0.60", True), ("", True)])
def test_a_gather_without_its_mode(release: str, refused: bool) -> None:
    assert ("mgs-coalesce" in rules_of(GATHER, release, "a5", GATHER_ARGUMENTS)) is refused


FULL, COLUMN, NARROW = (f"!pto.tile_buf<vec, 32x{kind}>" for kind in ("32xf32", "1xf32, blayout=col_major", "16xf32"))
EXPAND = f"    pto.{{}} ins(%a, %s, %t : {FULL}, {COLUMN}, {FULL}) outs(%d : {FULL})"
EXPAND_ARGUMENTS = f"%a: {FULL}, %s: {COLUMN}, %t: {FULL}, %d: {FULL}"


@pytest.mark.parametrize("op", ["trowexpandmax", "trowexpandmin", "trowexpandexpdif"])
def test_a_scratch_of_row_expansions_on_a5(op: str) -> None:
    body = EXPAND.format(op)
    assert [rule for rule, _ in verdicts(body, "0.44", "a5", EXPAND_ARGUMENTS)] == ["release-refused"]
    for release, target in (("0.60", "a5"), ("", "a5"), ("0.44", "a2a3")):
        assert verdicts(body, release, target, EXPAND_ARGUMENTS) == []


@pytest.mark.parametrize(("scratch", "release", "refused"), [
    (NARROW, "0.27", 1), (FULL, "0.27", 0), (NARROW, "0.44", 0), (NARROW, "", 0),
])  # fmt: skip
def test_a_scratch_of_row_products(scratch: str, release: str, refused: int) -> None:
    result = "!pto.tile_buf<vec, 32x32xf32, valid=32x1>"
    body = f"    pto.trowprod ins(%a, %t : {FULL}, {scratch}) outs(%d : {result})"
    assert len(verdicts(body, release, "a2a3", f"%a: {FULL}, %t: {scratch}, %d: {result}")) == refused


def test_operations_of_one_dialect_only() -> None:
    newer = f"    pto.taddrelu ins(%a, %a : {SOURCE}, {SOURCE}) outs(%b : {SOURCE})"
    arguments = f"%a: {SOURCE}, %b: {SOURCE}"
    assert [rule for rule, _ in verdicts(newer, "0.44", "a2a3", arguments)] == ["release-refused"]
    assert verdicts(newer, "0.50", "a2a3", arguments) == verdicts(newer, "", "a2a3", arguments) == []


def test_an_unknown_release_is_an_error_with_the_known_ones() -> None:
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    for text in ('"0.99"', "63 : i32"):
        module, _ = parsed(f'module attributes {{pto.release = {text}, pto.target_arch = "a5"}} {{\n}}\n')
        verify_module(module, engine)
    found = [(d.rule, d.message, d.help) for d in engine.diagnostics]
    assert [(rule, help) for rule, _, help in found] == [("release-unknown", "known are 0.27 to 0.64")] * 2
    assert re.search("'0.99'", found[0][1])
