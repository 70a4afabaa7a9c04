"""An incorrect and a fixed program for each rule that the sanitizers check at run time.

Buffers are large and numbers are 1 unless the program states otherwise.
"""

from __future__ import annotations

_HEAD = """module attributes {pto.target_arch = "ARCH"} {
  func.func @k(%a: !pto.ptr<f32, gm>, %b: !pto.ptr<f32, gm>) attributes {pto.kernel} {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c256 = arith.constant 256 : i64
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %x = pto.castptr %c0 : i64 -> !pto.ptr<f32, ub>
    %y = pto.castptr %c256 : i64 -> !pto.ptr<f32, ub>
"""
_TAIL = "    return\n  }\n}"
_BURST = "%c256 nburst(%c1, %c256, %c256)"
LOAD = f"pto.mte_gm_ub %a, %x, %c0, {_BURST} : !pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"
STORE = f"pto.mte_ub_gm %x, %b, {_BURST} : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64"
_COPY = "pto.mte_ub_ub %x, {}, %c8 nburst(%c1, %c0, %c0) : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64, i64, i64"
ALL = "pto.barrier #pto.pipe<PIPE_ALL>"


def flag(source: str, target: str, number: int = 0) -> tuple[str, str]:
    """Returns set and wait of flag ``number`` from the pipe ``source`` to ``target`` (``"MTE2"``, ``"V"``, ...)."""
    names = f'["PIPE_{source}", "PIPE_{target}", "EVENT_ID{number}"]'
    return f"pto.set_flag{names}", f"pto.wait_flag{names}"


def kernel(*lines: str, arch: str = "a5") -> str:
    """Returns a program for ``arch`` that runs ``lines`` between two buffers in global memory."""
    return _HEAD.replace("ARCH", arch) + "".join(f"    {line}\n" for line in lines) + _TAIL


_OUT = flag("MTE2", "MTE3")
_BACK = flag("MTE3", "MTE2", 1)
BLOCK = ("%block64 = pto.get_block_idx", "%block = arith.index_cast %block64 : i64 to index")
_GET, _RELEASE = 'pto.get_buf "PIPE_MTE2", 0, 0', 'pto.rls_buf "PIPE_MTE2", 0, 0'
_MASK = "%m, %rest = pto.plt_b32 %lanes : i32 -> !pto.mask<b32>, i32"
SCOPE = ("%lanes = arith.constant 64 : i32", LOAD, *flag("MTE2", "V"), "pto.vecscope {", f"  {_MASK}")
VLOAD = "  %{} = pto.vlds %{}[%i{}] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>"
VSTORE = "  pto.vsts %{}, %{}[%i0], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>"
TILE = "!pto.tile_buf<vec, 8x64xf32>"
_ONE = "%one = arith.constant 1.0 : f32"
_FETCH = "%v = pto.load_scalar %b[%i0] : !pto.ptr<f32, gm> -> f32"
_CHANGE = "pto.store_scalar %one, %b[%i1] : !pto.ptr<f32, gm>, f32"
_CLEAN = "pto.cmo.cacheinvalid %b single_cache_line : !pto.ptr<f32, gm>"
_L1 = "!pto.ptr<f16, l1>"
CUBE = (
    "%c16 = arith.constant 16 : i64",
    "%c512 = arith.constant 512 : i64",
    "%h = pto.castptr %a : !pto.ptr<f32, gm> -> !pto.ptr<f16, gm>",
    f"%l1 = pto.castptr %c0 : i64 -> {_L1}",
    "%l0a = pto.castptr %c0 : i64 -> !pto.ptr<f16, l0a>",
    "%l0b = pto.castptr %c0 : i64 -> !pto.ptr<f16, l0b>",
    "%acc = pto.castptr %c0 : i64 -> !pto.ptr<f32, l0c>",
    f"pto.mte_gm_l1 %h, %l1, %c512 nburst(%c1, %c512, %c512) : !pto.ptr<f16, gm>, {_L1}, i64, i64, i64, i64",
    ALL,
    f"pto.mte_l1_l0a %l1, %l0a, %c16, %c16, %c0, %c0 : {_L1}, !pto.ptr<f16, l0a>, i64, i64, i64, i64",
    f"pto.mte_l1_l0b %l1, %l0b, %c16, %c16, %c0, %c0 : {_L1}, !pto.ptr<f16, l0b>, i64, i64, i64, i64",
    ALL,
)
MAD_TYPES = "!pto.ptr<f16, l0a>, !pto.ptr<f16, l0b>, !pto.ptr<f32, l0c>, i64, i64, i64"
MAD = f"pto.mad %l0a, %l0b, %acc, %c16, %c16, %c16 : {MAD_TYPES}"
_MAD_SET = f"pto.mad %l0a, %l0b, %acc, %c16, %c16, %c16 unit_flag(check_and_set) : {MAD_TYPES}"
_OUT_TYPES = "!pto.ptr<f32, l0c>, !pto.ptr<f32, gm>, i64, i64, i64, i64, i64, i64"
WRITE_BACK = f"pto.mte_l0c_gm %acc, %b, %c16, %c16, %c16, %c16, %c0, %c0, nz2nd : {_OUT_TYPES}"
_WRITE_BACK_CLEAR = (
    f"pto.mte_l0c_gm %acc, %b, %c16, %c16, %c16, %c16, %c0, %c0, unit_flag(check_and_clear), nz2nd : {_OUT_TYPES}"
)


