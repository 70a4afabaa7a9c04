"""Programs of the measured kernels, with the tiles, buffers and loops of the public ones.

`product` is the matrix product that the public GEMM, convolution and microscaling kernels share: a core computes a
rectangle of the result tile by tile; panels of some steps along the inner dimension are loaded into two buffers of L1,
and each step is extracted into one of two halves of L0. `attention` is the pipeline of flash attention over cube and
vector cores. The compiler orders the pipes of a core; queues order the cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from string import Template


@dataclass(frozen=True)
class Product:
    """A product [m, k] x [k, n]: a grid of cores, base tiles, and steps of a panel."""

    m: int
    k: int
    n: int
    element: str
    result: str
    grid: tuple[int, int]
    base: tuple[int, int, int]
    """Rows, inner elements and columns of a step."""

    steps: int
    slices: int = 0
    """Distinct slices of a left panel, if fewer than its steps: those of a convolution read one part of the image."""

    scaled: bool = False
    """With scales of 32 elements each; those of one step serve all, so their transfers, 1/32 of all, are left out."""

    chip: str = "a2a3"
    batch: int = 1
    """Products one after the other, whose arrays follow one another."""

    quantised: bool = False
    """Integers become numbers of the type of the result by one scale."""

    @property
    def acc(self) -> str:
        """The type of sums."""
        return "i32" if self.element == "i8" else "f32"

    @property
    def cores(self) -> int:
        return self.grid[0] * self.grid[1]

    @property
    def arguments(self) -> list[str]:
        """Arguments of pto-run."""
        m, k, n = self.m, self.k, self.n
        k //= 2 if "f4" in self.element else 1
        m, all_n = m * self.batch, n * self.batch
        shapes = {"a": f"{self.element}:{m}x{k}", "b": f"{self.element}:{all_n}x{k}"}
        shapes["c"] = f"{self.result}:{m}x{n}"
        if self.scaled:
            rows, inner, cols = self.base
            shapes |= {"as": f"f8E8M0:{rows}x{inner // 32}", "bs": f"f8E8M0:{inner // 32}x{cols}"}
        return [f"--arg={name}=zeros:{shape}" for name, shape in shapes.items()]


_PRODUCT = Template("""\
!a_mat = !pto.tile_buf<mat, ${bm}x${ak}x$t, blayout=col_major, slayout=row_major>
!b_mat = !pto.tile_buf<mat, ${pk}x${bn}x$t, blayout=row_major, slayout=col_major>
!left = !pto.tile_buf<left, ${bm}x${bk}x$t, $left_layout>
!right = !pto.tile_buf<right, ${bk}x${bn}x$t, slayout=col_major>
!acc = !pto.tile_buf<acc, ${bm}x${bn}x$acc, blayout=col_major, slayout=row_major, fractal=1024>
!a_part = !pto.partition_tensor_view<${bm}x${ak}x$t>
!b_part = !pto.partition_tensor_view<${pk}x${bn}x$t>
!c_part = !pto.partition_tensor_view<${bm}x${bn}x$r>
$scale_types
module attributes {pto.target_arch = "$chip"} {
  func.func @product(%a: !pto.ptr<$t>, %b: !pto.ptr<$t>, %c: !pto.ptr<$r>$scale_arguments)
      attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<cube>} {
$constants
    %block64 = pto.get_block_idx
    %block = arith.index_cast %block64 : i64 to index
    %block_row = arith.remui %block, %grid_rows : index
    %block_col = arith.divui %block, %grid_rows : index
    %row0 = arith.muli %block_row, %core_m : index
    %col0 = arith.muli %block_col, %core_n : index
    %row_end = arith.addi %row0, %core_m : index
    %col_end = arith.addi %col0, %core_n : index
    %a_view = pto.make_tensor_view %a, shape = [%all_m, %k], strides = [%k, %c1] : !pto.tensor_view<?x?x$t>
    %b_view = pto.make_tensor_view %b, shape = [%k, %all_n], strides = [%c1, %k] : !pto.tensor_view<?x?x$t>
    %c_view = pto.make_tensor_view %c, shape = [%all_m, %n], strides = [%n, %c1] : !pto.tensor_view<?x?x$r>
$scales
    %a0 = pto.alloc_tile : !a_mat
    %a1 = pto.alloc_tile : !a_mat
    %b0 = pto.alloc_tile : !b_mat
    %b1 = pto.alloc_tile : !b_mat
    %left0 = pto.alloc_tile : !left
    %left1 = pto.alloc_tile : !left
    %right0 = pto.alloc_tile : !right
    %right1 = pto.alloc_tile : !right
    %acc = pto.alloc_tile : !acc
$batch    scf.for %i = %row0 to %row_end step %bm {
      scf.for %j = %col0 to %col_end step %bn {
$offsets        scf.for %p = %c0 to %k step %pair {
          %first = arith.cmpi eq, %p, %c0 : index
$panels
        }
        %c_part = pto.partition_view %c_view, offsets = [$row, %j], sizes = [%bm, %bn]
            : !pto.tensor_view<?x?x$r> -> !c_part
        pto.tstore ins(%acc$scale) outs(%c_part : !c_part)
      }
    }
$batch_end    return
  }
}
""")

_OFFSETS = """\
        %row_of = arith.muli %g, %m : index
        %row = arith.addi %row_of, %i : index
        %col_of = arith.muli %g, %n : index
        %col = arith.addi %col_of, %j : index
