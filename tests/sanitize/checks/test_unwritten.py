"""Unwritten memory, bounds and overlap. Source: docs/reference/instrumentation.md, "Findings", "No findings"."""

import numpy as np
import pytest
from sanitize_programs import barrier, copy, diagnostics, errors, load, program, rules, set_flag, store, ub, wait_flag

from pto_dialect.diagnostics.diagnostic import Severity

X, Y, Z = ub("x", 0), ub("y", 256), ub("z", 512)
TWO = "%c2 = arith.constant 2 : i64"
TO_STORE = [set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3")]


def test_a_store_of_bytes_that_nothing_wrote():
    (found,) = diagnostics(program(X, store("%x")))
    assert (found.rule, found.severity) == ("mem-uninit", Severity.ERROR)
    assert "bytes [0, 64) of gm 'b'" in found.message and "bytes [0, 64) of ub (through %x)" in found.message


def test_the_mark_follows_copies():
    """Copied twice, it is reported where it leaves the chip and not before."""
    (found,) = diagnostics(program(X, Y, Z, TWO, copy("%x", "%y"), copy("%y", "%z"), store("%z")))
    assert found.rule == "mem-uninit" and found.span is not None and found.span.text.startswith("pto.mte_ub_gm")


def test_copies_of_unwritten_bytes_that_nobody_uses():
    assert not rules(program(X, Y, TWO, copy("%x", "%y")))


def test_a_copy_over_it_takes_the_mark_away():
    lines = [load("%x"), set_flag("MTE2", "V"), wait_flag("MTE2", "V"), copy("%x", "%y")]
    lines += [set_flag("V", "MTE3"), wait_flag("V", "MTE3"), store("%y")]
    assert not rules(program(X, Y, TWO, *lines))


def test_the_rest_of_a_load_is_not_written():
    half = load("%x").replace("%c64 nburst(%c1, %c64, %c64)", "%c32 nburst(%c1, %c32, %c32)")
    (found,) = diagnostics(program(X, "%c32 = arith.constant 32 : i64", half, *TO_STORE, store("%x")))
    assert "bytes [32, 64) of gm 'b'" in found.message and "bytes [32, 64) of ub" in found.message


def test_padding_that_a_product_does_not_use():
    """A 5 x 7 x 6 product: the fractals around it hold bytes that were never written."""
    assert not diagnostics(product(k=7), matrices())


def test_a_product_beyond_what_was_loaded():
    (found,) = [d for d in diagnostics(product(k=23), matrices()) if d.severity is Severity.ERROR]
    assert found.rule == "mem-uninit" and "gm 'c'" in found.message


def test_an_accumulator_that_was_not_started():
    found = diagnostics(product(k=7, mad="mad_acc"), matrices())
    assert [d.rule for d in found if d.severity is Severity.ERROR] == ["mad-acc-init", "mem-uninit"]


def matrices() -> list[np.ndarray]:
    return [np.ones((5, 7), np.float16), np.ones((7, 6), np.float16), np.zeros((5, 6), np.float32)]


def product(k: int, mad: str = "mad") -> str:
    """C [5, 6] = A [5, 7] B [7, 6] with ``k`` as the product's depth."""
    numbers = sorted({0, 1, 5, 6, 7, 12, 14, 16, 24, k})
    constants = "\n".join(f"    %c{n} = arith.constant {n} : i64" for n in numbers)
    frac = "!pto.ptr<f16, gm>, !pto.ptr<f16, l1>, nd2nz, shape i64, i64, src_layout(i64), dst_group i64, i64, i64, i64"
    ends = (("MTE2", "MTE1"), ("MTE1", "M"), ("M", "FIX"))
    flags = [flag(*pipes) for pipes in ends for flag in (set_flag, wait_flag)]
    pair = ["\n    ".join(flags[i : i + 2]) for i in (0, 2, 4)]
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%a: !pto.ptr<f16, gm>, %b: !pto.ptr<f16, gm>, %c: !pto.ptr<f32, gm>) attributes {{pto.kernel}} {{
{constants}
    %far = arith.constant 65536 : i64
    %false = arith.constant false
    %a_l1 = pto.castptr %c0 : i64 -> !pto.ptr<f16, l1>
    %b_l1 = pto.castptr %far : i64 -> !pto.ptr<f16, l1>
    %l0a = pto.castptr %c0 : i64 -> !pto.ptr<f16, l0a>
    %l0b = pto.castptr %c0 : i64 -> !pto.ptr<f16, l0b>
    %l0c = pto.castptr %c0 : i64 -> !pto.ptr<f32, l0c>
    pto.mte_gm_l1_frac %a, %a_l1, nd2nz, shape(%c5, %c7), src_layout(%c14), dst_group(%c1, %c1, %c16, %c0), ctrl(%c0, %false) : {frac}, ctrl i64, i1
    pto.mte_gm_l1_frac %b, %b_l1, nd2nz, shape(%c7, %c6), src_layout(%c12), dst_group(%c1, %c1, %c16, %c0), ctrl(%c0, %false) : {frac}, ctrl i64, i1
    {pair[0]}
    pto.mte_l1_l0a %a_l1, %l0a, %c5, %c{k}, %c0, %c0 : !pto.ptr<f16, l1>, !pto.ptr<f16, l0a>, i64, i64, i64, i64
    pto.mte_l1_l0b %b_l1, %l0b, %c{k}, %c6, %c0, %c0 {{transpose = true}} : !pto.ptr<f16, l1>, !pto.ptr<f16, l0b>, i64, i64, i64, i64
    {pair[1]}
    pto.{mad} %l0a, %l0b, %l0c, %c5, %c6, %c{k} : !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64
    {pair[2]}
    pto.mte_l0c_gm %l0c, %c, %c5, %c6, %c16, %c6, %c0, %c0, nz2nd : !pto.ptr<f32, l0c>, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64
    return
  }}
}}
"""  # noqa: E501


# ------------------------------------------------------------ numbers that decide


def scalar(*lines: str) -> str:
    return program("%c768 = arith.constant 768 : i64", "%p = pto.castptr %c768 : i64 -> !pto.ptr<i32, ub>", *lines)


def test_a_number_that_decides():
    lines = ["%v = pto.load_scalar %p[%i0] : !pto.ptr<i32, ub> -> i32", "%k0 = arith.constant 0 : i32"]
    lines += ["%yes = arith.cmpi eq, %v, %k0 : i32", "scf.if %yes {", "pto.barrier #pto.pipe<PIPE_ALL>", "}"]
    (found,) = diagnostics(scalar(*lines))
    assert (found.rule, found.severity) == ("mem-uninit", Severity.ERROR)
    assert "scf.if" in found.message and "depends on it" in found.message


def test_a_number_that_is_only_loaded():
    (found,) = diagnostics(scalar("%v = pto.load_scalar %p[%i0] : !pto.ptr<i32, ub> -> i32"))
    assert (found.rule, found.severity) == ("mem-uninit", Severity.WARNING)


# ------------------------------------------------------------ bounds and tiles


def test_a_buffer_that_is_too_short():
    values = [np.arange(64, dtype=np.float32), np.zeros(15, np.float32)]
    (found,) = diagnostics(program(X, load("%x"), *TO_STORE, store("%x")), values)
    assert found.rule == "mem-oob" and found.notes[-1].message == "the run ends here"


@pytest.mark.parametrize("address, rule", [(262144 - 32, "mem-oob"), (48 + 1, "mem-align")])
def test_addresses_of_transfers(address: int, rule: str):
    assert errors(program(ub("x", address), load("%x")), verify=False) == [rule]


def tiles(second: int, kind: str = "16x16xf32") -> str:
    tile = "!pto.tile_buf<vec, 16x16xf32>"
    other = f"!pto.tile_buf<vec, {kind}>"
    return f"""func.func @k(%out: !pto.ptr<f32, gm>) attributes {{pto.kernel}} {{
  %c0 = arith.constant 0 : i64
  %at = arith.constant {second} : i64
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i16 = arith.constant 16 : index
  %one = arith.constant 1.0 : f32
  %a = pto.alloc_tile addr = %c0 : {tile}
  %b = pto.alloc_tile addr = %at : {other}
  pto.texpands ins(%one : f32) outs(%a : {tile})
  pto.texpands ins(%one : f32) outs(%b : {other})
  pto.tadd ins(%b, %b : {other}, {other}) outs(%b : {other})
  pto.tadd ins(%a, %a : {tile}, {tile}) outs(%a : {tile})
  return
}}
"""


@pytest.mark.parametrize("address, severity", [(992, Severity.ERROR), (0, Severity.ERROR), (1024, None)])
def test_tiles_that_share_bytes(address: int, severity: Severity | None):
    found = diagnostics(tiles(address), [np.zeros(4, np.float32)])
    assert [(d.rule, d.severity) for d in found] == ([("mem-overlap", severity)] if severity is not None else [])
    if address == 992:
        assert "%a and %b" in found[0].message and "bytes [992, 1024) of ub" in found[0].message


def test_a_tile_beyond_its_memory():
    found = diagnostics(tiles(262144 - 512), [np.zeros(4, np.float32)], verify=False)
    assert [d.rule for d in found] == ["mem-capacity"]


# ------------------------------------------------------------ numbers


def division(by: str) -> str:
    tile = "!pto.tile_buf<vec, 16x16xf32>"
    return f"""func.func @k(%out: !pto.ptr<f32, gm>) attributes {{pto.kernel}} {{
  %one = arith.constant 1.0 : f32
  %by = arith.constant {by} : f32
  %a = pto.alloc_tile : {tile}
  %b = pto.alloc_tile : {tile}
  pto.texpands ins(%one : f32) outs(%a : {tile})
  pto.tdivs ins(%a, %by : {tile}, f32) outs(%b : {tile})
  pto.tadd ins(%b, %b : {tile}, {tile}) outs(%b : {tile})
  return
}}
"""


@pytest.mark.parametrize("by, expected", [("0.0", ["numeric-nan-inf"]), ("2.0", [])])
def test_where_an_infinity_comes_up(by: str, expected: list[str]):
    """Once, where it arises, and only on request."""
    found = diagnostics(division(by), [np.zeros(1, np.float32)], checks={"numeric"})
    assert [d.rule for d in found] == expected
    assert all(d.severity is Severity.INFO and "tdivs produces infinity" in d.message for d in found)
    assert not diagnostics(division(by), [np.zeros(1, np.float32)])


HALVES = {
    # What nothing wrote beside what was loaded is left to the reader; what was made of such bytes is not.
    "never written": ([], Severity.WARNING),
    "made of what was never written": ([copy("%z", "%half").replace("%c2", "%c1")], Severity.ERROR),
}


@pytest.mark.parametrize("half", HALVES)
def test_a_store_of_more_than_was_filled(half: str):
    lines, severity = HALVES[half]
    part = load("%x").replace("%c64 nburst(%c1, %c64, %c64)", "%c32 nburst(%c1, %c32, %c32)")
    head = (X, Z, ub("half", 32))
    text = program(*head, "%c32 = arith.constant 32 : i64", part, *lines, barrier("ALL"), store("%x"))
    (found,) = diagnostics(text)
    assert (found.rule, found.severity) == ("mem-uninit", severity)
    assert "bytes [32, 64) of gm 'b'" in found.message and "bytes [32, 64) of ub" in found.message


def test_a_store_of_nothing_that_was_written():
    (found,) = diagnostics(program(X, store("%x")))
    assert (found.rule, found.severity) == ("mem-uninit", Severity.ERROR)
