"""Tiles without addresses that are needed at the same time against the size of their memory, with a formula again."""

from __future__ import annotations

import pytest

from pto_dialect import check
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import process
from pto_dialect.passes.registry import VERIFY_PASSES

KIB = {"a2a3": 192, "a5": 256}
"""Vector memory, in units of 1024 bytes."""


def tile(rows: int) -> str:
    """``rows`` KiB: 256 f32 in a row."""
    return f"!pto.tile_buf<vec, {rows}x256xf32>"


def module(body: str, target: str) -> str:
    return f'module attributes {{pto.target_arch = "{target}"}} {{\nfunc.func @f() {{\n{body}\nreturn\n}}\n}}'


def fill(name: str, rows: int) -> str:
    return f"pto.texpands ins(%one : f32) outs(%{name} : {tile(rows)})"


def add(first: str, second: str, result: str, rows: int) -> str:
    t = tile(rows)
    return f"pto.tadd ins(%{first}, %{second} : {t}, {t}) outs(%{result} : {t})"


def alloc(name: str, rows: int, address: int | None = None) -> str:
    at = "" if address is None else f" addr = %at{name}"
    made = "" if address is None else f"%at{name} = arith.constant {address} : i64\n"
    return f"{made}%{name} = pto.alloc_tile{at} : {tile(rows)}"


ONE = "%one = arith.constant 1.0 : f32"


def overflows(body: list[str], target: str) -> bool:
    found = check(module("\n".join([ONE, *body]), target)).diagnostics
    return any(d.rule == "capacity-live" for d in found)


@pytest.mark.parametrize("target", sorted(KIB))
@pytest.mark.parametrize("rows", [32, 64, 95, 96, 97, 127, 128, 129, 160])
def test_two_tiles_at_once(target: str, rows: int) -> None:
    body = [alloc("a", rows), alloc("b", rows), fill("a", rows), fill("b", rows), add("a", "b", "b", rows)]
    assert overflows(body, target) == (2 * rows > KIB[target])


@pytest.mark.parametrize("target", sorted(KIB))
def test_tiles_one_after_another_fit(target: str) -> None:
    rows = KIB[target] * 2 // 3
    body = [alloc("a", rows), alloc("b", rows), fill("a", rows), add("a", "a", "a", rows)]
    body += [fill("b", rows), add("b", "b", "b", rows)]
    assert not overflows(body, target)


@pytest.mark.parametrize("target", sorted(KIB))
def test_a_result_may_take_the_address_of_a_source(target: str) -> None:
    rows = KIB[target] * 2 // 3
    body = [alloc("a", rows), alloc("b", rows), fill("a", rows), add("a", "a", "b", rows), add("b", "b", "b", rows)]
    assert not overflows(body, target)


def test_what_is_overwritten_before_it_is_read_needs_no_memory_between() -> None:
    body = [alloc("a", 128), alloc("b", 128), fill("a", 128), fill("b", 128), add("b", "b", "b", 128)]
    body += [fill("a", 128), add("a", "a", "a", 128)]
    assert not overflows(body, "a2a3")


def test_tiles_with_addresses_do_not_count() -> None:
    body = [alloc("a", 128, 0), alloc("b", 128, 0), fill("a", 128), fill("b", 128), add("a", "b", "b", 128)]
    assert not overflows(body, "a2a3")


