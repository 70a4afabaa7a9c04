"""Which flags and barriers insert-sync puts where. Source: docs/reference/synchronisation.md, "Placement"."""

import numpy as np
import pytest
from lowering_programs import PART, TILE, add, disorder, kernel, load, lowered, outline, part, results, store

HEAD = (part("p", "a", "c0"), part("q", "b", "c0"))
LOOP = "scf.for %i = %c0 to %n step %c1 {"
ROWS = ("%r = arith.muli %i, %c16 : index", part("p", "a", "r"), part("q", "b", "r"))


def test_a_result_goes_from_pipe_to_pipe():
    text = kernel(*HEAD, load("p", "x"), add("x", "x", "y"), store("y", "q"))
    assert outline(text) == [
        "tload",
        "set MTE2>V 0",
        "wait MTE2>V 0",
        "tadd",
        "set V>MTE3 0",
        "wait V>MTE3 0",
        "tstore",
    ]


def test_a_wait_comes_as_late_and_a_set_as_early_as_possible():
    text = kernel(*HEAD, load("p", "x"), load("p", "y"), add("z", "z", "z"), add("x", "x", "x"), add("y", "y", "y"))
    assert outline(text) == [
        *("tload", "set MTE2>V 0", "tload", "set MTE2>V 1", "tadd"),
        *("wait MTE2>V 0", "tadd", "wait MTE2>V 1", "tadd"),
    ]


def test_an_order_that_others_imply_gets_no_flag():
    # The store knows of the sum, which knew of the load.
    text = kernel(*HEAD, load("p", "x"), add("x", "x", "y"), store("y", "q"), store("x", "p"))
    assert outline(text) == [
        *("tload", "set MTE2>V 0", "wait MTE2>V 0", "tadd", "set V>MTE3 0", "wait V>MTE3 0", "tstore", "tstore"),
    ]


def test_nothing_is_put_between_operations_on_different_bytes():
    text = kernel(*HEAD, load("p", "x"), add("y", "y", "y"), store("z", "q"))
    assert outline(text) == ["tload", "tadd", "tstore"]


def test_a_loop_hands_its_tile_back():
    text = kernel(LOOP, *ROWS, load("p", "x"), add("x", "x", "y"), "}")
    assert outline(text) == [
        "for",
        *("tload", "set MTE2>V 0", "wait MTE2>V 0", "tadd", "set V>MTE2 0", "wait V>MTE2 0"),
        "end",
    ]


@pytest.mark.parametrize("trips", ["%c0", "%c1"])
def test_a_loop_of_at_most_one_iteration_hands_nothing_back(trips: str):
    text = kernel(LOOP.replace("%n", trips), *ROWS, load("p", "x"), add("x", "x", "y"), "}")
    inside = [] if trips == "%c0" else ["set MTE2>V 0", "wait MTE2>V 0"]
    assert [word for word in outline(text) if "MTE2" in word] == inside


def test_parts_of_other_iterations_are_apart():
    """Each iteration stores 16 rows of its own, and reads them back; only the tile is the same in the next one."""
    text = kernel(LOOP, *ROWS, store("x", "q"), load("q", "y"), "}")
    inside = ["tstore", "set MTE3>MTE2 0", "wait MTE3>MTE2 0", "barrier MTE2", "tload"]
    assert outline(text) == ["for", *inside, "end"]


def test_parts_of_other_iterations_that_share_rows_are_ordered():
    rows = ("%r = arith.muli %i, %c4 : index", part("q", "b", "r"))
    text = kernel(LOOP, *rows, store("x", "q"), load("q", "y"), "}")
    words = outline(text)
    assert words[-3:] == ["set MTE2>MTE3 0", "wait MTE2>MTE3 0", "end"]
    assert "barrier MTE3" not in words