def tiles(second: int, *lines: str, arch: str = "a5") -> str:
    """Returns two tiles of 2048 bytes, the second at another address."""
    return kernel(
        "%at = arith.constant 0 : i64",
        f"%beside = arith.constant {second} : i64",
        _ONE,
        f"%s = pto.alloc_tile addr = %at : {TILE}",
        f"%t = pto.alloc_tile addr = %beside : {TILE}",
        f"pto.texpands ins(%one : f32) outs(%s : {TILE})",
        *lines,
        arch=arch,
    )


_TWICE = f"pto.tadd ins(%s, %s : {TILE}, {TILE}) outs(%t : {TILE})"
_FILL = f"pto.texpands ins(%one : f32) outs(%t : {TILE})"
_BARRIER_V = "pto.barrier #pto.pipe<PIPE_V>"
_FAR = "%far = arith.muli %block, %i64 : index"
_MINE = "%mine = pto.addptr %b, %far : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>"
_END = "%end = arith.constant 262016 : i64"
_FAR_ADDRESS = "%far = pto.castptr %end : i64 -> !pto.ptr<f32, ub>"

_CELL = "!pto.partition_tensor_view<1xi32>"


def _cell(name: str, buffer: str) -> tuple[str, ...]:
    """Returns element 64 of a buffer as a signal."""
    view = f"pto.make_tensor_view %{name}_at, shape = [%i1], strides = [%i1] : !pto.tensor_view<1xi32>"
    return (
        f"%{name}_ints = pto.castptr {buffer} : !pto.ptr<f32, gm> -> !pto.ptr<i32, gm>",
        f"%{name}_at = pto.addptr %{name}_ints, %i64 : !pto.ptr<i32, gm> -> !pto.ptr<i32, gm>",
        f"%{name}_view = {view}",
        f"%{name} = pto.partition_view %{name}_view, offsets = [%i0], sizes = [%i1] "
        f": !pto.tensor_view<1xi32> -> {_CELL}",
    )


_PEER = (
    *("%i64 = arith.constant 64 : index", "%i128 = arith.constant 128 : index", "%told = arith.constant 7 : i32"),
    *(*_cell("mine", "%a"), *_cell("theirs", "%b")),
    "%apart = pto.addptr %a, %i128 : !pto.ptr<f32, gm> -> !pto.ptr<f32, gm>",
    *(LOAD.replace("%a", "%apart"), *_OUT, STORE, ALL),
)
"""Two ranks store in each other's window %b; their own is %a."""
_TOLD = f"pto.comm.tnotify(%theirs, %told : {_CELL}, i32) {{notifyOp = #pto<notify_op set>}}"
_AWAITED = f"pto.comm.twait(%mine, %told : {_CELL}, i32) {{cmp = #pto<wait_cmp eq>}}"