"""


def product(one: Product) -> str:
    """The program of a product."""
    bm, bk, bn = one.base
    panel = bk * one.steps
    names = {"m": one.m, "k": one.k, "n": one.n, "bm": bm, "bn": bn, "pk": panel, "pair": 2 * panel,
             "ak": bk * (one.slices or one.steps)}  # fmt: skip
    names |= {"batch": one.batch, "all_m": one.batch * one.m, "all_n": one.batch * one.n}
    names |= {"grid_rows": one.grid[0], "core_m": one.m // one.grid[0], "core_n": one.n // one.grid[1]}
    numbers = {0, 1, *(step * bk for step in range(one.steps))}
    names |= {"groups": bk // 32} if one.scaled else {}
    constants = [f"    %c{number} = arith.constant {number} : index" for number in sorted(numbers)]
    constants += [f"    %{name} = arith.constant {number} : index" for name, number in names.items()]
    constants += ["    %scale = arith.constant 1065353216 : i64"] if one.quantised else []
    several = one.batch > 1
    return _PRODUCT.substitute(
        batch="    scf.for %g = %c0 to %batch step %c1 {\n" if several else "",
        batch_end="    }\n" if several else "", offsets=_OFFSETS if several else "", row="%row" if several else "%i",
        scale=", %scale : !acc, i64" if one.quantised else " : !acc", acc=one.acc,
        t=one.element, r=one.result, chip=one.chip, bm=bm, bk=bk, bn=bn, pk=panel, ak=names["ak"],
        left_layout="blayout=col_major, slayout=row_major" if one.chip == "a5" else "slayout=row_major",
        constants="\n".join(constants),
        scale_types=_SCALE_TYPES.substitute(bm=bm, bn=bn, step=bk // 32) if one.scaled else "",
        scale_arguments=", %as: !pto.ptr<!pto.f8E8M0>, %bs: !pto.ptr<!pto.f8E8M0>" if one.scaled else "",
        scales=_SCALES if one.scaled else "",
        panels="\n".join(_panels(one)),
    )  # fmt: skip


_SCALE_TYPES = Template("""\
!a_scales = !pto.tile_buf<mat, ${bm}x${step}x!pto.f8E8M0, slayout=row_major, fractal=32>
!b_scales = !pto.tile_buf<mat, ${step}x${bn}x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32>
!left_scale = !pto.tile_buf<scaling, ${bm}x${step}x!pto.f8E8M0, slayout=row_major, fractal=32>
!right_scale = !pto.tile_buf<scaling, ${step}x${bn}x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32>
!a_scale_part = !pto.partition_tensor_view<${bm}x${step}x!pto.f8E8M0>
!b_scale_part = !pto.partition_tensor_view<${step}x${bn}x!pto.f8E8M0>
""")

_SCALES = """\
    %as_view = pto.make_tensor_view %as, shape = [%bm, %groups], strides = [%groups, %c1]
        : !pto.tensor_view<?x?x!pto.f8E8M0>
    %bs_view = pto.make_tensor_view %bs, shape = [%groups, %bn], strides = [%bn, %c1]
        : !pto.tensor_view<?x?x!pto.f8E8M0>
    %as_part = pto.partition_view %as_view, offsets = [%c0, %c0], sizes = [%bm, %groups]
        : !pto.tensor_view<?x?x!pto.f8E8M0> -> !a_scale_part
    %bs_part = pto.partition_view %bs_view, offsets = [%c0, %c0], sizes = [%groups, %bn]
        : !pto.tensor_view<?x?x!pto.f8E8M0> -> !b_scale_part
    %as_l1 = pto.alloc_tile : !a_scales
    %bs_l1 = pto.alloc_tile : !b_scales
    %ls = pto.alloc_tile : !left_scale
    %rs = pto.alloc_tile : !right_scale
    pto.tload ins(%as_part : !a_scale_part) outs(%as_l1 : !a_scales)
    pto.tload ins(%bs_part : !b_scale_part) outs(%bs_l1 : !b_scales)
    pto.tmov ins(%as_l1 : !a_scales) outs(%ls : !left_scale)
    pto.tmov ins(%bs_l1 : !b_scales) outs(%rs : !right_scale)