LOOPS_WITH_TILES = {
    "counted": (
        f"%r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %x) -> ({TILE}) {{",
        f"scf.yield %y : {TILE}",
        "}",
    ),
    "with a condition": (
        f"%r, %last = scf.while (%c = %x, %k = %c0) : ({TILE}, index) -> ({TILE}, index) {{",
        "%more = arith.cmpi slt, %k, %n : index",
        f"scf.condition(%more) %c, %k : {TILE}, index",
        "} do {",
        f"^bb0(%u: {TILE}, %k1: index):",
        "%k2 = arith.addi %k1, %c1 : index",
        f"scf.yield %y, %k2 : {TILE}, index",
        "}",
    ),
}


@pytest.mark.parametrize("loop", LOOPS_WITH_TILES)
def test_a_tile_that_a_loop_gives_may_be_the_one_that_it_was_given(loop: str):
    """The sum reads what was loaded when the loop runs not once."""
    text = kernel(*HEAD, load("p", "x"), *LOOPS_WITH_TILES[loop], add("r", "r", "z"), store("z", "q"))
    module, said = lowered(text)
    assert not said
    for trips in (0, 1, 2):
        arrays = [np.arange(4096, dtype=np.float32), np.zeros(4096, np.float32), trips]
        assert disorder(module, arrays) == []
    assert "set MTE2>V 0" in outline(text)


def test_branches_are_ordered_from_outside():
    text = kernel(
        *HEAD,
        "%some = arith.cmpi eq, %n, %c1 : index",
        load("p", "x"),
        "scf.if %some {",
        add("x", "x", "x"),
        "} else {",
        add("x", "x", "y"),
        "}",
        store("x", "q"),
    )
    assert outline(text) == [
        *("tload", "set MTE2>V 0", "wait MTE2>V 0", "if", "tadd", "else", "tadd", "end"),
        *("set V>MTE3 0", "wait V>MTE3 0", "tstore"),
    ]


def test_the_vector_unit_of_a2a3_needs_barriers_where_hardware_does_not_stream():
    # 4 repeats of 256 bytes are too few to be streamed.
    lines = (add("x", "y", "z"), add("z", "z", "x"))
    assert outline(kernel(*lines, target="a2a3")) == ["tadd", "barrier V", "tadd"]
    assert outline(kernel(*lines, target="a5")) == ["tadd", "tadd"]


def test_two_stores_of_the_same_bytes_need_a_barrier():
    assert outline(kernel(*HEAD, store("x", "q"), store("y", "q"))) == ["tstore", "barrier MTE3", "tstore"]


def test_two_loads_into_the_same_bytes_need_a_barrier_unless_they_were_used():
    assert outline(kernel(*HEAD, load("p", "x"), load("q", "x"))) == ["tload", "barrier MTE2", "tload"]
    words = outline(kernel(*HEAD, load("p", "x"), add("x", "x", "y"), load("q", "x")))
    assert "barrier MTE2" not in words
    assert "wait V>MTE2 0" in words


def test_a_use_that_may_be_passed_by_spares_two_loads_no_barrier():
    head = (*HEAD, "%once = arith.cmpi eq, %n, %c0 : index")
    lines = (load("p", "x"), "scf.if %once {", add("x", "x", "x"), store("x", "q"), "}", load("q", "x"))
    assert "barrier MTE2" in outline(kernel(*head, *lines))


def test_a_store_of_the_scalar_unit_is_waited_for_and_its_reads_are_not():
    get = "%v = pto.tgetval ins(%x, %c1 : !pto.tile_buf<vec, 16x16xf32>, index) outs : f32"
    put = "pto.tsetval ins(%c1, %v : index, f32) outs(%y : !pto.tile_buf<vec, 16x16xf32>)"
    text = kernel(*HEAD, load("p", "x"), get, put, store("y", "q"))
    loaded = ["tload", "set MTE2>S 0", "wait MTE2>S 0", "tgetval"]
    assert outline(text) == [*loaded, "tsetval", "set S>MTE3 0", "wait S>MTE3 0", "tstore"]
    assert outline(kernel(*HEAD, load("p", "x"), get, load("p", "x"))) == [*loaded, "tload"]


