"""What the text of a function does with each of its arguments (docs/reference/execution.md, "Launches")."""

from __future__ import annotations

import pytest
from groups import in_groups
from parse_helpers import parsed

from pto_dialect.runtime.compile.usage import Access, access_of, buffer_usage, directions_of, slot_arguments
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

TILE, VIEW = "!pto.tile_buf<vec, 8x16xf32>", "!pto.tensor_view<8x16xf32>"
PART = "!pto.partition_tensor_view<8x16xf32>"
LOAD = "pto.load_scalar {0}[%c1] : !pto.ptr<f32> -> f32"
STORE = "pto.store_scalar %f, {0}[%c1] : !pto.ptr<f32>, f32"
HELPERS = """
    func.func private @reads(%n: i32, %p: !pto.ptr<f32>) {
      %c1 = arith.constant 1 : index
      %v = pto.load_scalar %p[%c1] : !pto.ptr<f32> -> f32
      return
    }
    func.func private @writes(%p: !pto.ptr<f32>) {
      %c1 = arith.constant 1 : index
      %f = arith.constant 1.0 : f32
      pto.store_scalar %f, %p[%c1] : !pto.ptr<f32>, f32
      return
    }
    func.func private @again(%p: !pto.ptr<f32>, %n: i32) {
      func.call @reads(%n, %p) : (i32, !pto.ptr<f32>) -> ()
      return
    }"""


def kernel(body: str, arguments: str = "%x: !pto.ptr<f32>, %y: !pto.ptr<f32>") -> Kernel:
    text = f"""module attributes {{pto.target_arch = "a5"}} {{{HELPERS}
    func.func @k({arguments}) attributes {{pto.kernel}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %n = arith.constant 3 : i32
      %f = arith.constant 2.0 : f32
      %t = arith.constant true
      {body}
      return
    }}
    }}"""
    module, found = parsed(text)
    assert {entry[0] for entry in found} <= {"op-deprecated"}, found
    return Kernel(module, "k", None, RunOptions())


def view(name: str) -> str:
    """A view of all that a pointer points to, and its part."""
    return (
        f"%{name}v = pto.make_tensor_view %{name}, shape = [%c8, %c16], strides = [%c16, %c1] : {VIEW}\n"
        f"%{name}p = pto.partition_view %{name}v, offsets = [%c0, %c0], sizes = [%c8, %c16] : {VIEW} -> {PART}"
    )


ALLOC = f"%a = pto.alloc_tile : {TILE}"


@pytest.mark.parametrize(
    ("body", "directions"),
    [
        ("", ["unused", "unused"]),
        (f"%v = {LOAD.format('%x')}", ["in", "unused"]),
        (STORE.format("%y"), ["unused", "out"]),
        (f"%v = {LOAD.format('%y')}\n{STORE.format('%y')}", ["unused", "inout"]),
        (f"%p = pto.addptr %x, %c1 : !pto.ptr<f32> -> !pto.ptr<f32>\n{STORE.format('%p')}", ["out", "unused"]),
        (f"%s = arith.select %t, %x, %y : !pto.ptr<f32>\n%v = {LOAD.format('%s')}", ["in", "in"]),
        ("func.call @reads(%n, %y) : (i32, !pto.ptr<f32>) -> ()", ["unused", "in"]),
        ("func.call @writes(%x) : (!pto.ptr<f32>) -> ()", ["out", "unused"]),
        ("func.call @again(%x, %n) : (!pto.ptr<f32>, i32) -> ()", ["in", "unused"]),
        (f"{view('x')}\n{view('y')}", ["unused", "unused"]),
        (
            f"{view('x')}\n{view('y')}\n{ALLOC}\npto.tload ins(%xp : {PART}) outs(%a : {TILE})\n"
            f"pto.tstore ins(%a : {TILE}) outs(%yp : {PART})",
            ["in", "out"],
        ),
        (
            f"{view('y')}\n{ALLOC}\npto.tstore ins(%a : {TILE}) outs(%yp : {PART}) "
            "{atomicType = #pto<atomic_type atomic_add>}",
            ["unused", "inout"],
        ),
        (
            f"{view('y')}\n{ALLOC}\npto.tstore ins(%a : {TILE}) outs(%yp : {PART}) "
            "{atomicType = #pto<atomic_type atomic_none>}",
            ["unused", "out"],
        ),
        ("%a = pto.castptr %x : !pto.ptr<f32> -> i64\n%b = arith.addi %a, %a : i64", ["inout", "unused"]),
    ],
)
def test_directions(body: str, directions: list[str]) -> None:
    program = kernel(body).program
    assert directions_of(program) == directions
    written = {number for number, direction in enumerate(directions) if direction in ("out", "inout")}
    assert buffer_usage(program).written == written
    function = program.roots["all"].function if "all" in program.roots else next(iter(program.roots.values())).function
    found = [access_of(argument, program.symbols) for argument in function.regions[0].blocks[0].args]
    assert [one.direction for one in found] == directions