"""


def _panels(one: Product) -> Iterator[str]:
    """The loads of two panels, and the steps of each."""
    count = 0
    for panel in range(2):
        at = "%p" if not panel else "%p1"
        if panel:
            yield "          %p1 = arith.addi %p, %pk : index"
        row, col = ("%row", "%col") if one.batch > 1 else ("%i", "%j")
        for name, offsets, sizes in (("a", f"{row}, {at}", "%bm, %ak"), ("b", f"{at}, {col}", "%pk, %bn")):
            yield (f"          %{name}_part{panel} = pto.partition_view %{name}_view, offsets = [{offsets}],"
                   f" sizes = [{sizes}] : !pto.tensor_view<?x?x{one.element}> -> !{name}_part")  # fmt: skip
            yield (f"          pto.tload ins(%{name}_part{panel} : !{name}_part)"
                   f" outs(%{name}{panel} : !{name}_mat)")  # fmt: skip
        for step in range(one.steps):
            yield from _step(one, panel, step, count % 2)
            count += 1


def _step(one: Product, panel: int, step: int, half: int) -> Iterator[str]:
    at = step * one.base[1]
    slice_at = step % (one.slices or one.steps) * one.base[1]
    yield (f"          pto.textract ins(%a{panel}, %c0, %c{slice_at} : !a_mat, index, index) outs(%left{half} : !left)")
    yield (f"          pto.textract ins(%b{panel}, %c{at}, %c0 : !b_mat, index, index) outs(%right{half} : !right)")
    operands, types, suffix = f"%left{half}, %right{half}", "!left, !right", ""
    if one.scaled:
        operands = f"%left{half}, %ls, %right{half}, %rs"
        types, suffix = "!left, !left_scale, !right, !right_scale", ".mx"
    more = f"pto.tmatmul{suffix}.acc ins(%acc, {operands} : !acc, {types}) outs(%acc : !acc)"
    if panel or step:
        yield f"          {more}"
    else:
        yield "          scf.if %first {"
        yield f"            pto.tmatmul{suffix} ins({operands} : {types}) outs(%acc : !acc)"
        yield "          } else {"
        yield f"            {more}"
        yield "          }"


# ------------------------------------------------------------ attention

TILE, SUB, HEAD, PRELOAD, SLOTS = 256, 128, 128, 4, 8
"""Keys of a tile and of a product, width of a head, tiles of scores that are ahead, and slots of a queue."""


def attention_arguments(queries: int, keys: int) -> list[str]:
    """Arguments of pto-run."""
    blocks = queries // SUB
    shapes = {"q": f"f16:{queries}x{HEAD}", "k": f"f16:{keys}x{HEAD}", "v": f"f16:{keys}x{HEAD}"}
    shapes |= {"s": f"f32:{blocks}x{SLOTS}x{SUB}x{TILE}", "p": f"f16:{blocks}x{SLOTS}x{SUB}x{TILE}"}
    shapes |= {"pv": f"f32:{blocks}x{SLOTS}x{SUB}x{HEAD}", "o": f"f32:{queries}x{HEAD}"}
    return [f"--arg={name}=zeros:{shape}" for name, shape in shapes.items()]


def attention(queries: int, keys: int) -> str:
    """Flash attention of one head: a block has 128 queries. Only its times are those of attention: the factors of
    the tiles in flight share one buffer."""
    tiles = keys // TILE
    ahead = min(PRELOAD, tiles)
    lines = [_ATTENTION_HEAD.substitute(arguments=_ARGUMENTS), *_core("products", "cube", queries, keys)]
    lines += _CUBE_TILES
    for tile in range(ahead):
        lines += _scores(f"%c{tile}", f"e{tile}", 0) + _scores(f"%c{tile}", f"e{tile}", 1) + [_signal("FIX", 0)]
    lines.append(f"    scf.for %t = %c0 to %c{tiles} step %c1 {{")
    lines += ["    %next = arith.addi %t, %ahead : index", f"    %more = arith.cmpi ult, %next, %c{tiles} : index"]
    for sub in range(2):
        lines += ["    scf.if %more {", *_scores("%next", f"n{sub}", sub)]
        lines += [_signal("FIX", 0)] if sub else []
        lines += ["    }", *_weighted("%t", sub)]
    lines += [_signal("FIX", 2), "    }", "    return", "  }", *_core("softmax", "vector", queries, keys)]
    lines += _VECTOR_TILES
    for tile in range(ahead):
        lines += _softmax(f"%c{tile}", f"e{tile}", 0) + _softmax(f"%c{tile}", f"e{tile}", 1)
    lines.append(f"    scf.for %t = %c0 to %c{tiles} step %c1 {{")
    lines += ["    %next = arith.addi %t, %ahead : index", f"    %more = arith.cmpi ult, %next, %c{tiles} : index"]
    for part in range(2):
        lines += ["    scf.if %more {", *_softmax("%next", f"n{part}", part), "    }"]
    return "\n".join([*lines, _UPDATE, "    }", _FINISH, "    return", "  }", "}", ""])


_ARGUMENTS = (
    "%q: !pto.ptr<f16>, %k: !pto.ptr<f16>, %v: !pto.ptr<f16>, %s: !pto.ptr<f32>, %p: !pto.ptr<f16>, "
    "%pv: !pto.ptr<f32>, %o: !pto.ptr<f32>"
)

_ATTENTION_HEAD = Template("""\
!q_mat = !pto.tile_buf<mat, 128x128xf16, blayout=col_major, slayout=row_major>
!k_mat = !pto.tile_buf<mat, 128x128xf16, blayout=row_major, slayout=col_major>
!left = !pto.tile_buf<left, 128x128xf16, slayout=row_major>
!right = !pto.tile_buf<right, 128x128xf16, slayout=col_major>
!acc = !pto.tile_buf<acc, 128x128xf32, blayout=col_major, slayout=row_major, fractal=1024>
!scores = !pto.tile_buf<vec, 32x256xf32>
!half = !pto.tile_buf<vec, 32x256xf16>
!part32 = !pto.tile_buf<vec, 32x128xf32>
!part16 = !pto.tile_buf<vec, 32x128xf16>
!output = !pto.tile_buf<vec, 64x128xf32>
!column = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
!row = !pto.tile_buf<vec, 1x32xf32>
!column64 = !pto.tile_buf<vec, 64x1xf32, blayout=col_major>
!view16 = !pto.tensor_view<?x?xf16>
!view32 = !pto.tensor_view<?x?xf32>
!square16 = !pto.partition_tensor_view<128x128xf16>
!square32 = !pto.partition_tensor_view<128x128xf32>
!slice16 = !pto.partition_tensor_view<32x128xf16>
!slice32 = !pto.partition_tensor_view<32x128xf32>
!half32 = !pto.partition_tensor_view<64x128xf32>