@pytest.mark.parametrize(("element", "waits"), [("c1", True), ("c256", False)])
def test_an_element_beside_what_is_written_does_not_wait(element: str, waits: bool):
    """Element 256 would be the first of the next tile; the sum writes %x alone."""
    get = f"%v = pto.tgetval ins(%x, %{element} : !pto.tile_buf<vec, 16x16xf32>, index) outs : f32"
    assert ("wait V>S 0" in outline(kernel(add("y", "y", "x"), get))) == waits


def test_an_element_of_the_other_half_does_not_wait():
    half = "!pto.tile_buf<vec, 8x16xf32>"
    window = f"%h = pto.subview %x[%c0, %c0] sizes [8, 16] : !pto.tile_buf<vec, 16x16xf32> -> {half}"
    work = f"pto.tadd ins(%h, %h : {half}, {half}) outs(%h : {half})"
    for place, waits in ((127, True), (128, False)):
        lines = (window, work, f"%k = arith.constant {place} : index")
        get = "%v = pto.tgetval ins(%x, %k : !pto.tile_buf<vec, 16x16xf32>, index) outs : f32"
        assert ("wait V>S 0" in outline(kernel(*lines, get))) == waits


def test_elements_of_a_memref_are_read_by_the_scalar_unit():
    """The load of the element has to wait for the store; the store that follows finds it done."""
    memory = "memref<256x16xf32, #pto.address_space<gm>>"
    lines = (
        f"pto.tstore ins(%x : !pto.tile_buf<vec, 16x16xf32>) outs(%m : {memory})",
        f"%v = memref.load %m[%c0, %c0] : {memory}",
        f"memref.store %v, %m[%c1, %c0] : {memory}",
    )
    text = kernel(*lines, more=f", %m: {memory}")
    assert outline(text) == ["tstore", "set MTE3>S 0", "wait MTE3>S 0"]


def test_another_core_may_look_at_what_was_written_before_a_signal():
    text = kernel(*HEAD, add("x", "x", "y"), "pto.sync.set #pto.pipe<PIPE_MTE3>, 3", load("p", "z"))
    assert outline(text) == ["tadd", "set V>MTE3 0", "wait V>MTE3 0", "tload"]


def test_a_full_barrier_of_the_program_is_an_order():
    text = kernel(*HEAD, load("p", "x"), "pto.barrier #pto.pipe<PIPE_ALL>", add("x", "x", "y"))
    assert outline(text) == ["tload", "barrier ALL", "tadd"]


def test_a_function_that_orders_its_pipes_stays_as_it_is():
    flags = '"PIPE_MTE2", "PIPE_V", "EVENT_ID3"'
    lines = (load("p", "x"), f"pto.set_flag[{flags}]", f"pto.wait_flag[{flags}]", add("x", "x", "y"), store("y", "q"))
    assert outline(kernel(*HEAD, *lines)) == ["tload", "set MTE2>V 3", "wait MTE2>V 3", "tadd", "tstore"]


def test_what_is_not_followed_is_an_error_and_nothing_changes():
    text = kernel(*HEAD, load("p", "x"), "func.call @g() : () -> ()", add("x", "x", "y"))
    text = text.rstrip().removesuffix("}") + "  func.func private @g()\n}\n"
    module, (diagnostic,) = lowered(text)
    assert diagnostic.rule == "insert-sync-unsupported"
    assert "nobody knows what the function does" in diagnostic.message
    assert not any(op.name.startswith("pto.set_flag") for op in module.walk())


def test_more_flags_than_numbers_become_fewer():
    """Ten loads that are all under way before the first is used. What is done with a tile takes as long as a load, so
    that a flag for two loads would cost time."""
    tile = "!pto.tile_buf<vec, 16x16xf32>"
    lines = list(HEAD)
    for number in range(10):
        lines += [f"%w{number} = arith.constant {4096 + 1024 * number} : i64"]
        lines += [f"%t{number} = pto.alloc_tile addr = %w{number} : {tile}"]
    lines += [load("p", f"t{number}") for number in range(10)]
    lines += [add(f"t{number}", f"t{number}", "z") for number in range(10) for _ in range(5)]
    text = kernel(*lines, store("z", "q"))
    words = outline(text)
    assert sum(word.startswith("set MTE2>V") for word in words) == 8
    module, _ = lowered(text)
    arrays = [np.arange(4096, dtype=np.float32), np.zeros(4096, np.float32), 1]
    assert disorder(module, arrays) == []
    assert results(module, arrays, "oldest") == results(lowered(text, "check-memory")[0], arrays)


