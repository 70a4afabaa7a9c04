"""Unit flags of accumulators, block by block; waits of the scalar unit; counters between cores."""

import pytest
from sanitize_programs import barrier, diagnostics, errors, load, program, rules, set_flag, store, ub, wait_flag

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.sanitize.state import shadow

ACC = "!pto.ptr<f32, l0c>"
CUBE = [
    "%c16 = arith.constant 16 : i64",
    "%c32 = arith.constant 32 : i64",
    "%c512 = arith.constant 512 : i64",
    "%h = pto.castptr %a : !pto.ptr<f32, gm> -> !pto.ptr<f16, gm>",
    "%l1 = pto.castptr %c0 : i64 -> !pto.ptr<f16, l1>",
    "%l0a = pto.castptr %c0 : i64 -> !pto.ptr<f16, l0a>",
    "%l0b = pto.castptr %c0 : i64 -> !pto.ptr<f16, l0b>",
    f"%acc = pto.castptr %c0 : i64 -> {ACC}",
    f"%c1024 = arith.constant 1024 : i64\n %beside = pto.castptr %c1024 : i64 -> {ACC}",
    "pto.mte_gm_l1 %h, %l1, %c512 nburst(%c1, %c512, %c512) : !pto.ptr<f16, gm>, !pto.ptr<f16, l1>, i64, i64, i64, i64",
    barrier("ALL"),
    "pto.mte_l1_l0a %l1, %l0a, %c16, %c16, %c0, %c0 : !pto.ptr<f16, l1>, !pto.ptr<f16, l0a>, i64, i64, i64, i64",
    "pto.mte_l1_l0b %l1, %l0b, %c16, %c16, %c0, %c0 : !pto.ptr<f16, l1>, !pto.ptr<f16, l0b>, i64, i64, i64, i64",
    barrier("ALL"),
]


def product(flag: str = "check_and_set", acc: str = "%acc") -> str:
    clause = f" unit_flag({flag})" if flag else ""
    return (
        f"pto.mad %l0a, %l0b, {acc}, %c16, %c16, %c16{clause} "
        f": !pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, {ACC}, i64, i64, i64"
    )


def write_back(flag: str = "check_and_clear", acc: str = "%acc") -> str:
    clause = f"unit_flag({flag}), " if flag else ""
    return (
        f"pto.mte_l0c_l1 {acc}, %out, %c16, %c16, %c16, %c16, {clause}pre_quant(%q, mode = f32_f16) "
        f": {ACC}, !pto.ptr<f16, l1>, i64, i64, i64, i64, i64"
    )


def stored(flag: str = "check_and_clear", acc: str = "%acc") -> str:
    clause = f"unit_flag({flag}), " if flag else ""
    return (
        f"pto.mte_l0c_gm {acc}, %b, %c16, %c16, %c16, %c16, %c0, %c0, {clause}nz2nd "
        f": {ACC}, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64"
    )


def cube(*lines: str) -> list[tuple[str, str]]:
    """Rules and severities of what a cube program finds."""
    import numpy as np

    values = [np.ones(256, np.float32), np.zeros(512, np.float32)]
    return [(found.rule, found.severity.name) for found in diagnostics(program(*CUBE, *lines), values)]


def test_unit_flags_hand_an_accumulator_over_and_back():
    assert not cube(product(), stored())
    assert not cube(product(), stored(), barrier("FIX"), product(), stored())


def test_a_product_that_only_checks_leaves_the_flag_to_the_last_one():
    assert not cube(product("check_only"), product("check_and_set"), stored())


def test_a_write_back_that_only_checks_leaves_the_flag_set():
    found = cube(product(), stored("check_only"), barrier("FIX"), stored("check_and_clear"))
    assert not found


def test_a_flag_that_nobody_clears_stops_the_next_product():
    assert ("sync-unit-flag", "ERROR") in cube(product(), stored("check_only"), barrier("FIX"), product())


def test_a_write_back_without_a_product():
    assert ("sync-unit-flag", "ERROR") in cube(product(""), stored())


