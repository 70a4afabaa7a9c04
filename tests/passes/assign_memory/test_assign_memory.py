"""Which tiles share bytes. Source: docs/reference/memory-planning.md, "Live ranges"."""

import re

import numpy as np
import pytest
from lowering_programs import SCHEDULES, TILE, add, disorder, kernel, load, lowered, part, results, store
from random_tile_programs import RandomProgram, arguments

from pto_dialect import parse, print_module
from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.core.base import op_spec
from pto_dialect.ir.core.registry import all_op_classes
from pto_dialect.ir.core.roles import Role
from pto_dialect.passes.registry import make_pass

HEAD = (part("p", "a", "c0"), part("q", "b", "c0"))
DTYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i8": np.int8}
LOOP = "scf.for %i = %c0 to %n step %c1 {"


def without_addresses(*lines: str, target: str = "a5") -> str:
    return re.sub(r" addr = %at\d", "", kernel(*lines, target=target))


def addresses(text: str, reuse: str = "max") -> dict[str, int]:
    """The address of each tile of a planned program by its name."""
    module, diagnostics = lowered(text, f"assign-memory{{reuse={reuse}}}")
    assert not diagnostics
    return {
        str(op.results[0].name_hint): op.operands[0].owner.value.value.data  # pyright: ignore
        for op in module.walk()
        if op.name in ("pto.alloc_tile", "pto.alloc_multi_tile")
    }


def test_tiles_that_follow_each_other_share_bytes():
    text = without_addresses(*HEAD, load("p", "x"), store("x", "q"), load("p", "y"), store("y", "q"))
    assert addresses(text) == {"x": 0, "y": 0, "z": 0}


def test_tiles_that_are_needed_together_do_not():
    text = without_addresses(
        *HEAD, load("p", "x"), load("p", "y"), add("x", "y", "z"), store("x", "q"), store("z", "q")
    )
    found = addresses(text)
    assert found["x"] != found["z"]
    assert found["x"] != found["y"]
    # The sum is written where its second source lay.
    assert found["y"] == found["z"]


def test_a_reduction_is_not_written_over_its_source():
    row = "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
    lines = (
        f"%r = pto.alloc_tile : {row}",
        load("p", "x"),
        f"pto.trowsum ins(%x, %y : {TILE}, {TILE}) outs(%r : {row})",
    )
    found = addresses(without_addresses(*HEAD, *lines, target="a2a3"))
    assert len({found["x"], found["y"], found["r"]}) == 3


def test_what_a_loop_carries_is_needed_in_the_whole_loop():
    """x is read at the begin of every iteration and written at its end: z, used between, has to keep away."""
    lines = (load("p", "x"), LOOP, store("x", "q"), load("p", "z"), store("z", "q"), load("p", "x"), "}")
    found = addresses(without_addresses(*HEAD, *lines))
    assert found["x"] != found["z"]


def test_what_every_iteration_writes_first_is_not_carried():
    lines = (LOOP, load("p", "z"), store("z", "q"), load("p", "x"), store("x", "q"), "}")
    found = addresses(without_addresses(*HEAD, *lines))
    assert found["x"] == found["z"]


def test_a_tile_written_on_one_path_only_is_carried():
    some = "%some = arith.cmpi eq, %i, %c1 : index"
    lines = (LOOP, some, "scf.if %some {", load("p", "x"), "}", load("p", "z"), store("z", "q"), store("x", "q"), "}")
    found = addresses(without_addresses(*HEAD, *lines))
    assert found["x"] != found["z"]


def test_an_address_of_the_author_stays_and_is_respected():
    text = kernel(*HEAD, f"%w = pto.alloc_tile : {TILE}", load("p", "w"), store("w", "q"))
    assert addresses(text) == {"x": 0, "y": 1024, "z": 2048, "w": 3072}


def test_slots_are_consecutive():
    multi = f"!pto.multi_tile_buf<{TILE}, count=2>"
    lines = (
        f"%m = pto.alloc_multi_tile : {multi}",
        f"%s = pto.multi_tile_get %m[%c1] : {multi} -> {TILE}",
        load("p", "s"),
        load("p", "x"),
        add("s", "x", "y"),
        store("y", "q"),
    )
    found = addresses(without_addresses(*HEAD, *lines))
    assert abs(found["m"] - found["x"]) >= 1024
    assert found["x"] >= 2048 or found["m"] >= 1024