REGIONS = {
    "loop": (LOOP, "}"),
    "branch": ("%some = arith.cmpi slt, %n, %c4 : index\nscf.if %some {", "}"),
    "loop in a loop": (f"{LOOP}\n{LOOP.replace('%i', '%j')}", "}\n}"),
}


@pytest.mark.parametrize("region", REGIONS)
def test_an_order_that_others_imply_gets_no_flag_before_a_region(region: str):
    """The stores inside wait for the sum, which knew of the load; the flag of the load goes to the sum alone."""
    begin, end = REGIONS[region]
    inside = [*begin.split("\n"), store("y", "q"), store("x", "p"), *end.split("\n")]
    found = outline(kernel(*HEAD, load("p", "x"), add("x", "x", "y"), *inside))
    sets = [line.split()[1] for line in found if line.startswith("set")]
    assert [pair for pair in sets if pair.endswith(">MTE3")] == ["V>MTE3"]
    assert sets.count("MTE2>V") == 1


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_a_gather_from_global_memory_joins_all_pipes_of_a2a3(target: str):
    """Nothing is put around it there; on a5 it is work of the vector unit."""
    index = "!pto.tile_buf<vec, 16x16xi32>"
    gather = (
        "pto.mgather ins(%q, %k : !pto.partition_tensor_view<16x16xf32>, "
        f"{index}) outs(%x : !pto.tile_buf<vec, 16x16xf32>) {{coalesce = #pto<coalesce elem>}}"
    )
    at = ("%at3 = arith.constant 8192 : i64", f"%k = pto.alloc_tile addr = %at3 : {index}")
    found = outline(kernel(*HEAD, *at, load("p", "x"), gather, store("x", "p"), target=target))
    both = ["set MTE2>V 0", "wait MTE2>V 0", "set V>MTE3 0", "wait V>MTE3 0"]
    assert [line for line in found if line[0] in "sw"] == ([] if target == "a2a3" else both)


def test_statements_beside_sections_of_one_kind_run_on_that_core():
    section = ("pto.section.vector {", load("p", "x"), "}")
    found = outline(kernel(*HEAD, *section, add("x", "x", "y"), store("y", "p")))
    assert [line for line in found if line[0] in "sw"] == [
        *("set MTE2>V 0", "wait MTE2>V 0"),
        *("set V>MTE3 0", "wait V>MTE3 0"),
    ]


def tiles(count: int) -> list[str]:
    """%t0, %t1, … after the three tiles of the kernel."""
    lines: list[str] = []
    for number in range(count):
        lines += [f"%w{number} = arith.constant {4096 + 1024 * number} : i64"]
        lines += [f"%t{number} = pto.alloc_tile addr = %w{number} : {TILE}"]
    return lines


def in_order(text: str, trips: int = 3) -> list[str]:
    """The tokens of a program whose runs are in order and compute what the text does."""
    module, said = lowered(text)
    assert not said
    arrays = [np.arange(4096, dtype=np.float32), np.zeros(4096, np.float32), trips]
    assert disorder(module, arrays) == []
    for schedule in ("oldest", "newest"):
        assert results(module, arrays, schedule) == results(lowered(text, "check-memory")[0], arrays)
    return outline(text)


