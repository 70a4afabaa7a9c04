"""Kernels in which the scalar unit and other pipes share memory, from a few words a statement.

A token such as ``load x`` or ``S>V`` is one statement of the kernel. ``?`` after a token marks what an incorrect
version lacks, ``!`` before a token what it has in addition; ``if``, ``else``, ``for`` and ``end`` are control flow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

HEAD = """!t = !pto.tile_buf<vec, 1x64xf32>
!i = !pto.tile_buf<vec, 1x64xi32>
!v = !pto.tensor_view<1x64xf32>
!p = !pto.partition_tensor_view<1x64xf32>
!q = !pto.partition_tensor_view<1x8xf32>
!s = !pto.tile_buf<vec, 1x8xf32>
module attributes {{pto.target_arch = "{target}"}} {{
  func.func @k(%a: !pto.ptr<f32, gm>, %b: !pto.ptr<f32, gm>, %n: index) attributes {{pto.kernel}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c64 = arith.constant 64 : index
    %start = arith.constant 7 : i32
    %one = arith.constant 1.0 : f32
    %some = arith.cmpi ugt, %n, %c1 : index
    %atx = arith.constant 0 : i64
    %aty = arith.constant 256 : i64
    %atz = arith.constant 512 : i64
    %x = pto.alloc_tile addr = %atx : !t
    %y = pto.alloc_tile addr = %aty : !t
    %z = pto.alloc_tile addr = %atz : !t
    %i = pto.alloc_tile addr = %atz : !i
    %px = pto.tile_buf_addr %x : !t -> !pto.ptr<f32, ub>
    %mx = pto.tile_buf_addr %x : !t -> memref<1x64xf32, #pto.address_space<vec>>
    %av = pto.make_tensor_view %a, shape = [%c1, %c64], strides = [%c64, %c1] : !v
    %bv = pto.make_tensor_view %b, shape = [%c1, %c64], strides = [%c64, %c1] : !v
    %ap = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%c1, %c64] : !v -> !p
    %bp = pto.partition_view %bv, offsets = [%c0, %c0], sizes = [%c1, %c64] : !v -> !p
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c20 = arith.constant 20 : index
    %block64 = pto.get_block_idx
    %block = arith.index_cast %block64 : i64 to index
    %half = arith.muli %block, %c8 : index
    %line = arith.muli %block, %c16 : index
    %bi = pto.castptr %b : !pto.ptr<f32, gm> -> !pto.ptr<i32, gm>
    %b20 = pto.addptr %b, %c20 : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>
    %s = pto.alloc_tile addr = %aty : !pto.tile_buf<vec, 1x8xf32>
    %bhalf = pto.partition_view %bv, offsets = [%c0, %half], sizes = [%c1, %c8] : !v -> !q
    %bline = pto.partition_view %bv, offsets = [%c0, %line], sizes = [%c1, %c8] : !v -> !q
    %b16 = pto.partition_view %bv, offsets = [%c0, %c16], sizes = [%c1, %c8] : !v -> !q
"""

STATEMENTS = {
    "load": "pto.tload ins(%ap : !p) outs(%{0} : !t)",
    "store": "pto.tstore ins(%{0} : !t) outs(%bp : !p)",
    "fill": "pto.texpands ins(%one : f32) outs(%{0} : !t)",
    "add": "pto.tadd ins(%{1}, %{1} : !t, !t) outs(%{0} : !t)",
    "set": "pto.tsetval ins(%c3, %one : index, f32) outs(%{0} : !t)",
    "get": "%element = pto.tgetval ins(%{0}, %c3 : !t, index) outs : f32",
    "put": "pto.store_scalar %one, %p{0}[%c3] : !pto.ptr<f32, ub>, f32",
    "write": "pto.store %one, %p{0}[%c3] : !pto.ptr<f32, ub>, f32",
    "peek": "%element = pto.load_scalar %p{0}[%c3] : !pto.ptr<f32, ub> -> f32",
    "memref": "memref.store %one, %m{0}[%c0, %c3] : memref<1x64xf32, #pto.address_space<vec>>",
    "count": "pto.tci ins(%start : i32) outs(%i : !i)",
    "double": "pto.tadd ins(%i, %i : !i, !i) outs(%i : !i)",
    "scale": "pto.tadds ins(%x, %element : !t, f32) outs(%y : !t)",
    # Global memory: %b has 64 elements in four lines of a data cache.
    "fetch": "%{n} = pto.load_scalar %b[%{0}] : !pto.ptr<f32, gm> -> f32",
    "change": "pto.store_scalar %one, %b[%{0}] : !pto.ptr<f32, gm>, f32",
    "read": "pto.tload ins(%bp : !p) outs(%{0} : !t)",
    "small": "pto.texpands ins(%one : f32) outs(%s : !s)",
    "part": "pto.tstore ins(%s : !s) outs(%{0} : !q)",
    "move": "%{n} = pto.load_scalar %b[%c0] : !pto.ptr<f32, gm> -> f32\n"
    "    pto.store_scalar %{n}, %a[%c0] : !pto.ptr<f32, gm>, f32",
    "copy": "pto.tstore ins(%{0} : !t) outs(%ap : !p)",
    "lddev": "%{n} = pto.ld_dev %bi[%{0}] : !pto.ptr<i32, gm> -> i32",
    "stdev": "pto.st_dev %start, %bi[%{0}] : !pto.ptr<i32, gm>, i32",
    "dcci": 'pto.dcci %{0} "SINGLE_CACHE_LINE" : !pto.ptr<f32, gm>',
    "dccub": 'pto.dcci %{0} "SINGLE_CACHE_LINE", "CACHELINE_UB" : !pto.ptr<f32, gm>',
    "dcciall": 'pto.dcci %{0} "ENTIRE_DATA_CACHE", "CACHELINE_OUT" : !pto.ptr<f32, gm>',
    "cmo": "pto.cmo.cacheinvalid %{0} single_cache_line : !pto.ptr<f32, gm>",
    "cmoall": "pto.cmo.cacheinvalid all #pto.address_space<gm>",
    "dsb": "pto.dsb #pto.dsb_mem<{0}>",
    "barrier": "pto.barrier #pto.pipe<PIPE_{0}>",
    "setflag": 'pto.set_flag["PIPE_{0}", "PIPE_{1}", "EVENT_ID0"]',
    "waitflag": 'pto.wait_flag["PIPE_{0}", "PIPE_{1}", "EVENT_ID0"]',
    "if": "scf.if %some {{",
    "else": "}} else {{",
    "for": "scf.for %k{n} = %c0 to %n step %c1 {{",
    "end": "}}",
}


def statements(word: str, numbers: count[int]) -> list[str]:
    """The statements of a token; ``S>V`` is a set and a wait."""
    first, *rest = word.split()
    if ">" in first:
        pipes = first.split(">")
        return [STATEMENTS[f"{name}flag"].format(*pipes) for name in ("set", "wait")]
    return [STATEMENTS[first].format(*rest, n=f"v{next(numbers)}")]


def kernel(words: Sequence[str], target: str, incorrect: bool = False) -> str:
    """The text of a kernel, or of its incorrect version."""
    numbers = count()
    lines: list[str] = []
    for word in words:
        if word.endswith("?") if incorrect else word.startswith("!"):
            continue
        lines += statements(word.strip("?!"), numbers)
    return HEAD.format(target=target) + "".join(f"    {line}\n" for line in lines) + "    return\n  }\n}\n"


def without_order(words: Sequence[str]) -> list[str]:
    """The tokens without everything that orders pipes."""
    return [word for word in words if ">" not in word and not word.strip("?!").startswith(_ORDERS)]


_ORDERS = ("barrier", "dsb", "setflag", "waitflag")