def test_the_sources_of_one_operation_lie_apart():
    """One of them is the result as well, so the other has nothing to inherit."""
    found = addresses(without_addresses(*HEAD, load("p", "y"), add("x", "y", "x"), store("x", "q")))
    assert found["x"] != found["y"]


def test_what_does_not_fit_is_named():
    big = "!pto.tile_buf<vec, 256x128xf32>"
    lines = [f"%b{number} = pto.alloc_tile : {big}" for number in range(2)]
    lines += [f"pto.tadd ins(%b0, %b1 : {big}, {big}) outs(%b0 : {big})"]
    _, (diagnostic,) = lowered(without_addresses(*HEAD, *lines, target="a2a3"), "assign-memory")
    assert diagnostic.rule == "assign-memory-full"
    assert diagnostic.message == "the tiles of ub need 262144 bytes and there are 196608"
    assert [note.message for note in diagnostic.notes] == [
        f"%b{number} needs 131072 bytes at the peak, used in line 21" for number in range(2)
    ]


def test_a_tile_that_waits_at_the_peak_is_named():
    big = "!pto.tile_buf<vec, 256x96xf32>"
    use = "pto.tadds ins(%{0}, %k : {1}, f32) outs(%{0} : {1})"
    fill = "pto.texpands ins(%k : f32) outs(%{0} : {1})"
    lines = [
        "%k = arith.constant 1.0 : f32",
        *(f"%{name} = pto.alloc_tile : {big}" for name in ("kept", "one", "two")),
        *(fill.format(name, big) for name in ("kept", "one", "two")),
        *(use.format(name, big) for name in ("one", "two", "one", "two", "kept")),
    ]
    _, (diagnostic,) = lowered(without_addresses(*lines, target="a2a3"), "assign-memory")
    assert diagnostic.help is not None
    assert "nothing uses %kept between line 21 and line 28" in diagnostic.help


def test_calls_are_refused_and_nothing_changes():
    text = without_addresses(*HEAD, load("p", "x"), "func.call @g() : () -> ()")
    text = text.rstrip().removesuffix("}") + "  func.func private @g() { return }\n}\n"
    module, (diagnostic,) = lowered(text, "assign-memory")
    assert diagnostic.rule == "assign-memory-unsupported"
    assert print_module(module) == print_module(parse(text))


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("seed", range(10))
def test_a_planned_program_computes_the_same(seed: int, target: str):
    """With addresses and flags, in any order of the pipes, as without them in the order of the text."""
    program = RandomProgram(seed, target, addresses=False)
    module, diagnostics = lowered(program.text, "assign-memory", "insert-sync")
    assert not diagnostics
    for count in (0, 1, 3):
        expected = results(parse(program.text), arguments(program, count))
        assert disorder(module, arguments(program, count)) == []
        for schedule in ("text", *SCHEDULES):
            assert results(module, arguments(program, count), schedule) == expected, schedule


def test_operations_of_several_steps_write_nothing_over_their_sources():
    """Those that a rule or the manual keeps from working in place, and those that combine elements."""
    lanewise = {cls.name for cls in all_op_classes() if Role.LANEWISE in op_spec(cls).roles}
    assert {"pto.tadd", "pto.texp", "pto.tmuls", "pto.tcolexpandmul"} <= lanewise
    stepwise = ("trecip", "tprelu", "tands", "tors", "txors", "tsel", "tcvt", "trowsum", "ttrans", "tgather", "tsort32")
    assert lanewise.isdisjoint(f"pto.{name}" for name in stepwise)


@pytest.mark.parametrize(("location", "size"), [("vec", 4096), ("vec", 32), ("mat", 4096)])
def test_memory_that_a_program_reserves_gets_an_address(location: str, size: int):
    """It is needed from the beginning to the end: no tile of its memory shares its bytes."""
    reserved = (
        f'%r = pto.reserve_buffer {{name = "fifo", size = {size}, location = #pto.address_space<{location}>, '
        "auto = true} -> i32"
    )
    text = without_addresses(reserved, *HEAD, load("p", "x"), load("p", "y"), add("x", "y", "z"), store("z", "q"))
    module, diagnostics = lowered(text, "assign-memory")
    assert not diagnostics
    (op,) = (op for op in module.walk() if op.name == "pto.reserve_buffer")
    assert integer_attribute(op, "autoAlloc") == 0
    base = integer_attribute(op, "base")
    assert base is not None and base % 32 == 0
    tile_bytes = 4 * 16 * 16
    for address in addresses(text).values():
        assert location != "vec" or base + size <= address or address + tile_bytes <= base
    printed = print_module(module)
    assert f"base = {base}" in printed and print_module(parse(printed)) == printed