def test_a_flag_of_the_pipe_stands_for_the_unit_flag():
    assert not cube(product(""), set_flag("M", "FIX"), wait_flag("M", "FIX"), stored("check_and_clear"))


def test_unit_flags_go_by_blocks_of_one_kilobyte():
    """The product beside sets its own block: nobody has handed over the first one."""
    assert ("sync-unit-flag", "ERROR") in cube(product("", "%acc"), product("check_and_set", "%beside"), stored())
    assert not cube(product("check_and_set", "%beside"), stored("check_and_clear", "%beside"))


def test_the_message_names_the_bytes_of_the_block():
    import numpy as np

    values = [np.ones(256, np.float32), np.zeros(512, np.float32)]
    found = diagnostics(program(*CUBE, product(""), stored()), values)
    (one,) = (d for d in found if d.rule == "sync-unit-flag")
    assert "l0c bytes [0, 1024)" in one.message and one.severity is Severity.ERROR


# ------------------------------------------------------------ the scalar unit

READ = "%v = pto.load_scalar %x[%i0] : !pto.ptr<f32, ub> -> f32"
WRITE = "%w = arith.constant 3.0 : f32\n pto.store_scalar %w, %x[%i0] : !pto.ptr<f32, ub>, f32"
X = ub("x", 0)


def test_the_scalar_unit_waits_for_a_load():
    assert not errors(program(X, load("%x"), set_flag("MTE2", "S"), wait_flag("MTE2", "S"), READ))


@pytest.mark.parametrize(
    ("lines", "rule", "flag"),
    [
        ((load("%x"), READ), "race-raw", ("MTE2", "S")),
        ((load("%x"), WRITE), "race-waw", ("MTE2", "S")),
        ((load("%x"), barrier("ALL"), store("%x"), WRITE), "race-war", ("MTE3", "S")),
    ],
)
def test_what_the_text_has_first_is_named_first(lines: tuple[str, ...], rule: str, flag: tuple[str, str]):
    found = [d for d in diagnostics(program(X, *lines), sync="strict") if d.rule.startswith("race")]
    assert [d.rule for d in found] == [rule]
    assert found[0].help is not None
    assert f"pto.set_flag[<PIPE_{flag[0]}>, <PIPE_{flag[1]}>" in found[0].help and "iteration" not in found[0].help
    assert found[0].span is not None and "scalar" in found[0].span.text


def test_a_wait_of_the_scalar_unit_that_nothing_ends():
    (found,) = diagnostics(program(X, load("%x"), wait_flag("MTE2", "S"), READ))
    assert found.rule == "sync-deadlock"
    assert "PIPE_S waits for a flag from PIPE_MTE2, EVENT_ID0" in found.notes[0].message


# ------------------------------------------------------------ order inside one pipe


def test_two_stores_of_one_location_are_ordered_by_flags_to_another_pipe_and_back():
    chain = [set_flag("MTE3", "MTE2"), wait_flag("MTE3", "MTE2"), set_flag("MTE2", "MTE3", 1)]
    first = [X, load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x")]
    assert not rules(program(*first, *chain, wait_flag("MTE2", "MTE3", 1), store("%x")))
    assert rules(program(*first, store("%x"))) == {"sync-mte3-reorder": 1}


def test_two_loads_of_one_location_that_nobody_reads_in_between():
    lines = [load("%x"), load("%x"), set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), store("%x")]
    found = diagnostics(program(X, *lines))
    assert [(d.rule, d.severity) for d in found] == [("race-same-pipe", Severity.WARNING)]
    assert not diagnostics(program(X, lines[0], barrier("MTE2"), *lines[1:]))


TILE = "!pto.tile_buf<vec, {rows}x64xf32>"


