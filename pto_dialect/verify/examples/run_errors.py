"""An incorrect and a fixed program for the run rules about limits, integers, work-items, cores and queues.

The kernels take two buffers of f32, as those of ``runs`` do; the first holds ones, the second zeros.
"""

from __future__ import annotations

from .runs import CUBE, LOAD, MAD, TILE, WRITE_BACK, flag, kernel

_BIG = "!pto.tile_buf<vec, 128x256xf32>"
_ROW = "!pto.tile_buf<vec, 1x64xf32>"
_SLOTS = f"!pto.multi_tile_buf<{_ROW}, count=2>"
_INTEGERS = "!pto.tile_buf<vec, 8x64xi32>"
_ONE = "%one = arith.constant 1.0 : f32"
_INDEX = ("%blocks = pto.get_block_num", "%n = arith.index_cast %blocks : i64 to index")


def _big_tiles(count: int) -> str:
    """Returns ``count`` tiles of 128 kB, all live at the end, filled where a text check does not follow them."""
    names = [f"%t{number}" for number in range(count)]
    return kernel(
        _ONE,
        "%yes = arith.constant true",
        *(f"{name} = pto.alloc_tile : {_BIG}" for name in names),
        "scf.if %yes {",
        *(f"pto.texpands ins(%one : f32) outs({name} : {_BIG})" for name in names),
        "}",
        *(f"pto.tadd ins({name}, %t0 : {_BIG}, {_BIG}) outs({name} : {_BIG})" for name in names),
    )


def _late_tile(blocks: int) -> str:
    """Returns a tile at an address that depends on the number of blocks."""
    return kernel(
        _ONE,
        "%blocks = pto.get_block_num",
        f"%step = arith.constant {blocks} : i64",
        "%at = arith.muli %blocks, %step : i64",
        f"%t = pto.alloc_tile addr = %at : {TILE}",
        f"pto.texpands ins(%one : f32) outs(%t : {TILE})",
    )


def _slot(number: int) -> str:
    """Returns a slot of a buffer that has two slots."""
    return kernel(
        _ONE,
        *_INDEX,
        f"%d = arith.constant {number} : index",
        "%slot = arith.muli %n, %d : index",
        f"%m = pto.alloc_multi_tile addr = %c0 : {_SLOTS}",
        f"%t = pto.multi_tile_get %m[%slot] : {_SLOTS} -> {_ROW}",
        f"pto.texpands ins(%one : f32) outs(%t : {_ROW})",
    )


def with_number(operation: str, number: int) -> str:
    """Returns a tile operation whose second operand is a tile of integers, all of them ``number``."""
    return kernel(
        f"%number = arith.constant {number} : i32",
        f"%s = pto.alloc_tile : {_INTEGERS}",
        f"%t = pto.alloc_tile : {_INTEGERS}",
        f"pto.texpands ins(%number : i32) outs(%s : {_INTEGERS})",
        f"pto.texpands ins(%number : i32) outs(%t : {_INTEGERS})",
        f"pto.{operation} ins(%s, %t : {_INTEGERS}, {_INTEGERS}) outs(%s : {_INTEGERS})",
    )


def _repeats(number: int) -> str:
    """Returns a vector instruction with its own repeat count."""
    lines = (
        "%c8 = arith.constant 8 : i64",
        f"%many = arith.constant {number} : i64",
        LOAD,
        *flag("MTE2", "V"),
        "pto.ub.vadd %x, %x, %x, %many, %c1, %c1, %c1, %c0, %c0, %c0 "
        ": !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, i64, i64",
    )
    return kernel(*lines, arch="a3")


def _divide(divisor: int) -> str:
    """Returns the division of an integer by a number that is only known at run time."""
    return kernel(
        "%blocks = pto.get_block_num",
        f"%d = arith.constant {divisor} : i64",
        "%by = arith.subi %blocks, %d : i64",
        "%q = arith.divsi %c256, %by : i64",
        "%i = arith.index_cast %q : i64 to index",
        "%v = pto.load_scalar %a[%i1] : !pto.ptr<f32, gm> -> f32",
        "pto.store_scalar %v, %b[%i] : !pto.ptr<f32, gm>, f32",
    )


def _loop(step: str) -> str:
    """Returns a loop whose step is only known at run time."""
    return kernel(
        *_INDEX,
        f"%step = arith.{step} : index",
        "scf.for %i = %i0 to %i1 step %step {",
        "  %v = pto.load_scalar %a[%i] : !pto.ptr<f32, gm> -> f32",
        "}",
    )


def _copied(extent: int) -> str:
    """Returns a copy of a memref whose extent is only known at run time to one of 4 elements."""
    return kernel(
        *_INDEX,
        f"%d = arith.constant {extent} : index",
        "%size = arith.muli %n, %d : index",
        "%from = memref.alloca(%size) : memref<?xf32>",
        "%to = memref.alloca() : memref<4xf32>",
        "memref.copy %from, %to : memref<?xf32> to memref<4xf32>",
    )