SOME = ("%some = arith.cmpi eq, %i, %c1 : index", "scf.if %some {")


def test_values_of_an_iteration_that_are_live_after_the_loop_are_kept():
    """x is written in the second iteration alone and stored after the loop."""
    lines = (LOOP, *SOME, load("p", "x"), "}", load("p", "z"), store("z", "q"), "}", store("x", "q"))
    found = addresses(without_addresses(*HEAD, *lines))
    assert found["x"] != found["z"]


def test_what_a_branch_writes_and_reads_itself_is_not_carried():
    lines = (LOOP, *SOME, load("p", "x"), store("x", "q"), "}", load("p", "z"), store("z", "q"), "}")
    found = addresses(without_addresses(*HEAD, *lines))
    assert found["x"] == found["z"]


def test_what_both_branches_write_is_not_carried():
    both = (*SOME, load("p", "x"), "} else {", load("q", "x"), "}", store("x", "q"))
    found = addresses(without_addresses(*HEAD, LOOP, load("p", "z"), store("z", "q"), *both, "}"))
    assert found["x"] == found["z"]


def test_an_inner_loop_that_may_not_run_leaves_what_was_there():
    inner = ("scf.for %j = %c0 to %i step %c1 {", load("p", "x"), "}")
    lines = (LOOP, *inner, store("x", "q"), load("p", "z"), store("z", "q"), "}")
    found = addresses(without_addresses(*HEAD, *lines))
    assert found["x"] != found["z"]


def test_what_nothing_writes_has_no_content_to_keep():
    lines = (LOOP, store("x", "q"), load("p", "z"), store("z", "q"), "}")
    found = addresses(without_addresses(*HEAD, *lines))
    assert found["x"] == found["z"]


def test_tiles_that_nothing_uses_need_no_bytes():
    spare = [f"%s{number} = pto.alloc_tile : {TILE}" for number in range(3)]
    found = addresses(without_addresses(*spare, *HEAD, load("p", "x"), store("x", "q")))
    assert set(found.values()) == {0}


@pytest.mark.parametrize("around", [(), SOME])
def test_what_the_next_iteration_reads_is_not_overwritten_by_the_last_operation(around: tuple[str, ...]):
    """y is dead and begins where x is read last in the text, but x is read again."""
    lines = (load("p", "x"), LOOP, *around, store("x", "q"), add("x", "x", "y"), *("}" for _ in around[1:]), "}")
    found = addresses(without_addresses(*HEAD, *lines))
    assert found["x"] != found["y"]


