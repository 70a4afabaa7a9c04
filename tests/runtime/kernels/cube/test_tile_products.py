"""Products of tiles and of values in every form, and what leaves the accumulators, on each target against formulas."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from fixpipe_model import as_stored, entry, fp19, model_quant, model_store, stored
from function_programs import run

import pto_dialect
from pto_dialect.runtime.errors import ProgramError

ROWS, DEPTH, COLS = 16, 64, 32
F8: Any = ml_dtypes.float8_e4m3fn


def left(element: str, rows: int) -> str:
    return f"!pto.tile_buf<left, 16x64x{element}, valid={rows}x64, blayout={{left}}, slayout=row_major>"


def tiles(target: str, rows: int) -> dict[str, str]:
    """Types of tiles; those of the left memory lie in other blocks on a2a3."""
    order = "row_major" if target == "a2a3" else "col_major"
    return {
        "a": left("f16", rows).format(left=order),
        "b": "!pto.tile_buf<right, 64x32xf16, slayout=col_major>",
        "c": f"!pto.tile_buf<acc, 16x32xf32, valid={rows}x32, blayout=col_major, slayout=row_major, fractal=1024>",
        "t": "!pto.tile_buf<bias, 1x32xf32>",
        "e": left("f8E4M3FN", rows).format(left=order),
        "s": f"!pto.tile_buf<scaling, 16x2x!pto.f8E8M0, valid={rows}x2, slayout=row_major, fractal=32>",
        "f": "!pto.tile_buf<right, 64x32xf8E4M3FN, slayout=col_major>",
        "u": "!pto.tile_buf<scaling, 2x32x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32>",
    }


def values(rows: int) -> dict[str, str]:
    """Types of values of the same sizes."""
    return {
        "a": f"!pto.tile<{rows}x64xf16>", "b": "!pto.tile<64x32xf16>", "c": f"!pto.tile<{rows}x32xf32>",
        "t": "!pto.tile<1x32xf32>", "e": f"!pto.tile<{rows}x64xf8E4M3FN>", "s": f"!pto.tile<{rows}x2x!pto.f8E8M0>",
        "f": "!pto.tile<64x32xf8E4M3FN>", "u": "!pto.tile<2x32x!pto.f8E8M0>",
    }  # fmt: skip


def data(rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    small = {"a": (rows, DEPTH), "b": (DEPTH, COLS), "c": (rows, COLS), "t": (1, COLS)}
    found: dict[str, Any] = {name: rng.integers(-5, 6, shape).astype(np.float32) for name, shape in small.items()}
    found["a"], found["b"] = found["a"].astype(np.float16), found["b"].astype(np.float16)
    found["e"], found["f"] = (rng.integers(-5, 6, shape).astype(F8) for shape in ((rows, DEPTH), (DEPTH, COLS)))
    found["s"], found["u"] = (rng.integers(125, 130, shape).astype(np.uint8) for shape in ((rows, 2), (2, COLS)))
    return found


def wanted(given: dict[str, np.ndarray], scaled: bool, form: str) -> np.ndarray:
    """The product in exact arithmetic."""
    if scaled:
        one = given["e"].astype(np.float64) * np.repeat(2.0 ** (given["s"].astype(int) - 127), 32, axis=1)
        two = given["f"].astype(np.float64) * np.repeat(2.0 ** (given["u"].astype(int) - 127), 32, axis=0)
    else:
        one, two = given["a"].astype(np.float64), given["b"].astype(np.float64)
    return one @ two + {"": 0, ".acc": given["c"], ".bias": given["t"]}[form]


CASES = [
    (f"{op}{'.mx' if scaled else ''}", form, target)
    for op in ("tmatmul", "tgemv")
    for scaled in (False, True)
    for form in ("", ".acc", ".bias")
    for target in ("a5", "a2a3")
    if not (scaled and target == "a2a3")
]


def operands_of(op: str, form: str) -> list[str]:
    """Names of the operands of a product."""
    return [*("c" if form == ".acc" else ""), *("esfu" if ".mx" in op else "ab"), *("t" if form == ".bias" else "")]


def whole(array: np.ndarray, name: str) -> np.ndarray:
    """The content of a tile of 16 rows with these first ones."""
    return np.resize(array, (ROWS, array.shape[1])) if name in "aces" else array


@pytest.mark.parametrize("phase", ["", "unspecified", "partial", "final"])
@pytest.mark.parametrize(("op", "form", "target"), CASES)
def test_products_of_tiles(op: str, form: str, target: str, phase: str) -> None:
    """The phase is about the order of instructions and changes no number."""
    if form == ".bias" and phase and op.endswith(".mx"):
        return  # This form has no phase.
    rows = 1 if op.startswith("tgemv") else ROWS
    types, given = tiles(target, rows), data(rows)
    inputs = operands_of(op, form)
    operands, kinds = ", ".join(f"%{name}" for name in inputs), ", ".join(types[name] for name in inputs)
    clause = f" {{accPhase = #pto<acc_phase {phase}>}}" if phase else ""
    used = dict.fromkeys([*inputs, "c"])
    result = wanted(given, ".mx" in op, form)
    body = f"pto.{op}{form} ins({operands} : {kinds}) outs(%c : {types['c']}){clause}"
    contents = {name: whole(given[name], name) for name in used}
    run(body, {name: (types[name], contents[name]) for name in used}, target=target)
    assert (contents["c"][:rows] == result).all()


@pytest.mark.parametrize(("op", "form", "target"), CASES)
def test_products_of_values(op: str, form: str, target: str) -> None:
    rows = 1 if op.startswith("tgemv") else ROWS
    types, given = values(rows), data(rows)
    inputs = operands_of(op, form)
    operands, kinds = ", ".join(f"%{name}" for name in inputs), ", ".join(types[name] for name in inputs)
    body = f"%r = pto.{op}{form} {operands} : ({kinds}) -> {types['c']}"
    (found,) = run(body, {name: (types[name], given[name]) for name in inputs}, {"r": types["c"]}, target=target)
    assert (np.asarray(found) == wanted(given, ".mx" in op, form)).all()


# --- out of the accumulators ------------------------------------------------------------------------------

ACC = "!pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"
BYTES = "!pto.tile_buf<mat, 16x32xi8, blayout=col_major, slayout=row_major>"
HALVES = "!pto.tile_buf<mat, 16x32xf16, blayout=col_major, slayout=row_major>"
TABLE = "!pto.tile_buf<scaling, 1x32xui64>"
VIEW = "!pto.partition_tensor_view<16x32xi8>"


def accumulated() -> np.ndarray:
    found = (np.random.default_rng(9).standard_normal((ROWS, COLS)) * 60).astype(np.float32)
    found[1, :4] = [np.inf, -np.inf, np.nan, 1e9]
    return found


def table() -> tuple[np.ndarray, list[tuple[float, int]]]:
    """Entries of the channels, and scale and offset of each."""
    rows = [((0.5, 1.0, -2.0, 0.25)[n % 4], (0, 5, -3)[n % 3]) for n in range(COLS)]
    return np.array([[entry(scale, offset, True) for scale, offset in rows]], np.uint64), rows


def quantised(source: np.ndarray, rows: list[tuple[float, int]]) -> np.ndarray:
    found = np.zeros(source.shape, np.int8)
    for (i, j), value in np.ndenumerate(source):
        number = model_quant("qf322b8_pre_vec", float(value), fp19(rows[j][0]), rows[j][1], True, 0)
        found[i, j] = as_stored(model_store(number, "i8", "default", -128, 127), "i8")
    return found


TABLE_FORMS = {
    "tmov.fp": f"pto.tmov.fp ins(%c, %q : {ACC}, {TABLE}) outs(%d : {BYTES})",
    "textract_fp": f"pto.textract_fp ins(%c, %q, %c0, %c0 : {ACC}, {TABLE}, index, index) outs(%d : {BYTES})",
    "tinsert_fp": f"pto.tinsert_fp ins(%c, %q, %c0, %c0 : {ACC}, {TABLE}, index, index) outs(%d : {BYTES})",
    "tmov": f"pto.tmov ins(%c, %q : {ACC}, {TABLE}) outs(%d : {BYTES})",
    "textract": f"pto.textract ins(%c, %c0, %c0 : {ACC}, index, index fp %q : {TABLE}) outs(%d : {BYTES})",
    "tinsert": f"pto.tinsert ins(%c, %c0, %c0 : {ACC}, index, index fp %q : {TABLE}) outs(%d : {BYTES})",
    "tstore": f"pto.tstore ins(%c : {ACC} fp %q : {TABLE}) outs(%d : {VIEW})",
    "tstore_fp": f"pto.tstore_fp ins(%c, %q : {ACC}, {TABLE}) outs(%d : {VIEW})",
}


@pytest.mark.parametrize("op", TABLE_FORMS)
@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_a_table_of_channels(op: str, target: str) -> None:
    source, found = accumulated(), np.zeros((ROWS, COLS), np.int8)
    entries, rows = table()
    kind = VIEW if op.startswith("tstore") else BYTES
    arguments = {"c": (ACC, source), "q": (TABLE, entries), "d": (kind, found.reshape(-1) if kind == VIEW else found)}
    run(TABLE_FORMS[op], arguments, target=target)
    assert (found == quantised(source, rows)).all()


SCALAR_FORMS = {
    "tmov": f"pto.tmov ins(%c, %q : {ACC}, i64) outs(%d : {BYTES})",
    "textract": f"pto.textract ins(%c, %c0, %c0, %q : {ACC}, index, index, i64) outs(%d : {BYTES})",
    "tinsert": f"pto.tinsert ins(%c, %c0, %c0 : {ACC}, index, index pre_quant %q : i64) outs(%d : {BYTES})",
    "tstore": f"pto.tstore ins(%c, %q : {ACC}, i64) outs(%d : {VIEW})",
}


@pytest.mark.parametrize("op", SCALAR_FORMS)
@pytest.mark.parametrize("relu", ["", "normal_relu"])
@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_one_entry_for_all_channels(op: str, relu: str, target: str) -> None:
    """Negative sums become the offset that stands for 0 only where the entry has none."""
    source, found = accumulated(), np.zeros((ROWS, COLS), np.int8)
    word = entry(0.375, 0, True)
    kind = VIEW if op == "tstore" else BYTES
    arguments = {"c": (ACC, source), "q": ("i64", word), "d": (kind, found.reshape(-1) if kind == VIEW else found)}
    clause = f" {{reluPreMode = #pto<relu_pre_mode {relu}>}}" if relu else ""
    run(SCALAR_FORMS[op] + clause, arguments, target=target)
    wanted = quantised(source, [(fp19(0.375), 0)] * COLS)
    assert (found == (np.maximum(wanted, 0) if relu else wanted)).all()


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("phase", ["partial", "final"])
@pytest.mark.parametrize("word", ["add", "max", "min"])
def test_stores_that_combine(word: str, phase: str, target: str) -> None:
    kind, view = "!pto.tile_buf<vec, 16x32xf32>", "!pto.partition_tensor_view<16x32xf32>"
    rng = np.random.default_rng(8)
    old, new = (rng.standard_normal((ROWS, COLS)).astype(np.float32) for _ in range(2))
    found = old.copy().reshape(-1)
    clause = f"{{atomicType = #pto<atomic_type atomic_{word}>, stPhase = #pto<st_phase {phase}>}}"
    run(f"pto.tstore ins(%a : {kind}) outs(%d : {view}) {clause}",
        {"a": (kind, new), "d": (view, found)}, target=target)  # fmt: skip
    function = {"add": np.add, "max": np.maximum, "min": np.minimum}[word]
    assert (found.reshape(ROWS, COLS) == function(old, new)).all()


@pytest.mark.parametrize("relu", ["", "no_relu", "normal_relu"])
@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("op", ["tmov", "textract", "tinsert"])
def test_halves(op: str, target: str, relu: str) -> None:
    source, found = accumulated(), np.zeros((ROWS, COLS), np.float16)
    place, kinds = (", %c0, %c0", ", index, index") if op != "tmov" else ("", "")
    clause = f" {{reluPreMode = #pto<relu_pre_mode {relu}>}}" if relu else ""
    run(f"pto.{op} ins(%c{place} : {ACC}{kinds}) outs(%d : {HALVES}){clause}",
        {"c": (ACC, source), "d": (HALVES, found)}, target=target)  # fmt: skip
    for (i, j), value in np.ndenumerate(source):
        number = max(float(value), 0.0) if relu == "normal_relu" and not np.isnan(value) else float(value)
        want = model_store(0.0 if relu == "normal_relu" and np.isnan(value) else number, "f16", "default", 0, 0)
        np.testing.assert_array_equal(stored(found[i : i + 1, j : j + 1], "f16")[0, 0], want)


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_transposed(target: str) -> None:
    source, found = np.arange(ROWS * COLS, dtype=np.float32).reshape(ROWS, COLS), np.zeros((COLS, ROWS), np.float32)
    s, d, t = "!pto.tile_buf<vec, 16x32xf32>", "!pto.tile_buf<vec, 32x16xf32>", "!pto.tile_buf<vec, 16x32xf32>"
    arguments = {"a": (s, source), "t": (t, np.zeros((ROWS, COLS), np.float32)), "d": (d, found)}
    run(f"pto.ttrans ins(%a, %t : {s}, {t}) outs(%d : {d})", arguments, target=target)
    assert (found == source.T).all()
    v, w = "!pto.tile<16x32xf32>", "!pto.tile<32x16xf32>"
    (back,) = run(f"%r = pto.ttrans %a : {v} -> {w}", {"a": (v, source)}, {"r": w}, target=target)
    assert (np.asarray(back) == source.T).all()


@pytest.mark.parametrize("target", ["a5", "a2a3"])
@pytest.mark.parametrize("clause", ["", " {precisionType = #pto<pow_precision high_precision>}"])
def test_powers_with_one_exponent(target: str, clause: str) -> None:
    kind = "!pto.tile_buf<vec, 16x32xf32>"
    source = np.random.default_rng(1).random((ROWS, COLS)).astype(np.float32) + np.float32(0.5)
    found, scratch = np.zeros_like(source), np.zeros_like(source)
    arguments = {"a": (kind, source), "x": ("f32", 3.0), "t": (kind, scratch), "d": (kind, found)}
    run(f"pto.tpows ins(%a, %x, %t : {kind}, f32, {kind}) outs(%d : {kind}){clause}", arguments, target=target)
    np.testing.assert_allclose(found, source.astype(np.float64) ** 3, rtol=2e-7)


@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_prefetches_change_no_number(target: str) -> None:
    view, kind = "!pto.partition_tensor_view<16x32xf32>", "!pto.tile_buf<vec, 16x32xf32>"
    source = np.arange(ROWS * COLS, dtype=np.float32)
    found = np.zeros((ROWS, COLS), np.float32)
    body = f"""pto.tprefetch ins(%v : {view}) outs(%d : {kind})
    pto.tload ins(%v : {view}) outs(%d : {kind})"""
    run(body, {"v": (view, source), "d": (kind, found)}, target=target)
    assert (found.reshape(-1) == source).all()


def test_scales_belong_to_the_location_of_their_tile() -> None:
    """The scales of a tile at byte 4096 of its memory are at byte 4096 / 16 of the memory beside it."""
    types = tiles("a5", ROWS)
    given = data(ROWS)
    kinds = ", ".join(types[name] for name in "esfu")
    body = f"""%l = pto.alloc_tile addr = %n4096 : {types["e"]}
    %k = pto.alloc_tile addr = %n128 : {types["s"]}
    %o = pto.alloc_tile addr = %n256 : {types["s"]}
    pto.tmov ins(%m : {MAT_E}) outs(%l : {types["e"]})
    pto.tmov ins(%n : {MAT_S}) outs(%o : {types["s"]})
    pto.tget_scale_addr ins(%l : {types["e"]}) outs(%k : {types["s"]})
    pto.tmatmul.mx ins(%l, %k, %f, %u : {kinds}) outs(%c : {types["c"]})"""
    result = wanted(given, True, "")
    arguments = {name: (types[name], given[name]) for name in "fuc"}
    run(body, {**arguments, "m": (MAT_E, given["e"]), "n": (MAT_S, given["s"])})
    assert (given["c"] == result).all()


MAT_E = "!pto.tile_buf<mat, 16x64xf8E4M3FN, blayout=col_major, slayout=row_major>"
MAT_S = "!pto.tile_buf<mat, 16x2x!pto.f8E8M0, slayout=row_major, fractal=32>"


@pytest.mark.parametrize(
    ("op", "lhs", "rhs", "dst"),
    [
        ("tmatmul", "!pto.f4E1M2x2", "!pto.f4E1M2x2", "f32"),
        ("tmatmul", "i16", "i16", "i32"),
        ("tmatmul", "f16", "bf16", "f32"),
        ("tmatmul", "f16", "f16", "i64"),
        ("tgemv", "i8", "i8", "f32"),
    ],
)
def test_products_of_no_matrix_unit_are_refused_at_their_location(op, lhs, rhs, dst):
    """Also where nobody has verified the program."""
    types = (
        f"!pto.tile_buf<left, 16x64x{lhs}, blayout=col_major, slayout=row_major>",
        f"!pto.tile_buf<right, 64x16x{rhs}, slayout=col_major>",
        f"!pto.tile_buf<acc, 16x16x{dst}, blayout=col_major, slayout=row_major, fractal=1024>",
    )
    head = "".join(f"%{name} = pto.alloc_tile : {type_}\n" for name, type_ in zip("lrs", types, strict=True))
    product = f"pto.{op} ins(%l, %r : {types[0]}, {types[1]}) outs(%s : {types[2]})"
    text = 'module attributes {pto.target_arch = "a5"} {\nfunc.func @k() {\n' + f"{head}{product}\nreturn\n}}\n}}"
    with pytest.raises(ProgramError) as caught:
        pto_dialect.run(pto_dialect.parse(text), {}, verify=False)
    names = [name.removeprefix("!pto.") for name in (lhs, rhs, dst)]
    assert caught.value.rule == "unmodelled"
    assert "no matrix unit multiplies {} by {} into {}".format(*names) in str(caught.value)
    assert caught.value.span is not None and caught.value.span.source.line_col(caught.value.span.start)[0] == 6


def test_a_product_of_memrefs_runs_as_one_of_tiles():
    def kind(space: str, element: str = "f16") -> str:
        return f"memref<32x32x{element}, #pto.address_space<{space}>>"

    def move(op: str, source: str, target: str, one: str, other: str) -> str:
        return f"pto.{op} ins(%{source} : {one}) outs(%{target} : {other})"

    spaces = {"am": "mat", "bm": "mat", "l": "left", "r": "right"}
    lines = [f"%{name} = memref.alloc() : {kind(space)}" for name, space in spaces.items()]
    lines += [
        f"%s = memref.alloc() : {kind('acc', 'f32')}",
        move("tload", "a", "am", kind("gm"), kind("mat")),
        move("tload", "b", "bm", kind("gm"), kind("mat")),
        move("tmov", "am", "l", kind("mat"), kind("left")),
        move("tmov", "bm", "r", kind("mat"), kind("right")),
        f"pto.tmatmul ins(%l, %r : {kind('left')}, {kind('right')}) outs(%s : {kind('acc', 'f32')})",
        move("tstore", "s", "c", kind("acc", "f32"), kind("gm", "f32")),
        "return",
    ]
    arguments = f"%a: {kind('gm')}, %b: {kind('gm')}, %c: {kind('gm', 'f32')}"
    text = (
        f'module attributes {{pto.target_arch = "a5"}} {{\nfunc.func @k({arguments}) {{\n' + "\n".join(lines) + "\n}\n}"
    )
    numbers = np.random.default_rng(3).integers(-4, 5, (2, 32, 32))
    a, b = numbers.astype(np.float16)
    c = np.zeros((32, 32), np.float32)
    pto_dialect.run(pto_dialect.parse(text), {"a": a, "b": b, "c": c}, verify=False)
    assert (c == (numbers[0] @ numbers[1])).all()