def _items(between: str) -> str:
    """Returns work-items that exchange numbers with their neighbours."""
    return f"""module attributes {{pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  func.func @k(%a: !pto.ptr<f32, gm>, %b: !pto.ptr<f32, gm>) attributes {{pto.kernel}} {{
    %x = arith.constant 64 : i32
    %y = arith.constant 1 : i32
    pto.simt_launch @body<<<%x, %y, %y>>>(%b) : (!pto.ptr<f32, gm>) -> ()
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
  func.func @body(%b: !pto.ptr<f32, gm>) attributes {{pto.simt_entry, pto.simt_max_threads = 2048 : i32}} {{
    %zero = arith.constant 0 : i64
    %i1 = arith.constant 1 : i32
    %one = arith.constant 1.0 : f32
    %ub = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
    %me = pto.get_tid_x : i32
    %at = arith.index_castui %me : i32 to index
    pto.store %one, %ub[%at] : !pto.ptr<f32, ub>, f32
{between}    %other = arith.xori %me, %i1 : i32
    %there = arith.index_castui %other : i32 to index
    %v = pto.load %ub[%there] : !pto.ptr<f32, ub> -> f32
    pto.stg %v, %b[%at] : !pto.ptr<f32, gm>, f32
    return
  }}
}}"""


def _vector_cores(place: str) -> str:
    """Returns a program whose two vector cores of a block store their id."""
    return kernel(
        "pto.section.vector {",
        "  %core = pto.get_subblock_idx",
        "  %value = arith.trunci %core : i64 to i32",
        "  %index = arith.index_cast %core : i64 to index",
        "  %i16 = arith.constant 16 : index",
        "  %mine = arith.muli %index, %i16 : index",
        "  %words = pto.castptr %b : !pto.ptr<f32, gm> -> !pto.ptr<i32, gm>",
        f"  pto.store_scalar %value, %words[{place}] : !pto.ptr<i32, gm>, i32",
        "}",
        "pto.section.cube {",
        "  pto.barrier #pto.pipe<PIPE_ALL>",
        "}",
    )


def _stream(*flush: str) -> str:
    """Returns thirteen numbers that are stored as a stream, with its ``flush``."""
    align, register, pointer = "!pto.align", "!pto.vreg<64xf32>", "!pto.ptr<f32, ub>"
    return kernel(
        *_INDEX,
        "%n32 = arith.index_cast %n : index to i32",
        "%d = arith.constant 13 : i32",
        "%count = arith.muli %n32, %d : i32",
        "pto.vecscope {",
        '  %all = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>',
        "  %one = arith.constant 1.0 : f32",
        f"  %v = pto.vdup %one, %all : f32, !pto.mask<b32> -> {register}",
        f"  %s = pto.init_align : {align}",
        f"  %t = pto.vstus %s, %count, %v, %x : {align}, i32, {register}, {pointer} -> {align}",
        *(line.format(types=f"{align}, {pointer}, i32") for line in flush),
        "}",
    )


_FLUSH = "  pto.vstas %t, %{}, %count : {{types}}"


def _asserted(relation: str) -> str:
    """Returns an assertion about the number of blocks, which is 1."""
    lines = (f"%same = arith.cmpi {relation}, %n, %i1 : index", 'cf.assert %same, "there is one block"')
    return kernel(*_INDEX, *lines)


def _conditional(relation: str) -> str:
    """Returns a trap for some numbers of blocks."""
    return kernel(*_INDEX, f"%stop = arith.cmpi {relation}, %n, %i1 : index", "scf.if %stop {", "  pto.trap", "}")


def _rounded(mode: str) -> str:
    """Returns logical lanes of f32 converted to f16."""
    wide, narrow = "!pto.vmi.vreg<64xf32>", "!pto.vmi.vreg<64xf16>"
    return kernel(
        f'%wide = "pto.vmi.constant"() {{value = dense<1.0> : vector<64xf32>}} : () -> {wide}',
        f'%narrow = pto.vmi.vcvt %wide {{rounding = "{mode}", saturate = "SAT"}} : {wide} -> {narrow}',
    )


def _kernels(*names: str) -> str:
    """Returns several kernels, none of them selected."""
    arguments = "%a: !pto.ptr<f32, gm>, %b: !pto.ptr<f32, gm>"
    texts = (
        f"  func.func @{name}({arguments}) attributes {{pto.kernel}} {{\n    pto.barrier #pto.pipe<PIPE_ALL>\n"
        "    return\n  }\n"
        for name in names
    )
    return f'module attributes {{pto.target_arch = "a5"}} {{\n{"".join(texts)}}}'