def control(*lines: str) -> str:
    """Writes a control word, then stores a tile."""
    words = "\n".join(("%bits6 = arith.constant 6 : i64\n%bit60 = arith.constant 60 : i64", *lines))
    return f"{words}\n{view('y')}\n{ALLOC}\npto.tstore ins(%a : {TILE}) outs(%yp : {PART})"


UNKNOWN = "%u = pto.get_block_idx"


@in_groups(("lines", "direction"), [
        (("pto.set_atomic_none",), "out"),
        (("pto.set_atomic_f32", "pto.set_atomic_add"), "inout"),
        (("%w = pto.get_ctrl : i64", "pto.set_ctrl %w : i64"), "out"),
        (("%w = pto.get_ctrl : i64", "%q = pto.sbitset1 %w, %bit60 : i64, i64 -> i64", "pto.set_ctrl %q : i64"), "out"),
        (("%w = pto.get_ctrl : i64", "%q = pto.sbitset0 %w, %bits6 : i64, i64 -> i64", "pto.set_ctrl %q : i64"), "out"),
        (
            ("%w = pto.get_ctrl : i64", "%q = pto.sbitset1 %w, %bits6 : i64, i64 -> i64", "pto.set_ctrl %q : i64"),
            "inout",
        ),
        (("%q = arith.constant 512 : i64", "pto.set_ctrl %q : i64"), "out"),
        (("%q = arith.constant 256 : i64", "pto.set_ctrl %q : i64"), "inout"),
        *(((f"%q = arith.constant {1 << bit} : i64", "pto.set_ctrl %q : i64"), "inout" if 6 <= bit <= 8 else "out")
          for bit in range(4, 11)),
        *((("%w = pto.get_ctrl : i64", f"%b = arith.constant {bit} : i64", "%q = pto.sbitset1 %w, %b : i64, i64 -> i64",
            "%r = pto.sbitset0 %q, %bits6 : i64, i64 -> i64", "pto.set_ctrl %r : i64"),
           "inout" if 6 <= bit <= 8 else "out") for bit in range(4, 11)),
        # What only the run knows may be any bit.
        ((UNKNOWN, "pto.set_ctrl %u : i64"), "inout"),
        ((UNKNOWN, "%q = pto.sbitset0 %u, %u : i64, i64 -> i64", "pto.set_ctrl %q : i64"), "inout"),
        ((UNKNOWN, "%w = pto.get_ctrl : i64", "%q = pto.sbitset1 %w, %u : i64, i64 -> i64", "pto.set_ctrl %q : i64"),
         "inout"),
        ((UNKNOWN, "%w = pto.get_ctrl : i64", "%q = pto.sbitset0 %w, %u : i64, i64 -> i64", "pto.set_ctrl %q : i64"),
         "out"),
        (
            ("%q = arith.extsi %n : i32 to i64", "%w = pto.sbitset0 %q, %q : i64, i64 -> i64", "pto.set_ctrl %w : i64"),
            "out",
        ),
    ])  # fmt: skip