@pytest.mark.parametrize(
    ("source", "target", "in_place"),
    [
        ("f32", "i32", True),
        ("i32", "f32", True),
        ("f32", "f16", True),
        ("f16", "i8", True),
        ("f16", "f32", False),
        ("i8", "f16", False),
    ],
)
def test_a_conversion_into_elements_of_at_most_the_size_works_in_place(source: str, target: str, in_place: bool):
    """The element that is written never lies after the one that is read."""
    one, other = (f"!pto.tile_buf<vec, 16x64x{kind}>" for kind in (source, target))
    view, wide = f"!pto.tensor_view<16x64x{source}>", f"!pto.tensor_view<16x64x{target}>"
    part, result = (kind.replace("tensor_view", "partition_tensor_view") for kind in (view, wide))
    arguments = ", ".join((f"%p: !pto.ptr<{source}>", f"%q: !pto.ptr<{target}>"))
    whole = "offsets = [%c0, %c0], sizes = [%c16, %c64]"
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @f({arguments}) attributes {{pto.entry}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %c64 = arith.constant 64 : index
      %v = pto.make_tensor_view %p, shape = [%c16, %c64], strides = [%c64, %c1] : {view}
      %w = pto.make_tensor_view %q, shape = [%c16, %c64], strides = [%c64, %c1] : {wide}
      %vp = pto.partition_view %v, {whole} : {view} -> {part}
      %wp = pto.partition_view %w, {whole} : {wide} -> {result}
      %a = pto.alloc_tile : {one}
      %b = pto.alloc_tile : {other}
      pto.tload ins(%vp : {part}) outs(%a : {one})
      pto.tcvt ins(%a {{rmode = #pto<round_mode RINT>}} : {one}) outs(%b : {other})
      pto.tstore ins(%b : {other}) outs(%wp : {result})
      return
    }}
    }}"""
    found = addresses(text)
    assert (found["a"] == found["b"]) == in_place
    module, diagnostics = lowered(text, "assign-memory", "insert-sync")
    assert not diagnostics
    numbers = np.random.default_rng(7).integers(-100, 100, (16, 64)).astype(DTYPES[source])
    arrays = [numbers, np.zeros((16, 64), DTYPES[target])]
    expected = [numbers.tobytes(), numbers.astype(DTYPES[target]).tobytes()]
    assert results(parse(text), arrays) == expected
    assert results(module, arrays) == expected


@pytest.mark.parametrize(
    ("target", "boxes", "in_place"),
    [("i32", "", True), ("f16", "", True), ("i32", ", slayout=row_major", True), ("f16", ", slayout=row_major", False)],
)
def test_elements_of_other_boxes_lie_elsewhere(target: str, boxes: str, in_place: bool):
    """A box has 512 bytes, so one of 16-bit elements has twice the columns of one of f32."""
    one, other = (f"!pto.tile_buf<vec, 16x64x{kind}, blayout=col_major{boxes}>" for kind in ("f32", target))
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @f(%x: f32) {{
      %a = pto.alloc_tile : {one}
      %b = pto.alloc_tile : {other}
      pto.texpands ins(%x : f32) outs(%a : {one})
      pto.tcvt ins(%a {{rmode = #pto<round_mode RINT>}} : {one}) outs(%b : {other})
      return
    }}
    }}"""
    found = addresses(text)
    assert (found["a"] == found["b"]) == in_place


@pytest.mark.parametrize(("arch", "is_idle"), [("a2a3", False), ("a5", True)])
def test_a_conversion_with_scratch_does_not_work_in_place(arch: str, is_idle: bool) -> None:
    """The conversion of a5 does not touch its scratch, which may lie where others lie."""
    one, other = (f"!pto.tile_buf<vec, 16x64x{kind}>" for kind in ("f32", "i32"))
    text = f"""module attributes {{pto.target_arch = "{arch}"}} {{
    func.func @f(%x: f32) {{
      %a = pto.alloc_tile : {one}
      %t = pto.alloc_tile : {one}
      %b = pto.alloc_tile : {other}
      pto.texpands ins(%x : f32) outs(%a : {one})
      pto.tcvt ins(%a, %t {{rmode = #pto<round_mode RINT>}} : {one}, {one}) outs(%b : {other})
      return
    }}
    }}"""
    found = addresses(text)
    assert found["a"] != found["b"]
    assert (found["t"] in (found["a"], found["b"])) == is_idle


def test_a_tile_that_nothing_uses_is_too_large_as_well():
    spare = "%spare = pto.alloc_tile : !pto.tile_buf<vec, 256x256xf32>"
    _, (diagnostic,) = lowered(without_addresses(spare, *HEAD, load("p", "x"), target="a2a3"), "assign-memory")
    assert diagnostic.rule == "assign-memory-full"
    assert [note.message for note in diagnostic.notes] == ["%spare needs 262144 bytes, and nothing uses it"]
    assert diagnostic.help == "remove %spare"


def test_tiles_that_nothing_uses_are_too_large_together_where_each_has_bytes_of_its_own():
    spare = [f"%s{n} = pto.alloc_tile : !pto.tile_buf<vec, 256x{n}xf32>" for n in (112, 128)]
    engine = DiagnosticEngine()
    module = parse(without_addresses(*spare, target="a2a3"))
    make_pass("assign-memory{reuse=none}", None).run(module, engine)
    (diagnostic,) = engine.diagnostics
    needed = {"%s128": 256 * 128 * 4, "%s112": 256 * 112 * 4}
    notes = [note.message for note in diagnostic.notes if note.message.startswith("%s")]
    assert notes == [f"{name} needs {size} bytes, and nothing uses it" for name, size in needed.items()]
    assert diagnostic.help == "remove %s128"
