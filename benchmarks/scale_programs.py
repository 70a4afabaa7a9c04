"""Programs of any number of operations, of the kinds that compilers emit, for measuring how the front end scales."""

from __future__ import annotations

from collections.abc import Iterator

from programs import TILE, VIEW, WHOLE

SHAPES = ("functions", "one", "mixed")
"""Many functions of some hundred operations, one function with all of them, or half of the operations each way."""

_HEAD = 'module attributes {pto.target_arch = "a5"} {\n'
_LEFT = "!pto.tile_buf<left, 16x16xf16, blayout=col_major, slayout=row_major>"
_RIGHT = "!pto.tile_buf<right, 16x16xf16, slayout=col_major>"
_ACC = "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
_PTR = "!pto.ptr<f32, ub>"
_VREG = "!pto.vreg<64xf32>"
_MASK = "!pto.mask<b32>"
_PIECES_PER_FUNCTION = 8

_PROLOGUE = f"""    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %n0 = arith.constant 0 : i64
    %n1 = arith.constant 1 : i64
    %n256 = arith.constant 256 : i64
    %in = pto.make_tensor_view %src, shape = [%c64, %c64], strides = [%c64, %c1] : {WHOLE}
    %out = pto.make_tensor_view %dst, shape = [%c64, %c64], strides = [%c64, %c1] : {WHOLE}
    %t0 = pto.alloc_tile : {TILE}
    %t1 = pto.alloc_tile : {TILE}
    %left = pto.alloc_tile : {_LEFT}
    %right = pto.alloc_tile : {_RIGHT}
    %acc = pto.alloc_tile : {_ACC}
"""
_ARGUMENTS = "%src: !pto.ptr<f32>, %dst: !pto.ptr<f32>, %ub: !pto.ptr<f32, ub>"
_TYPES = "!pto.ptr<f32>, !pto.ptr<f32>, !pto.ptr<f32, ub>"


def _tiles(n: int) -> str:
    """A loop that loads, computes and stores tiles."""
    return f"""    scf.for %i{n} = %c0 to %c4 step %c1 {{
      %row{n} = arith.muli %i{n}, %c16 : index
      %p{n} = pto.partition_view %in, offsets = [%row{n}, %c0], sizes = [%c16, %c64] : {WHOLE} -> {VIEW}
      pto.tload ins(%p{n} : {VIEW}) outs(%t0 : {TILE})
      pto.tadd ins(%t0, %t1 : {TILE}, {TILE}) outs(%t1 : {TILE})
      pto.tmuls ins(%t1, %scale{n} : {TILE}, f32) outs(%t0 : {TILE})
      pto.texp ins(%t0 : {TILE}) outs(%t1 : {TILE})
      %q{n} = pto.partition_view %out, offsets = [%row{n}, %c0], sizes = [%c16, %c64] : {WHOLE} -> {VIEW}
      pto.tstore ins(%t1 : {TILE}) outs(%q{n} : {VIEW})
    }}
""".replace("    scf.for", f"    %scale{n} = arith.constant {n % 97 + 0.5} : f32\n    scf.for", 1)


def _products(n: int) -> str:
    """Matrix products with the flags that order them."""
    return f"""    pto.set_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID{n % 8}"]
    pto.wait_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID{n % 8}"]
    pto.tmatmul ins(%left, %right : {_LEFT}, {_RIGHT}) outs(%acc : {_ACC})
    pto.tmatmul.acc ins(%acc, %left, %right : {_ACC}, {_LEFT}, {_RIGHT}) outs(%acc : {_ACC})
    pto.set_flag["PIPE_M", "PIPE_FIXX", "EVENT_ID{n % 8}"]
    pto.wait_flag["PIPE_M", "PIPE_FIXX", "EVENT_ID{n % 8}"]
""".replace("FIXX", "FIX")


def _vectors(n: int) -> str:
    """A transfer, a vector scope of micro-instructions, a transfer back."""
    return f"""    pto.mte_gm_ub %src, %ub, %n0, %n256 nburst(%n1, %n256, %n256)
      : !pto.ptr<f32>, {_PTR}, i64, i64, i64, i64, i64
    pto.vecscope {{
      %m{n} = pto.pset_b32 "PAT_ALL" : {_MASK}
      scf.for %j{n} = %c0 to %c4 step %c1 {{
        %o{n} = arith.muli %j{n}, %c64 : index
        %a{n} = pto.vlds %ub[%o{n}] {{dist = "NORM"}} : {_PTR} -> {_VREG}
        %b{n} = pto.vmul %a{n}, %a{n}, %m{n} : {_VREG}, {_VREG}, {_MASK} -> {_VREG}
        %d{n} = pto.vadd %a{n}, %b{n}, %m{n} : {_VREG}, {_VREG}, {_MASK} -> {_VREG}
        pto.vsts %d{n}, %ub[%o{n}], %m{n} {{dist = "NORM_B32"}} : {_VREG}, {_PTR}, {_MASK}
      }}
    }}
    pto.mte_ub_gm %ub, %dst, %n256 nburst(%n1, %n256, %n256) : {_PTR}, !pto.ptr<f32>, i64, i64, i64, i64
"""


def _scalars(n: int) -> str:
    """Scalar arithmetic, a branch with results, and a loop that carries a value."""
    return f"""    %x{n} = arith.addi %n256, %n1 : i64
    %l{n} = arith.cmpi slt, %x{n}, %n256 : i64
    %y{n} = scf.if %l{n} -> (i64) {{
      %u{n} = arith.muli %x{n}, %x{n} : i64
      scf.yield %u{n} : i64
    }} else {{
      scf.yield %n0 : i64
    }}
    %z{n} = scf.for %k{n} = %c0 to %c4 step %c1 iter_args(%s{n} = %y{n}) -> (i64) {{
      %w{n} = arith.addi %s{n}, %n1 : i64
      scf.yield %w{n} : i64
    }}
"""


_PIECES = ((_tiles, 12), (_products, 6), (_vectors, 10), (_scalars, 11))
"""Parts of a function with their numbers of operations."""


def _body(first: int, operations: int) -> Iterator[str]:
    number, done = first, 0
    while done < operations:
        piece, count = _PIECES[number % len(_PIECES)]
        yield piece(number)
        number += 1
        done += count


def _function(name: str, operations: int, callee: str | None = None) -> Iterator[str]:
    yield f"  func.func @{name}({_ARGUMENTS}) {{\n"
    yield _PROLOGUE
    if callee is not None:
        yield f"    func.call @{callee}(%src, %dst, %ub) : ({_TYPES}) -> ()\n"
    yield from _body(0, operations)
    yield "    return\n  }\n"


def program(shape: str, operations: int) -> Iterator[str]:
    """Parts of the text of a program of about ``operations`` operations; ``shape`` is one of ``SHAPES``.

    Each of many functions calls the one before it in its group of ten, as outlined code does.
    """
    yield _HEAD
    alone = {"functions": 0, "one": operations, "mixed": operations // 2}[shape]
    if alone:
        yield from _function("all", alone)
    size = _PIECES_PER_FUNCTION * sum(count for _, count in _PIECES) // len(_PIECES)
    for number in range((operations - alone) // (size + 18)):
        yield from _function(f"f{number}", size, f"f{number - 1}" if number % 10 else None)
    yield "}\n"