module attributes {pto.target_arch = "a2a3"} {
  func.func @attention($arguments) attributes {pto.entry} {
    func.call @products(%q, %k, %v, %s, %p, %pv, %o) : (!pto.ptr<f16>, !pto.ptr<f16>, !pto.ptr<f16>, !pto.ptr<f32>,
        !pto.ptr<f16>, !pto.ptr<f32>, !pto.ptr<f32>) -> ()
    func.call @softmax(%q, %k, %v, %s, %p, %pv, %o) : (!pto.ptr<f16>, !pto.ptr<f16>, !pto.ptr<f16>, !pto.ptr<f32>,
        !pto.ptr<f16>, !pto.ptr<f32>, !pto.ptr<f32>) -> ()
    return
  }
""")


def _core(name: str, kind: str, queries: int, keys: int) -> list[str]:
    """The beginning of the function of one kind of cores: numbers, views, and where the block starts."""
    blocks, tiles = queries // SUB, keys // TILE
    numbers = sorted({0, 1, 2, 32, 64, *range(PRELOAD), SLOTS, SUB, TILE, tiles, keys, queries})
    slots = blocks * SLOTS
    views = {"q": (queries, HEAD, 16), "v": (keys, HEAD, 16), "s": (slots * 2 * SUB, SUB, 32)}
    views |= {"p": (slots * 2 * SUB, SUB, 16), "pv": (slots * SUB, HEAD, 32), "o": (queries, HEAD, 32)}
    lines = [f"  func.func @{name}({_ARGUMENTS})",
             f"      attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}} {{"]  # fmt: skip
    lines += [f"    %c{number} = arith.constant {number} : index" for number in numbers]
    lines += [f"    %ahead = arith.constant {PRELOAD} : index", "    %block64 = pto.get_block_idx",
              "    %block = arith.index_cast %block64 : i64 to index",
              f"    %query = arith.muli %block, %c{SUB} : index",
              f"    %slot0 = arith.muli %block, %c{SLOTS} : index"]  # fmt: skip
    for view, (rows, cols, bits) in views.items():
        lines += [f"    %{view}_rows = arith.constant {rows} : index",
                  f"    %{view}_view = pto.make_tensor_view %{view}, shape = [%{view}_rows, %c{cols}],"
                  f" strides = [%c{cols}, %c1] : !view{bits}"]  # fmt: skip
    lines.append(f"    %k_view = pto.make_tensor_view %k, shape = [%c{HEAD}, %c{keys}], strides = [%c1, %c{HEAD}]"
                 " : !view16")  # fmt: skip
    return lines


_CUBE_TILES = [
    *(f"    %{name} = pto.alloc_tile : !{type_}" for name, type_ in (
        ("q_l1", "q_mat"), ("k0", "k_mat"), ("k1", "k_mat"), ("p0", "q_mat"), ("p1", "q_mat"), ("v0", "q_mat"),
        ("v1", "q_mat"), ("left0", "left"), ("left1", "left"), ("right0", "right"), ("right1", "right"),
        ("acc0", "acc"), ("acc1", "acc"))),
    "    %q_part = pto.partition_view %q_view, offsets = [%query, %c0], sizes = [%c128, %c128] : !view16 -> !square16",
    "    pto.tload ins(%q_part : !square16) outs(%q_l1 : !q_mat)",
]  # fmt: skip


def _signal(pipe: str, event: int) -> str:
    return f"    pto.sync.set <PIPE_{pipe}>, {event} {{ffts_mode = 2 : i32}}"


def _slot(tile: str, name: str, sub: int, rows: int) -> list[str]:
    """The first row of a slot, or of a part of it: slots of ``rows`` rows, two of 128 for scores."""
    return [f"    %m{name} = arith.remui {tile}, %c{SLOTS} : index",
            f"    %n{name} = arith.addi %m{name}, %slot0 : index",
            f"    %o{name} = arith.muli %n{name}, %c{rows} : index",
            f"    %a{name} = arith.addi %o{name}, %c{SUB * sub} : index"]  # fmt: skip


def _scores(tile: str, name: str, sub: int) -> list[str]:
    """Scores of 128 queries and 128 keys, written to their part of a slot."""
    name = f"q{name}_{sub}"
    return [f"    %b{name} = arith.muli {tile}, %c{TILE} : index",
            f"    %k{name} = arith.addi %b{name}, %c{SUB * sub} : index",
            f"    %v{name} = pto.partition_view %k_view, offsets = [%c0, %k{name}], sizes = [%c128, %c128]"
            " : !view16 -> !square16",
            f"    pto.tload ins(%v{name} : !square16) outs(%k{sub} : !k_mat)",
            "    pto.tmov ins(%q_l1 : !q_mat) outs(%left0 : !left)",
            f"    pto.tmov ins(%k{sub} : !k_mat) outs(%right0 : !right)",
            "    pto.tmatmul ins(%left0, %right0 : !left, !right) outs(%acc0 : !acc)",
            *_slot(tile, name, sub, TILE),
            f"    %w{name} = pto.partition_view %s_view, offsets = [%a{name}, %c0], sizes = [%c128, %c128]"
            " : !view32 -> !square32",
            f"    pto.tstore ins(%acc0 : !acc) outs(%w{name} : !square32)"]  # fmt: skip


def _weighted(tile: str, sub: int) -> list[str]:
    """The product of 128 weights and values; the second one adds to the first and is written."""
    name = f"w{sub}"
    wait = [] if sub else ["    pto.sync.wait <PIPE_MTE2>, 1"]
    lines = [f"    %b{name} = arith.muli {tile}, %c{TILE} : index",
             f"    %k{name} = arith.addi %b{name}, %c{SUB * sub} : index",
             f"    %v{name} = pto.partition_view %v_view, offsets = [%k{name}, %c0], sizes = [%c128, %c128]"
             " : !view16 -> !square16",
             f"    pto.tload ins(%v{name} : !square16) outs(%v{sub} : !q_mat)", *wait, *_slot(tile, name, sub, TILE),
             f"    %r{name} = pto.partition_view %p_view, offsets = [%a{name}, %c0], sizes = [%c128, %c128]"
             " : !view16 -> !square16",
             f"    pto.tload ins(%r{name} : !square16) outs(%p{sub} : !q_mat)",
             f"    pto.tmov ins(%p{sub} : !q_mat) outs(%left1 : !left)",
             f"    pto.tmov ins(%v{sub} : !q_mat) outs(%right1 : !right)"]  # fmt: skip
    if not sub:
        return [*lines, "    pto.tmatmul ins(%left1, %right1 : !left, !right) outs(%acc1 : !acc)"]
    return [*lines, "    pto.tmatmul.acc ins(%acc1, %left1, %right1 : !acc, !left, !right) outs(%acc1 : !acc)",
            *_slot(tile, "pv", 0, SUB),
            "    %pv_part = pto.partition_view %pv_view, offsets = [%apv, %c0], sizes = [%c128, %c128]"
            " : !view32 -> !square32",
            "    pto.tstore ins(%acc1 : !acc) outs(%pv_part : !square32)"]  # fmt: skip


_VECTOR_TILES = [
    *(f"    %{name} = pto.alloc_tile : !{type_}" for name, type_ in (
        ("x0", "scores"), ("x1", "scores"), ("h0", "half"), ("h1", "half"), ("new", "column"), ("old", "column"),
        ("factor", "column"), ("sum", "column"), ("part", "column"), ("tmp", "part32"), ("out", "output"),
        ("in", "output"), ("factors", "column64"), ("sums", "column64"))),
    *(f"    %{name}_row = pto.treshape %{name} : !column -> !row" for name in ("new", "old", "factor", "sum", "part")),
    "    %scale = arith.constant 0.0883883476 : f32",
    "    %one = arith.constant 1.0 : f32",
    "    %core64 = pto.get_subblock_idx",
    "    %core = arith.index_cast %core64 : i64 to index",
    "    %core_row = arith.muli %core, %c64 : index",
]  # fmt: skip


def _softmax(tile: str, name: str, part: int) -> list[str]:
    """Weights of 32 queries and 256 keys."""
    name, x, h = f"s{name}_{part}", f"%x{part}", f"%h{part}"
    lines = [] if part else ["    pto.sync.wait <PIPE_MTE2>, 0"]
    lines += [f"    %y{name} = arith.addi %core_row, %c{32 * part} : index"]
    for sub in range(2):
        at = f"{name}{sub}"
        lines += [*_slot(tile, at, sub, TILE), f"    %r{at} = arith.addi %a{at}, %y{name} : index",
                  f"    %v{at} = pto.partition_view %s_view, offsets = [%r{at}, %c0], sizes = [%c32, %c128]"
                  " : !view32 -> !slice32",
                  f"    %t{at} = pto.subview {x}[%c0, %c{SUB * sub}] sizes [32, 128] : !scores -> !part32",
                  f"    pto.tload ins(%v{at} : !slice32) outs(%t{at} : !part32)"]  # fmt: skip
    lines += [line.replace("%x", x).replace("%h", h) for line in _STEPS]
    for sub in range(2):
        at = f"{name}{sub}"
        lines += [f"    %w{at} = pto.partition_view %p_view, offsets = [%r{at}, %c0], sizes = [%c32, %c128]"
                  " : !view16 -> !slice16",
                  f"    %u{at} = pto.subview {h}[%c0, %c{SUB * sub}] sizes [32, 128] : !half -> !part16",
                  f"    pto.tstore ins(%u{at} : !part16) outs(%w{at} : !slice16)"]  # fmt: skip
    return [*lines, *([_signal("MTE3", 1)] if part else [])]


_STEPS = [
    "    pto.trowmax ins(%x, %tmp : !scores, !part32) outs(%new : !column)",
    "    pto.tmax ins(%new_row, %old_row : !row, !row) outs(%new_row : !row)",
    "    pto.tsub ins(%old_row, %new_row : !row, !row) outs(%factor_row : !row)",
    "    pto.tmuls ins(%new_row, %one : !row, f32) outs(%old_row : !row)",
    "    pto.trowexpandsub ins(%x, %new : !scores, !column) outs(%x : !scores)",
    "    pto.tmuls ins(%factor_row, %scale : !row, f32) outs(%factor_row : !row)",
    "    pto.tmuls ins(%x, %scale : !scores, f32) outs(%x : !scores)",
    "    pto.texp ins(%factor_row : !row) outs(%factor_row : !row)",
    "    pto.texp ins(%x : !scores) outs(%x : !scores)",
    "    pto.tcvt ins(%x : !scores) outs(%h : !half)",
    "    pto.tmul ins(%factor_row, %sum_row : !row, !row) outs(%sum_row : !row)",
    "    pto.trowsum ins(%x, %tmp : !scores, !part32) outs(%part : !column)",
    "    pto.tadd ins(%sum_row, %part_row : !row, !row) outs(%sum_row : !row)",
]

_UPDATE = "\n".join([
    "    pto.sync.wait <PIPE_MTE2>, 2", *_slot("%t", "u", 0, SUB), "    %ru = arith.addi %au, %core_row : index",
    "    %pv_part = pto.partition_view %pv_view, offsets = [%ru, %c0], sizes = [%c64, %c128] : !view32 -> !half32",
    "    pto.tload ins(%pv_part : !half32) outs(%in : !output)",
    "    pto.trowexpandmul ins(%out, %factors : !output, !column64) outs(%out : !output)",
    "    pto.tadd ins(%out, %in : !output, !output) outs(%out : !output)",
])  # fmt: skip

_FINISH = """\
    pto.trowexpanddiv ins(%out, %sums : !output, !column64) outs(%out : !output)
    %first = arith.addi %query, %core_row : index
    %o_part = pto.partition_view %o_view, offsets = [%first, %c0], sizes = [%c64, %c128] : !view32 -> !half32
    pto.tstore ins(%out : !output) outs(%o_part : !half32)"""
