"""Programs that a client types; written for these tests, so that no table of the package has counted them."""

TILE = "!pto.tile_buf<vec, 32x128xf16>"
PART = "!pto.partition_tensor_view<32x128xf16>"


def _function(*lines: str, arguments: str = "", target: str = "a5") -> str:
    body = "".join(f"    {line}\n" for line in lines)
    head = f'module attributes {{pto.target_arch = "{target}"}} {{\n  func.func @typed({arguments}) {{\n'
    return f"{head}{body}    return\n  }}\n}}\n"


def _tiles(*lines: str, names: str = "xy", target: str = "a5") -> str:
    made = [f"%{name} = pto.alloc_tile : {TILE}" for name in names]
    return _function(*made, *lines, arguments=f"%src: {PART}, %dst: {PART}, %k: f16", target=target)


def _load(name: str, part: str = "src") -> str:
    return f"pto.tload ins(%{part} : {PART}) outs(%{name} : {TILE})"


def _store(name: str, part: str = "dst") -> str:
    return f"pto.tstore ins(%{name} : {TILE}) outs(%{part} : {PART})"


def _binary(op: str, lhs: str, rhs: str, dst: str) -> str:
    return f"pto.{op} ins(%{lhs}, %{rhs} : {TILE}, {TILE}) outs(%{dst} : {TILE})"


def _unary(op: str, src: str, dst: str) -> str:
    return f"pto.{op} ins(%{src} : {TILE}) outs(%{dst} : {TILE})"


def _flag(source: str, sink: str, event: int = 0) -> tuple[str, str]:
    ends = f"[<PIPE_{source}>, <PIPE_{sink}>, <EVENT_ID{event}>]"
    return f"pto.set_flag{ends}", f"pto.wait_flag{ends}"


def _loop(*lines: str) -> tuple[str, ...]:
    return ("scf.for %step = %from to %until step %by {", *(f"  {line}" for line in lines), "}")


BOUNDS = (
    "%from = arith.constant 0 : index",
    "%by = arith.constant 1 : index",
    "%until = arith.constant 12 : index",
)
VECTOR = "!pto.vreg<64xf32>"
UB = "!pto.ptr<f32, ub>"

PROGRAMS = {
    "sum": _tiles(_load("x"), *_flag("MTE2", "V"), _binary("tadd", "x", "x", "y"), *_flag("V", "MTE3"), _store("y")),
    "product": _tiles(_load("x"), "pto.barrier <PIPE_ALL>", _binary("tmul", "x", "x", "y"), "pto.barrier <PIPE_ALL>", _store("y")),  # noqa: E501
    "exponent": _tiles(_load("x"), *_flag("MTE2", "V", 3), _unary("texp", "x", "y"), *_flag("V", "MTE3", 3), _store("y")),  # noqa: E501
    "scaled": _tiles(_load("x"), *_flag("MTE2", "V"), f"pto.tmuls ins(%x, %k : {TILE}, f16) outs(%y : {TILE})", *_flag("V", "MTE3"), _store("y"), target="a2a3"),  # noqa: E501
    "three": _tiles(_load("x"), _load("y"), *_flag("MTE2", "V"), _binary("tsub", "x", "y", "z"), _binary("tmax", "z", "y", "z"), *_flag("V", "MTE3"), _store("z"), names="xyz"),  # noqa: E501
    "loop": _tiles(*BOUNDS, *_loop(_load("x"), *_flag("MTE2", "V"), _binary("tadd", "x", "y", "y"), *_flag("V", "MTE2"))),  # noqa: E501
    "views": _function(
        *BOUNDS,
        "%view = pto.make_tensor_view %data, shape = [%until, %until], strides = [%until, %by] : "
        "!pto.tensor_view<?x?xf32>",
        "%part = pto.partition_view %view, offsets = [%from, %from], sizes = [%by, %until] : "
        "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x12xf32>",
        "%tile = pto.alloc_tile : !pto.tile_buf<vec, 1x12xf32>",
        "pto.tload ins(%part : !pto.partition_tensor_view<1x12xf32>) outs(%tile : !pto.tile_buf<vec, 1x12xf32>)",
        arguments="%data: !pto.ptr<f32>",
    ),
    "vector": _function(
        *BOUNDS,
        "pto.vecscope {",
        '  %mask = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>',
        *(f"  {line}" for line in _loop(
            f"%value = pto.vlds %ub[%step] : {UB} -> {VECTOR}",
            f"%twice = pto.vadd %value, %value, %mask : {VECTOR}, {VECTOR}, !pto.mask<b32> -> {VECTOR}",
            f"pto.vsts %twice, %ub[%step], %mask : {VECTOR}, {UB}, !pto.mask<b32>",
        )),
        "}",
        arguments=f"%ub: {UB}",
    ),
    "numbers": _function(
        *BOUNDS,
        "%sum = arith.addi %until, %by : index",
        "%half = arith.divsi %sum, %until : index",
        "%small = arith.cmpi slt, %half, %by : index",
        "scf.if %small {",
        "  %rest = arith.muli %half, %half : index",
        "}",
    ),
    "rows": _tiles(
        "%row = pto.alloc_tile : !pto.tile_buf<vec, 32x1xf16, blayout=col_major>",
        _load("x"),
        *_flag("MTE2", "V"),
        f"pto.trowmax ins(%x, %y : {TILE}, {TILE}) outs(%row : !pto.tile_buf<vec, 32x1xf16, blayout=col_major>)",
    ),
}  # fmt: skip
"""Text of each by its name."""