def test_stores_read_what_the_atomic_mode_combines(lines: tuple[str, ...], direction: str) -> None:
    program = kernel(control(*lines)).program
    assert directions_of(program) == ["unused", direction]
    function = next(iter(program.roots.values())).function
    assert access_of(function.regions[0].blocks[0].args[1], program.symbols).direction == direction


def test_a_store_of_one_number_does_not_end_what_the_mode_combines() -> None:
    program = kernel(control("pto.set_atomic_f32", "pto.set_atomic_add") + "\n" + STORE.format("%y")).program
    assert directions_of(program) == ["unused", "inout"]
    program = kernel(STORE.format("%y") + "\npto.set_atomic_f32\npto.set_atomic_add").program
    assert directions_of(program) == ["unused", "out"]


def test_what_two_kernels_of_a_pair_do_with_their_arguments() -> None:
    """Arguments of one name are one: each kernel may use them in its way."""
    reserve = (
        '%b = pto.reserve_buffer {name = "q", size = 1024, location = #pto.address_space<mat>, auto = true} -> i32'
    )
    text = "\n".join(
        f"""func.func @{name}(%r: !pto.ptr<f32>, %w: !pto.ptr<f32>, %u: !pto.ptr<f32>, %z: !pto.ptr<f32>)
          attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}} {{
      %c1 = arith.constant 1 : index
      {more}
      {lines}
      return
    }}"""
        for name, kind, more, lines in (
            ("one", "cube", reserve, f"%a = {LOAD.format('%r')}\n%f = {LOAD.format('%u')}"),
            ("two", "vector", '%b = pto.import_reserved_buffer {name = "q", peer_func = @one} -> i32',
             f"%f = arith.constant 1.0 : f32\n{STORE.format('%w')}\n{STORE.format('%u')}"),
        )
    )  # fmt: skip
    module, _ = parsed(text)
    for entry in ("one", "two"):
        program = Kernel(module, entry, "a5", RunOptions()).program
        assert directions_of(program) == ["in", "out", "inout", "unused"]


def test_atomic_mode_of_functions_that_do_not_run() -> None:
    text = f"""func.func @other() {{
      pto.set_atomic_f32
      pto.set_atomic_max
      return
    }}
    {TRANSFER}"""
    module, found = parsed(text)
    assert found == []
    program = Kernel(module, "store", None, RunOptions()).program
    assert directions_of(program) == ["in", "out"]
    arguments = program.entry.regions[0].blocks[0].args
    assert [access_of(one, program.symbols).direction for one in arguments] == ["in", "inout"]


TRANSFER = """func.func @store(%s: !pto.ptr<f32, ub>, %d: !pto.ptr<f32>) {
      %c0 = arith.constant 0 : i64
      %c64 = arith.constant 64 : i64
      pto.mte_ub_gm %s, %d, %c64
        nburst(%c0, %c64, %c64) : !pto.ptr<f32, ub>, !pto.ptr<f32>, i64, i64, i64, i64
      return
    }"""


def test_pointers_that_loads_move_on() -> None:
    """What a load gives after the memory that it has read is the same memory."""
    text = """module attributes {pto.target_arch = "a5"} {
    func.func @k(%x: !pto.ptr<f32, ub>) attributes {pto.kernel} {
      %n = arith.constant 1 : i16
      pto.vecscope {
        %mask = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
        %v, %next = pto.vsldb %x, %n, %n, %mask
          : !pto.ptr<f32, ub>, i16, i16, !pto.mask<b32> -> !pto.vreg<64xf32>, !pto.ptr<f32, ub>
        pto.vsstb %v, %next, %n, %n, %mask : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, i16, i16, !pto.mask<b32>
      }
      return
    }
    }"""
    module, _ = parsed(text)
    program = Kernel(module, "k", None, RunOptions()).program
    assert directions_of(program) == ["inout"]
    assert buffer_usage(program).written == {0}