def chain(rows: int, arch: str, *between: str, second: str = "pto.tadd ins(%y, %y : T, T) outs(%z : T)") -> str:
    """Two dependent operations on tiles, with ``between`` them."""
    tile = TILE.format(rows=rows)
    nbytes = rows * 256
    places = "".join(
        f"    %a{n} = arith.constant {n * nbytes} : i64\n    %{name} = pto.alloc_tile addr = %a{n} : T\n"
        for n, name in enumerate("xyz")
    )
    lines = "\n    ".join(
        [
            "%one = arith.constant 1.0 : f32",
            "pto.texpands ins(%one : f32) outs(%x : T)",
            barrier("ALL"),
            "pto.tadd ins(%x, %x : T, T) outs(%y : T)",
            *between,
            second,
        ]
    )
    head = f'module attributes {{pto.target_arch = "{arch}"}} {{\n  func.func @k() attributes {{pto.kernel}} {{\n'
    return f"{head}{places}    {lines}\n    return\n  }}\n}}\n".replace(" T", f" {tile}").replace("(T", f"({tile}")


@pytest.mark.parametrize(
    ("rows", "arch", "second", "expected"),
    [
        (8, "a3", "pto.tadd ins(%y, %y : T, T) outs(%z : T)", 1),
        (15, "a3", "pto.tadd ins(%y, %y : T, T) outs(%z : T)", 1),
        (16, "a3", "pto.tadd ins(%y, %y : T, T) outs(%z : T)", 0),  # hardware streams 16 repeats
        (16, "a3", "pto.tadd ins(%y, %y : T, T) outs(%y : T)", 0),
        (16, "a3", "pto.texpands ins(%one : f32) outs(%x : T)", 1),  # write after read
        (16, "a3", "pto.texpands ins(%one : f32) outs(%y : T)", 1),  # write after write
        (16, "a3", "pto.tadds ins(%x, %one : T, f32) outs(%x : T)", 1),  # write after read, by who reads it too
        (8, "a3", "pto.tadd ins(%x, %x : T, T) outs(%x : T)", 1),
        (8, "a3", "pto.tadd ins(%x, %y : T, T) outs(%x : T)", 1),  # and a read after a write of the same two
        (8, "a5", "pto.tadds ins(%x, %one : T, f32) outs(%x : T)", 0),
        (8, "a5", "pto.tadd ins(%y, %y : T, T) outs(%z : T)", 0),
    ],
)
@pytest.mark.parametrize("places", [1024, 0])
def test_dependent_operations_of_the_vector_unit(
    rows: int, arch: str, second: str, expected: int, places: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shadow, "MAX_RANGES", places)
    found = diagnostics(chain(rows, arch, second=second), [])
    assert [(d.rule, d.severity) for d in found] == [("race-same-pipe", Severity.ERROR)] * expected
    assert not [d for d in diagnostics(chain(rows, arch, barrier("V"), second=second), []) if arch == "a3"]


@pytest.mark.parametrize("places", [1024, 0])
def test_work_in_place_after_the_last_of_several_reads(places: int, monkeypatch: pytest.MonkeyPatch):
    """Reads before a barrier are over; of those after it the last one counts."""
    monkeypatch.setattr(shadow, "MAX_RANGES", places)
    read, work = "pto.tadds ins(%x, %one : T, f32) outs(%z : T)", "pto.tadd ins(%x, %x : T, T) outs(%x : T)"
    assert not diagnostics(chain(8, "a3", read, barrier("V"), second=work), [])
    (found,) = diagnostics(chain(8, "a3", barrier("V"), read, second=work), [])
    assert "pto.tadd writes bytes [0, 2048) of ub (through %x) that pto.tadds" in found.message
    assert found.help == "pto.barrier #pto.pipe<PIPE_V> between the two"


def test_the_compiler_puts_barriers_where_the_program_has_none():
    text = chain(8, "a3").replace(barrier("ALL"), "")
    assert not diagnostics(text, [])
    assert errors(text, values=[], sync="strict") == ["race-same-pipe", "race-same-pipe"]


def test_a_barrier_on_another_pipe_does_not_help():
    assert errors(chain(8, "a3", barrier("MTE2")), values=[]) == ["race-same-pipe"]


# ------------------------------------------------------------ signals, decisions, capacity