def test_branches_are_judged_one_by_one() -> None:
    inner = [fill("a", 128), add("a", "a", "a", 128)]
    other = [fill("b", 128), add("b", "b", "b", 128)]
    body = [alloc("a", 128), alloc("b", 128), "%c = arith.constant true"]
    body += ["scf.if %c {", *inner, "} else {", *other, "}"]
    assert not overflows(body, "a2a3")
    loop = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index", "scf.for %i = %c0 to %c1 step %c1 {"]
    loop += [fill("a", 128), fill("b", 128), add("a", "b", "b", 128), "}"]
    assert overflows([alloc("a", 128), alloc("b", 128), *loop], "a2a3")


def test_the_message_names_the_tiles_and_their_sizes() -> None:
    body = [ONE, alloc("a", 100), alloc("b", 120), fill("a", 100), fill("b", 120), add("a", "a", "a", 100)]
    body += [add("b", "b", "b", 120)]
    (found,) = (d for d in check(module("\n".join(body), "a2a3")).diagnostics if d.rule == "capacity-live")
    assert "225280 bytes" in found.message
    assert "196608" in found.message
    assert {note.message for note in found.notes} == {"%a has 102400 bytes", "%b has 122880 bytes"}


@pytest.mark.parametrize(("rows", "cols", "loc", "right"), [
    (5, 128, "mat", "16x128xf16, valid=5x128"),
    (33, 16, "mat", "48x16xf16, valid=33x16"),
    (16, 5, "mat", "16x16xf16, valid=16x5"),
    (17, 17, "acc", "32x32xf16, valid=17x17"),
])  # fmt: skip
def test_an_unaligned_boxed_tile_is_refused_with_a_padded_one_as_remedy(
    rows: int, cols: int, loc: str, right: str
) -> None:
    kind = f"!pto.tile_buf<{loc}, {rows}x{cols}xf16, blayout=col_major, slayout=row_major>"
    found = check(module(f"%a = pto.alloc_tile : {kind}", "a2a3")).diagnostics
    helps = {d.help or "" for d in found if d.rule == "alloc-boxed-multiple"}
    assert len(helps) == 1
    (help,) = helps
    assert right in help
    padded = help.removeprefix("write ")
    assert not [d for d in check(module(f"%a = pto.alloc_tile : {padded}", "a2a3")).diagnostics if "alloc" in d.rule]


@pytest.mark.parametrize("cols", [1, 7, 12, 15])
def test_an_unaligned_row_is_refused_with_a_padded_one_as_remedy(cols: int) -> None:
    found = check(module(f"%a = pto.alloc_tile : !pto.tile_buf<vec, 4x{cols}xf32>", "a5")).diagnostics
    (one,) = (d for d in found if d.rule == "alloc-nonebox-align")
    assert one.help == f"write !pto.tile_buf<vec, 4x{-(-cols // 8) * 8}xf32, valid=4x{cols}>"


@pytest.mark.parametrize("groups", range(1, 9))
@pytest.mark.parametrize("layout", ["mx_a_zz", "mx_b_nn"])
def test_views_of_scales_have_pairs_of_groups(groups: int, layout: str) -> None:
    shape = (16, groups) if layout == "mx_a_zz" else (groups, 16)
    constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in {1, 16, groups})
    lists = f"shape = [%c{shape[0]}, %c{shape[1]}], strides = [%c{shape[1]}, %c1]"
    view = f"%v = pto.make_tensor_view %p, {lists} {{layout = #pto.layout<{layout}>}}"
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @f(%p: !pto.ptr<!pto.f8E8M0>) {{
      {constants}
      {view} : !pto.tensor_view<{shape[0]}x{shape[1]}x!pto.f8E8M0>
      return
    }}
    }}"""
    found = [d for d in check(text).diagnostics if d.rule == "mx-scale-groups"]
    assert bool(found) == (groups % 2 == 1)


TALL = """func.func @f(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) attributes {{pto.entry}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant {rows} : index
  %c256 = arith.constant 256 : index
  %av = pto.make_tensor_view %a, shape = [%rows, %c256], strides = [%c256, %c1] : !pto.tensor_view<?x?xf32>
  %bv = pto.make_tensor_view %b, shape = [%rows, %c256], strides = [%c256, %c1] : !pto.tensor_view<?x?xf32>
  %ap = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%rows, %c256]
    : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<{rows}x256xf32>
  %bp = pto.partition_view %bv, offsets = [%c0, %c0], sizes = [%rows, %c256]
    : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<{rows}x256xf32>
  %x = pto.alloc_tile : {tile}
  %y = pto.alloc_tile : {tile}
  %z = pto.alloc_tile : {tile}
  pto.tload ins(%ap : !pto.partition_tensor_view<{rows}x256xf32>) outs(%x : {tile})
  pto.texp ins(%x : {tile}) outs(%y : {tile})
  pto.tadd ins(%x, %y : {tile}, {tile}) outs(%z : {tile})
  pto.tadd ins(%z, %x : {tile}, {tile}) outs(%z : {tile})
  pto.tadd ins(%z, %y : {tile}, {tile}) outs(%z : {tile})
  pto.tstore ins(%z : {tile}) outs(%bp : !pto.partition_tensor_view<{rows}x256xf32>)
  return
}}
"""


@pytest.mark.parametrize(
    ("passes", "rules"),
    [
        ((), ["capacity-live"]),
        (("double-buffer",), ["capacity-live"]),
        (("tile-loops{rows=16}",), []),
        (("tile-loops{rows=16}", *VERIFY_PASSES), []),
        (("tile-loops{rows=64}", *VERIFY_PASSES), []),
        (("tile-loops{rows=128}", *VERIFY_PASSES), ["capacity-live"]),
    ],
)
def test_tiles_are_judged_after_passes_that_divide_them(passes: tuple[str, ...], rules: list[str]) -> None:
    assert errors_with(passes) == rules


def test_a_proof_has_nothing_to_compare_with_where_tiles_do_not_fit_before() -> None:
    assert errors_with(("tile-loops{rows=16}",), proving=60.0) == ["prove-open"]


def errors_with(passes: tuple[str, ...], proving: float | None = None) -> list[str]:
    options = Options(target="a5", passes=(*VERIFY_PASSES, *passes), proving=proving)
    found = process(TALL.format(rows=256, tile=tile(256)), "f.pto", options).diagnostics
    return [one.rule for one in found if one.severity is Severity.ERROR]