def _scattered(elements: int) -> str:
    """Returns the elements of one view scattered to the two members of a group."""
    view, tile = "!pto.partition_tensor_view<1x{}xf32>", "!pto.tile_buf<vec, 1x128xf32>"
    whole = "!pto.tensor_view<?x?xf32>"
    parts = {"s": ("a", 128), "t": ("b", elements), "u": ("b", elements)}
    lines = [f"%n{count} = arith.constant {count} : index" for count in {128, elements}]
    for name, (buffer, count) in parts.items():
        lines += [
            f"%{name}v = pto.make_tensor_view %{buffer}, shape = [%i1, %n{count}], strides = [%n{count}, %i1] "
            f": {whole}",
            f"%{name} = pto.partition_view %{name}v, offsets = [%i0, %i0], sizes = [%i1, %n{count}] "
            f": {whole} -> {view.format(count)}",
        ]
    types = f"{view.format(128)}, {tile}, {view.format(elements)}, {view.format(elements)}"
    transfer = f"pto.comm.tscatter(%s, recv(%r), group(%t, %u) : {types}) {{root = 0 : i32}}"
    return kernel(*lines, f"%r = pto.alloc_tile : {tile}", transfer)


def _popped(second_free: str) -> str:
    """Returns a vector kernel that pushes a tile, and a cube kernel that pops it."""
    fields = "{id = 0, dir_mask = 2, slot_size = 1024, nosplit = true}"
    mat = "!pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>"
    vec = "!pto.tile_buf<vec, 16x16xf32>"
    buffer = 'name = "fifo", size = 8192, location = #pto.address_space<mat>, auto = true'
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%a: !pto.ptr<f32, gm>, %b: !pto.ptr<f32, gm>)
      attributes {{pto.kernel, pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %fifo = pto.reserve_buffer {{{buffer}}} -> i32
    pto.aic_initialize_pipe {fields} (v2c_consumer_buf = %fifo : i32)
    %t = pto.tpop_from_aiv {{id = 0, split = 0}} -> {mat}
    pto.tfree_from_aiv {{id = 0, split = 0}}
{second_free}    return
  }}
  func.func @vector(%a: !pto.ptr<f32, gm>, %b: !pto.ptr<f32, gm>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %one = arith.constant 1.0 : f32
    %fifo = pto.import_reserved_buffer {{name = "fifo", peer_func = @k}} -> i32
    pto.aiv_initialize_pipe {fields} (v2c_consumer_buf = %fifo : i32)
    %t = pto.alloc_tile : {vec}
    pto.texpands ins(%one : f32) outs(%t : {vec})
    pto.tpush_to_aic(%t : {vec}) {{id = 0, split = 0}}
    return
  }}
}}"""


def _printed(text: str) -> str:
    """Returns a kernel that prints a number."""
    return kernel("%n = arith.constant 7 : i32", f'pto.print ins("{text}", %n : i32)')


_STORED = (*flag("M", "FIX"), WRITE_BACK)
_ADD = MAD.replace("pto.mad ", "pto.mad_acc ")


def _scratch(extent: int) -> str:
    """Returns scratch memory of ``extent`` numbers in each of three dimensions."""
    type_ = f"memref<{extent}x{extent}x{extent}xf32>"
    return kernel(
        _ONE,
        "%first = arith.constant 0 : index",
        f"%scratch = memref.alloc() : {type_}",
        f"memref.store %one, %scratch[%first, %first, %first] : {type_}",
    )


FAULT_EXAMPLES: dict[str, tuple[str, str]] = {
    "capacity-dynamic": (_big_tiles(3), _big_tiles(1)),
    "mem-capacity": (_late_tile(262144), _late_tile(2048)),
    "mem-oob-tile": (_slot(2), _slot(1)),
    "ub-repeat": (_repeats(256), _repeats(255)),
    "division-by-zero": (_divide(1), _divide(0)),
    "scf-step": (_loop("subi %n, %n"), _loop("addi %n, %n")),
    "memref-shape": (_copied(5), _copied(4)),
    "race-simt": (_items(""), _items("    pto.syncthreads\n")),
    "race-cross-core": (_vector_cores("%i0"), _vector_cores("%mine")),
    "comm-shape": (_scattered(32), _scattered(64)),
    "mad-acc-init": (kernel(*CUBE, _ADD, *_STORED), kernel(*CUBE, MAD, _ADD, *_STORED)),
    "entry-single": (_kernels("one", "other"), _kernels("one")),
    "run-memory": (_scratch(1 << 20), _scratch(4)),
    "assertion": (_asserted("ult"), _asserted("eq")),
    "trap": (_conditional("eq"), _conditional("ult")),
    "print-format": (_printed("%d of %d"), _printed("%d of 3")),
    "unmodelled": (_rounded("H"), _rounded("R")),
    "stream-flush": (_stream(), _stream(_FLUSH.format("x"))),
    "stream-address": (_stream(_FLUSH.format("y")), _stream(_FLUSH.format("x"))),
    "pipe-slot": (_popped("    pto.tfree_from_aiv {id = 0, split = 0}\n"), _popped("")),
}
"""Programs by rule id."""