def test_memory_of_tiles_and_memrefs() -> None:
    arguments = f"%a: {TILE}, %b: {TILE}, %m: memref<4xf32>, %w: memref<4xf32>, %d: memref<?xf32>"
    body = f"""pto.tadds ins(%a, %f : {TILE}, f32) outs(%b : {TILE})
    %v = memref.load %m[%c1] : memref<4xf32>
    memref.store %f, %w[%c1] : memref<4xf32>
    %e = memref.dim %d, %c0 : memref<?xf32>"""
    program = kernel(body, arguments).program
    assert directions_of(program) == ["in", "out", "in", "out", "unused"]
    # Tiles are handed back, whatever was done with them.
    assert buffer_usage(program).written == {0, 1, 3}


@pytest.mark.parametrize(
    ("body", "combines"),
    [
        (STORE.format("%y"), False),
        ("pto.set_atomic_f32\npto.set_atomic_add", True),
        ("pto.set_atomic_none", False),
        (control("pto.set_atomic_none"), False),
        (control("%q = arith.constant 512 : i64", "pto.set_ctrl %q : i64"), False),
        (control("%q = arith.constant 256 : i64", "pto.set_ctrl %q : i64"), True),
        (control("%w = pto.get_ctrl : i64", "pto.set_ctrl %w : i64"), False),
        (f"{ALLOC}\npto.tprint ins(%a : {TILE})", True),
        (
            f"{view('y')}\n{ALLOC}\npto.tstore ins(%a : {TILE}) outs(%yp : {PART}) "
            "{atomicType = #pto<atomic_type atomic_add>}",
            True,
        ),
        (
            f"{view('y')}\n{ALLOC}\npto.tstore ins(%a : {TILE}) outs(%yp : {PART}) "
            "{atomicType = #pto<atomic_type atomic_none>}",
            False,
        ),
    ],
)
def test_programs_in_which_the_order_of_blocks_shows(body: str, combines: bool) -> None:
    assert buffer_usage(kernel(body).program).combines is combines


@pytest.mark.parametrize(("reads", "writes", "text"), [
    (False, False, "unused"), (True, False, "in"), (False, True, "out"), (True, True, "inout"),
])  # fmt: skip
def test_names_of_directions(reads: bool, writes: bool, text: str) -> None:
    assert Access(reads, writes).direction == text


SLOTS = """
    func.func @vector(%x: !pto.ptr<f32>, %slots: !pto.ptr<f32>)
        attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
      %c1 = arith.constant 1 : index
      %none = arith.constant 0 : i32
      %at = pto.addptr %slots, %c1 : !pto.ptr<f32> -> !pto.ptr<f32>
      pto.aiv_initialize_pipe {{id = 0, dir_mask = 2, slot_size = 1024, slot_num = 2}}
        (gm_slot_buffer = {pointer} : !pto.ptr<f32>, c2v_consumer_buf = %none : i32, v2c_consumer_buf = %none : i32)
      {more}
      return
    }}"""


@pytest.mark.parametrize(
    ("pointer", "more", "found"),
    [
        ("%slots", "", {1}),
        ("%at", "", {1}),
        ("%at", f"%value = {LOAD.format('%at')}", set()),
        ("%x", "", {0}),
    ],
    ids=["the argument", "a pointer into it", "a scalar is loaded", "another one"],
)
def test_arguments_that_hold_entries_of_queues(pointer: str, more: str, found: set[int]) -> None:
    module, _ = parsed(f"module {{{SLOTS.format(pointer=pointer, more=more)}}}")
    assert slot_arguments(Kernel(module, "vector", "a2a3", RunOptions()).program) == found