RUN_EXAMPLES: dict[str, tuple[str, str]] = {
    "race-raw": (kernel(LOAD, *flag("V", "MTE3"), STORE), kernel(LOAD, *_OUT, STORE)),
    "race-war": (kernel(LOAD, *_OUT, STORE, LOAD), kernel(LOAD, *_OUT, STORE, *_BACK, LOAD)),
    "race-waw": (
        kernel("%c8 = arith.constant 8 : i64", LOAD, *flag("MTE2", "V"), _COPY.format("%y"), LOAD.replace("%x", "%y")),
        kernel(
            *("%c8 = arith.constant 8 : i64", LOAD, *flag("MTE2", "V"), _COPY.format("%y")),
            *(*flag("V", "MTE2", 1), LOAD.replace("%x", "%y")),
        ),
    ),
    "race-inverted": (
        kernel(LOAD, *_OUT, _BACK[1], LOAD, STORE, _BACK[0]),
        kernel(LOAD, *_OUT, STORE),
    ),
    "race-same-pipe": (
        tiles(2048, ALL, _TWICE, f"pto.tmul ins(%s, %t : {TILE}, {TILE}) outs(%s : {TILE})", arch="a3"),
        tiles(
            *(2048, ALL, _TWICE, _BARRIER_V),
            f"pto.tmul ins(%s, %t : {TILE}, {TILE}) outs(%s : {TILE})",
            arch="a3",
        ),
    ),
    "race-cross-block": (
        kernel(LOAD, *_OUT, STORE),
        kernel(
            *(*BLOCK, "%i64 = arith.constant 64 : index", _FAR, _MINE),
            *(LOAD, *_OUT, STORE.replace("%b", "%mine")),
        ),
    ),
    "race-cross-rank": (kernel(*_PEER, LOAD), kernel(*_PEER, _TOLD, _AWAITED, LOAD)),
    "l0c-handover": (
        kernel(*CUBE, MAD, WRITE_BACK),
        kernel(*CUBE, MAD, *flag("M", "FIX"), WRITE_BACK),
    ),
    "sync-unit-flag": (
        kernel(*CUBE, MAD, _WRITE_BACK_CLEAR),
        kernel(*CUBE, _MAD_SET, _WRITE_BACK_CLEAR),
    ),
    "sync-deadlock": (kernel(LOAD, _OUT[1], STORE), kernel(LOAD, *_OUT, STORE)),
    "sync-flag-unconsumed": (kernel(LOAD, _OUT[0]), kernel(LOAD, *_OUT, STORE)),
    "sync-flag-depth": (
        kernel(LOAD, _OUT[0], _OUT[0], _OUT[1], _OUT[1], STORE),
        kernel(LOAD, *_OUT, *_OUT, STORE),
    ),
    "sync-buf-nesting": (kernel(_GET, _GET, LOAD, _RELEASE, _RELEASE), kernel(_GET, LOAD, _RELEASE)),
    "sync-membar-missing": (
        kernel(*SCOPE, VLOAD.format("v", "x", 0), VSTORE.format("v", "y"), VLOAD.format("w", "y", 0), "}"),
        kernel(
            *(*SCOPE, VLOAD.format("v", "x", 0), VSTORE.format("v", "y")),
            *('  pto.mem_bar "VST_VLD"', VLOAD.format("w", "y", 0), "}"),
        ),
    ),
    "cache-lost-update": (
        kernel(_FETCH, LOAD, *_OUT, STORE, *flag("MTE3", "S"), _ONE, _CHANGE),
        kernel(_FETCH, LOAD, *_OUT, STORE, *flag("MTE3", "S"), _ONE, _CLEAN, _CHANGE),
    ),
    "cache-stale-read": (
        kernel(_FETCH, LOAD, *_OUT, STORE, *flag("MTE3", "S"), _FETCH.replace("%v", "%w")),
        kernel(_FETCH, LOAD, *_OUT, STORE, *flag("MTE3", "S"), _CLEAN, _FETCH.replace("%v", "%w")),
    ),
    "cache-unflushed-store": (
        kernel(_ONE, _CHANGE, LOAD.replace("%a,", "%b,")),
        kernel(_ONE, _CHANGE, _CLEAN, LOAD.replace("%a,", "%b,")),
    ),
    "sync-mte3-reorder": (
        kernel(LOAD, *_OUT, STORE, STORE),
        kernel(LOAD, *_OUT, STORE, "pto.barrier #pto.pipe<PIPE_MTE3>", STORE),
    ),
    "mem-uninit": (kernel(*_OUT, STORE), kernel(LOAD, *_OUT, STORE)),
    "mem-oob": (kernel(_END, _FAR_ADDRESS, LOAD.replace("%x,", "%far,")), kernel(LOAD)),
    "mem-align": (
        kernel(*SCOPE, VLOAD.format("v", "x", 1), "}"),
        kernel(*SCOPE, VLOAD.format("v", "x", 0), "}"),
    ),
    "mem-overlap": (
        tiles(1024, _FILL, f"pto.tadd ins(%s, %t : {TILE}, {TILE}) outs(%t : {TILE})"),
        tiles(2048, _FILL, f"pto.tadd ins(%s, %t : {TILE}, {TILE}) outs(%t : {TILE})"),
    ),
    "numeric-nan-inf": (
        tiles(2048, "%z = arith.constant 0.0 : f32", f"pto.tdivs ins(%s, %z : {TILE}, f32) outs(%t : {TILE})"),
        tiles(2048, "%z = arith.constant 2.0 : f32", f"pto.tdivs ins(%s, %z : {TILE}, f32) outs(%t : {TILE})"),
    ),
}
"""Programs by rule id."""