@pytest.mark.parametrize("outer", [False, True])
def test_more_flags_than_numbers_from_round_to_round_become_fewer(outer: bool):
    """Ten tiles that each round loads before it uses the first, and hands back to the next."""
    body = [*(load("p", f"t{n}") for n in range(10)), *(add(f"t{n}", f"t{n}", "z") for n in range(10)), store("z", "q")]
    lines = ["scf.for %i = %c0 to %n step %c1 {", *body, "}"]
    if outer:
        lines = ["scf.for %o = %c0 to %n step %c1 {", *lines, "}"]
    words = in_order(kernel(*HEAD, *tiles(10), *lines))
    numbers = {word for word in words if word.startswith("set")}
    assert all(len({word for word in numbers if pipes in word}) <= 8 for pipes in ("MTE2>V", "V>MTE2"))
    before = words[: words.index("for")]
    behind = words[len(words) - words[::-1].index("end") :]
    if not outer:
        handed = sorted(word.removeprefix("set ") for word in before if "V>MTE2" in word)
        assert handed == sorted(word.removeprefix("wait ") for word in behind if "V>MTE2" in word) and handed


def test_flags_over_ever_deeper_branches_leave_one_barrier():
    """Ten loads, each used after a branch that has the next: no two of their flags are in one region."""
    lines = ["%some = arith.cmpi ne, %n, %c0 : index"]
    for number in range(10):
        lines += [load("p", f"t{number}"), "scf.if %some {"]
    for number in reversed(range(10)):
        lines += ["}", add(f"t{number}", f"t{number}", f"t{number}")]
    for trips in (0, 1):
        words = in_order(kernel(*HEAD, *tiles(10), *lines), trips)
        assert "barrier ALL" in words
        assert len({word for word in words if word.startswith("set MTE2>V")}) <= 8


def test_the_vector_unit_of_a2a3_needs_no_barrier_where_hardware_streams():
    """64 repeats one after the other: the second sum reads each row when the first has left it."""
    large = "!pto.tile_buf<vec, 64x64xf32>"
    lines = [f"%l{n} = pto.alloc_tile addr = %wl{n} : {large}" for n in range(2)]
    places = [f"%wl{n} = arith.constant {8192 + 16384 * n} : i64" for n in range(2)]
    work = [f"pto.tadd ins(%l0, %l0 : {large}, {large}) outs(%l{n} : {large})" for n in (1, 0)]
    again = f"pto.tadd ins(%l1, %l1 : {large}, {large}) outs(%l1 : {large})"
    assert outline(kernel(*places, *lines, work[0], again, target="a2a3")) == ["tadd", "tadd"]
    assert "barrier V" in outline(kernel(*places, *lines, work[1], work[0], work[0], target="a2a3"))


@pytest.mark.parametrize("lock", ["get", "rls"])
def test_a_function_with_buffer_ids_stays_as_it_is(lock: str):
    lines = (f'pto.{lock}_buf "PIPE_MTE2", 0, 0', load("p", "x"), add("x", "x", "y"))
    assert outline(kernel(*HEAD, *lines)) == ["tload", "tadd"]
    assert len(outline(kernel(*HEAD, *lines[1:]))) == 4


def test_a_wait_alone_is_no_order_of_its_own():
    """A function that sets no flag is ordered like any other."""
    wait = 'pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID7"]'
    assert "set MTE2>V 0" in outline(kernel(*HEAD, wait, load("p", "x"), add("x", "x", "y")))


def test_each_kind_of_core_gets_its_flags():
    mat = "!pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>"
    left = "!pto.tile_buf<left, 16x16xf32, blayout=col_major, slayout=row_major>"
    head = (f"%m = pto.alloc_tile addr = %at0 : {mat}", f"%l = pto.alloc_tile addr = %at0 : {left}")
    cube = (f"pto.tload ins(%p : {PART}) outs(%m : {mat})", f"pto.tmov ins(%m : {mat}) outs(%l : {left})")
    words = outline(kernel(*HEAD, *head, "pto.section.cube {", *cube, "}", "pto.section.vector {", load("p", "x"),
                           add("x", "x", "y"), "}"))  # fmt: skip
    assert [word for word in words if word[0] in "sw"] == [
        "set MTE2>MTE1 0", "wait MTE2>MTE1 0", "set MTE2>V 0", "wait MTE2>V 0",
    ]  # fmt: skip