def test_a_computed_buffer_id_is_followed():
    lines = ["%n = arith.addi %i0, %i1 : index", 'pto.get_buf_dyn "PIPE_MTE2", %n, 0', load("%x")]
    release = 'pto.rls_buf_dyn "PIPE_MTE2", %n, 0'
    assert not rules(program(X, *lines, release))
    assert errors(program(X, *lines, lines[1], release, release)) == ["sync-buf-nesting"]


def test_what_scf_index_switch_decides_on_has_to_be_written():
    lines = [
        "%v = pto.load_scalar %xi[%i0] : !pto.ptr<i32, ub> -> i32",
        "%s = arith.index_cast %v : i32 to index",
        "scf.index_switch %s",
        "case 0 {\n scf.yield\n }",
        "default {\n }",
    ]
    pointer = "%xi = pto.castptr %x : !pto.ptr<f32, ub> -> !pto.ptr<i32, ub>"
    assert errors(program(X, pointer, *lines)) == ["mem-uninit"]


def counted(signals: int) -> str:
    """The cube core sends that many signals, which the vector cores take at the end."""
    text = program("%n = arith.constant 16 : index")
    head, tail = text.split("    return", 1)
    sends = " pto.set_intra_block <PIPE_FIX>, 1\n" * signals
    takes = " pto.wait_intra_block <PIPE_V>, 1\n" * signals
    cube = f"    pto.section.cube {{\n{sends} }}\n"
    vector = (
        "    pto.section.vector {\n %who = pto.get_subblock_idx\n %first = arith.cmpi eq, %who, %c0 : i64\n"
        f" scf.if %first {{\n{takes} }}\n }}\n"
    )
    return f"{head}{cube}{vector}    return{tail}"


def test_a_counter_between_cores_holds_fifteen_signals():
    assert not errors(counted(15))
    assert errors(counted(16)) == ["sync-flag-depth"]


TWO = "!pto.tile_buf<vec, 16x16xf32>"


def tiles(*lines: str) -> list[str]:
    """Messages about tiles %x at 0 and %y at 992, each of 1024 bytes."""
    head = """func.func @k() attributes {pto.kernel} {
  %c0 = arith.constant 0 : i64
  %c992 = arith.constant 992 : i64
  %i0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
"""
    allocated = "".join(f"  %{n} = pto.alloc_tile addr = %c{at} : {TWO}\n" for n, at in (("x", 0), ("y", 992)))
    body = "".join(f"  {line}\n" for line in lines)
    found = diagnostics(f"{head}{allocated}{body}  return\n}}\n", [])
    return [one.message for one in found if one.rule == "mem-overlap"]


def fill(name: str) -> str:
    return f"pto.texpands ins(%one : f32) outs(%{name} : {TWO})"


def add(a: str, b: str, to: str) -> str:
    return f"pto.tadd ins(%{a}, %{b} : {TWO}, {TWO}) outs(%{to} : {TWO})"


def test_the_tile_that_loses_its_content_is_named_first():
    (message,) = tiles(fill("y"), fill("x"), add("y", "y", "y"))
    assert message.startswith("%y and %x are in use") and "was overwritten through %x" in message
    (message,) = tiles(fill("x"), fill("y"), add("x", "x", "x"))
    assert message.startswith("%x and %y are in use")


def test_one_finding_for_one_pair_of_tiles():
    assert len(tiles(fill("x"), fill("y"), add("x", "x", "x"), fill("x"), fill("y"), add("x", "x", "x"))) == 1


def test_the_tile_of_a_view_is_the_one_that_is_named():
    part = "!pto.tile_buf<vec, 8x16xf32>"
    view = f"%low = pto.subview %x[%c8, %i0] sizes [8, 16] : {TWO} -> {part}"
    read = f"pto.tadd ins(%low, %low : {part}, {part}) outs(%low : {part})"
    (message,) = tiles("%c8 = arith.constant 8 : index", view, fill("x"), fill("y"), read)
    assert message.startswith("%x and %y")
