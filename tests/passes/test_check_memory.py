"""The pass check-memory. Source: docs/reference/constraints.md, "Whole programs"."""

import pytest
from sanitize_programs import found

from pto_dialect.diagnostics.diagnostic import Severity

T = "!pto.tile_buf<vec, 16x16xf32>"


def tiles(address: int, *lines: str) -> str:
    body = "".join(f"  {line}\n" for line in lines)
    return f"""func.func @f() {{
  %c0 = arith.constant 0 : i64
  %at = arith.constant {address} : i64
  %one = arith.constant 1.0 : f32
  %a = pto.alloc_tile addr = %c0 : {T}
  %b = pto.alloc_tile addr = %at : {T}
{body}  return
}}
"""


def fill(tile: str) -> str:
    return f"pto.texpands ins(%one : f32) outs({tile} : {T})"


def add(a: str, b: str, out: str) -> str:
    return f"pto.tadd ins({a}, {b} : {T}, {T}) outs({out} : {T})"


@pytest.mark.parametrize("address, expected", [(32, 1), (992, 1), (1024, 0), (4096, 0)])
def test_tiles_in_use_at_the_same_time(address: int, expected: int):
    errors = found(tiles(address, fill("%a"), fill("%b"), add("%a", "%b", "%b")), ("check-memory",))
    assert [d.rule for d in errors] == ["overlap-tiles"] * expected
    if expected:
        assert errors[0].severity is Severity.ERROR
        assert f"share bytes [{address}, 1024) of ub" in errors[0].message
        assert [note.message for note in errors[0].notes] == [
            "%a has bytes [0, 1024)",
            f"%b has bytes [{address}, {address + 1024})",
        ]


def test_tiles_in_use_one_after_the_other():
    lines = (fill("%a"), add("%a", "%a", "%a"), fill("%b"), add("%b", "%b", "%b"))
    assert not found(tiles(32, *lines), ("check-memory",))


def test_a_tile_that_is_written_again_has_its_own_content():
    assert not found(tiles(32, fill("%a"), fill("%b"), fill("%a"), add("%a", "%a", "%a")), ("check-memory",))


def test_one_address_for_two_handles_is_a_plan():
    """Shown with --pedantic only."""
    assert not found(tiles(0, fill("%a"), fill("%b"), add("%a", "%b", "%b")), ("check-memory",))


def test_views_and_choices_have_the_bytes_of_their_tile():
    """What ``scf.if`` yields and a view of it are the tile that was allocated."""
    lines = ["%n = pto.get_block_idx", "%zero = arith.constant 0 : i64", "%q = arith.cmpi eq, %n, %zero : i64"]
    lines += [
        fill("%a"),
        f"%t = scf.if %q -> ({T}) {{",
        f"  scf.yield %a : {T}",
        "} else {",
        f"  scf.yield %a : {T}",
        "}",
    ]
    lines += [fill("%b"), add("%t", "%t", "%b")]
    (diagnostic,) = found(tiles(512, *lines), ("check-memory",))
    assert (diagnostic.rule, diagnostic.severity) == ("overlap-tiles", Severity.ERROR)


def test_an_overlap_on_some_path_is_a_warning():
    lines = ["%n = pto.get_block_idx", "%zero = arith.constant 0 : i64", "%q = arith.cmpi eq, %n, %zero : i64"]
    lines += [fill("%a"), "scf.if %q {", fill("%b"), "}", add("%a", "%a", "%a")]
    (diagnostic,) = found(tiles(512, *lines), ("check-memory",))
    assert (diagnostic.rule, diagnostic.severity) == ("overlap-tiles", Severity.WARNING)
    assert "on some path" in diagnostic.message


@pytest.mark.parametrize("address, expected", [(4096, ["mem-uninit"]), (0, []), (512, [])])
def test_a_tile_that_nothing_has_written(address: int, expected: list[str]):
    """Bytes that another tile has written are written."""
    assert [d.rule for d in found(tiles(address, fill("%a"), add("%b", "%b", "%b")), ("check-memory",))] == expected


def test_a_function_that_computes_with_unfilled_tiles_is_warned_of_once():
    """One warning at the first operation; the notes name each tile and count what else reads it."""
    lines = [f"%{name} = pto.alloc_tile : {T}" for name in ("d", "e", "f")]
    sums = [add("%d", "%e", "%d"), add("%f", "%d", "%f"), add("%f", "%e", "%f"), add("%a", "%d", "%e")]
    (one,) = found(tiles(4096, *lines, *sums), ("check-memory",))
    assert (one.rule, one.severity) == ("mem-uninit", Severity.WARNING)
    assert one.span is not None and one.span.text.startswith("pto.tadd ins(%d, %e")
    assert one.message.startswith("pto.tadd reads %d and %e, which nothing has written; so do other operations with 2 ")
    notes = [note.message for note in one.notes]
    assert notes == [
        "%d is allocated here",
        "%e is allocated here, and 1 more operation reads it",
        "pto.tadd reads %f",
        "pto.tadd reads %a",
    ]
    assert one.help == "fill %d and %e before the function computes with them"


def test_a_tile_that_a_pointer_may_have_written():
    lines = ["%p = pto.castptr %at : i64 -> !pto.ptr<f32, ub>", "%i = arith.constant 0 : index"]
    lines += ["pto.store_scalar %one, %p[%i] : !pto.ptr<f32, ub>, f32", fill("%a"), add("%b", "%b", "%b")]
    assert not found(tiles(4096, *lines), ("check-memory",))
