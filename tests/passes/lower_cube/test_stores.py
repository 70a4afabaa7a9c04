"""Write-backs. Source: docs/reference/numerics.md, "Write-back"; docs/reference/layouts.md, "Moves between tiles"."""

import ml_dtypes
import numpy as np
import pytest
from cube_programs import Program, instructions, lowered, refusals

RNG = np.random.default_rng(9)
STORAGE = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "ui8": np.uint8,
           "i32": np.int32}  # fmt: skip
SCALE = 0.3125


def sums(m: int, n: int, element: str, out: str = "f32") -> Program:
    """An accumulator ``s`` of m x n sums, i32 for i8 operands."""
    found = Program(a=element, b=element, c=out)
    found.view("va", "a", (m, 32), (32, 1))
    found.view("vb", "b", (32, n), (n, 1))
    found.tile("ma", "mat", m, 32, element)
    found.tile("mb", "mat", 32, n, element)
    found.tile("l", "left", m, 32, element)
    found.tile("r", "right", 32, n, element)
    found.tile("s", "acc", m, n, "i32" if element == "i8" else "f32")
    for view, tile, to in (("va", "ma", "l"), ("vb", "mb", "r")):
        found.op("tload", view, to=tile)
        found.op("tmov", tile, to=to)
    found.op("tmatmul", "l", "r", to="s")
    return found


def operands(m: int, n: int, element: str, out: str):
    """Operands, and their product as numbers of 64 bits."""
    a, b = (RNG.integers(-6, 7, shape).astype(STORAGE[element]) for shape in ((m, 32), (32, n)))
    return {"a": a, "b": b, "c": np.zeros((m, n), STORAGE[out])}, a.astype(np.float64) @ b.astype(np.float64)


def entry(scale: float, signed: bool = False) -> int:
    """The entry of a channel: the scale as f32, bit 46 for signed results."""
    return int(np.float32(scale).view(np.uint32)) | int(signed) << 46


def converted(values, out: str):
    """Values rounded to the nearest of the output type; those of integers stay in their range."""
    if out in ("i8", "ui8"):
        info = np.iinfo(STORAGE[out])
        return np.clip(np.rint(values), info.min, info.max).astype(STORAGE[out])
    return values.astype(np.float32).astype(STORAGE[out])


@pytest.mark.parametrize("out", ["f16", "bf16"])
@pytest.mark.parametrize("relu", [False, True])
def test_sums_are_rounded_when_stored(out, relu):
    found = sums(32, 48, "f16", out)
    found.view("vc", "c", (32, 48), (48, 1))
    found.op("tstore", "s", to="vc", more=" {reluPreMode = #pto<relu_pre_mode normal_relu>}" if relu else "")
    arrays, product = operands(32, 48, "f16", out)
    module, result = lowered(found, **arrays)
    assert np.array_equal(result["c"], converted(np.maximum(product, 0) if relu else product, out))
    assert instructions(module)[-1] == "mte_l0c_gm"


@pytest.mark.parametrize(
    ("element", "out"), [("i8", "f16"), ("i8", "i8"), ("f16", "f16"), ("f16", "ui8"), ("f16", "f32")]
)
def test_a_scale_for_all_channels(element, out):
    found = sums(32, 32, element, out)
    found.view("vc", "c", (32, 32), (32, 1))
    found.lines.append(f"%scale = arith.constant {entry(SCALE, out == 'i8')} : i64")
    found.op("tstore", "s", to="vc", extra=", %scale", extra_types=", i64")
    arrays, product = operands(32, 32, element, out)
    _, result = lowered(found, **arrays)
    assert np.array_equal(result["c"], converted(product * SCALE, out))


def test_a_scale_that_only_a_run_knows():
    found = sums(32, 32, "i8", "f16")
    found.arguments["scale"] = "=i64"
    found.view("vc", "c", (32, 32), (32, 1))
    found.op("tstore", "s", to="vc", extra=", %scale", extra_types=", i64")
    arrays, product = operands(32, 32, "i8", "f16")
    # The lowest 13 bits of a scale do not count.
    _, result = lowered(found, **arrays, scale=entry(SCALE) | 0x1FFF | 5 << 37)
    assert np.array_equal(result["c"], converted(product * SCALE, "f16"))
    integers = sums(32, 32, "i8", "i8")
    integers.arguments["scale"] = "=i64"
    integers.view("vc", "c", (32, 32), (32, 1))
    integers.op("tstore", "s", to="vc", extra=", %scale", extra_types=", i64")
    assert refusals(integers) == ["pto.tstore: only a run knows the offset and the sign of its scale"]


def tabled(element: str, out: str, n: int = 64) -> Program:
    """An accumulator and a table ``t`` of scales in the fixpipe buffer."""
    found = sums(32, n, element, out)
    found.arguments["table"] = "i64"
    found.view("vt", "table", (1, n), (n, 1))
    found.tile("mt", "mat", 1, n, "i64", layout="nd")
    found.tile("t", "scaling", 1, n, "i64")
    found.op("tload", "vt", to="mt")
    found.op("tmov", "mt", to="t")
    return found


def table_of(n: int, signed: bool):
    """Scales of channels and their entries."""
    scales = 2.0 ** RNG.integers(-4, 1, n) * 1.25
    return scales, np.array([[entry(scale, signed) for scale in scales]], np.int64)


@pytest.mark.parametrize(("element", "out"), [("i8", "f16"), ("i8", "i8"), ("f16", "f16"), ("f16", "f32")])
def test_a_scale_for_each_channel(element, out):
    found = tabled(element, out)
    found.view("vc", "c", (32, 64), (64, 1))
    found.lines.append(
        f"pto.tstore ins(%s : {found.types['s']} fp %t : {found.types['t']}) outs(%vc : {found.types['vc']})"
    )
    arrays, product = operands(32, 64, element, out)
    scales, table = table_of(64, out == "i8")
    module, result = lowered(found, **arrays, table=table)
    assert np.array_equal(result["c"], converted(product * scales, out))
    assert "mte_l1_fb" in instructions(module)


def chained(out: str, relu: str = "", n: int = 64, offset: int = 0) -> Program:
    """Sums that go to L1 as the left operand of a second product with b."""
    found = sums(n, n, "f16", "f32")
    found.view("vc", "c", (n, 32), (32, 1))
    found.tile("again", "mat", n, n + offset, out)
    attributes = f" {{reluPreMode = #pto<relu_pre_mode {relu}>}}" if relu else ""
    if offset:
        found.index(offset)
        found.op("tinsert", "s", to="again", more=attributes, extra=f", %c0, %c{offset}", extra_types=", index, index")
    else:
        found.op("tmov", "s", to="again", more=attributes)
    found.tile("l2", "left", n, 32, out)
    found.tile("r2", "right", 32, 32, out)
    found.tile("mb2", "mat", 32, 32, out)
    found.tile("s2", "acc", n, 32, "f32")
    found.arguments["d"] = out
    found.view("vd", "d", (32, 32), (32, 1))
    found.op("tload", "vd", to="mb2")
    found.op("tmov", "mb2", to="r2")
    found.index(offset)
    found.op("textract", "again", to="l2", extra=f", %c0, %c{offset}", extra_types=", index, index")
    found.op("tmatmul", "l2", "r2", to="s2")
    found.op("tstore", "s2", to="vc")
    return found


@pytest.mark.parametrize("out", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("offset", [0, 32])
def test_sums_as_operands_of_the_next_product(out, offset):
    arrays, product = operands(64, 64, "f16", "f32")
    arrays["c"] = np.zeros((64, 32), np.float32)
    factors = RNG.integers(-3, 4, (32, 32)).astype(STORAGE[out])
    module, result = lowered(chained(out, offset=offset), **arrays, d=factors)
    between = converted(product, out).astype(np.float64)[:, :32]
    assert np.array_equal(result["c"], between @ factors.astype(np.float64))
    assert instructions(module).count("mte_l0c_l1") == (1 if out == "f32" else 4)


def test_relu_within_the_chip():
    arrays, product = operands(64, 64, "f16", "f32")
    arrays["c"] = np.zeros((64, 32), np.float32)
    factors = RNG.integers(-3, 4, (32, 32)).astype(np.float16)
    _, result = lowered(chained("f16", "normal_relu"), **arrays, d=factors)
    between = np.maximum(product, 0)[:, :32]
    assert np.array_equal(result["c"], between @ factors.astype(np.float64))


@pytest.mark.parametrize("layout", ["nd", "nz"])
@pytest.mark.parametrize("out", ["f32", "f16"])
def test_sums_to_a_vector_core(out, layout):
    found = sums(32, 64, "f16", out)
    found.view("vc", "c", (32, 64), (64, 1))
    found.tile("v", "vec", 32, 64, out, layout=layout)
    found.op("tmov", "s", to="v")
    found.op("tstore", "v", to="vc")
    if layout == "nz":
        found.tile("w", "vec", 32, 64, out)
        found.lines[-1:] = [f"pto.tmov ins(%v : {found.types['v']}) outs(%w : {found.types['w']})"]
        found.op("tstore", "w", to="vc")
    arrays, product = operands(32, 64, "f16", out)
    module, result = lowered(found, **arrays)
    assert np.array_equal(result["c"], converted(product, out))
    assert "mte_l0c_ub" in instructions(module)


@pytest.mark.parametrize(
    ("layout", "attributes", "reason"),
    [
        ("dn", "", "dst_mode({}) excludes quantisation, relu and other layouts"),
        (
            "nd",
            ", reluPreMode = #pto<relu_pre_mode normal_relu>",
            "dst_mode({}) excludes quantisation, relu and other layouts",
        ),
        ("nz", "", "halves for both vector cores lie in rows, not in blocks"),
    ],
)
@pytest.mark.parametrize("half", ["m", "n"])
def test_halves_for_both_vector_cores_are_plain_rows(layout, attributes, reason, half):
    found = sums(32, 64, "f16")
    rows, cols = (16, 64) if half == "m" else (32, 32)
    found.tile("v", "vec", rows, cols, "f32", layout=layout)
    found.op("tmov", "s", to="v", more=f" {{accToVecMode = #pto.acc_to_vec_mode<dual_mode_split_{half}>{attributes}}}")
    assert refusals(found) == [f"pto.tmov: {reason.format(f'split_{half}')}"]


@pytest.mark.parametrize("half", ["m", "n"])
def test_halves_in_tiles_of_their_size(half):
    """The first of both vector cores."""
    rows, cols = (16, 64) if half == "m" else (32, 32)
    found = sums(32, 64, "f16")
    found.view("vc", "c", (rows, cols), (cols, 1))
    found.tile("v", "vec", rows, cols, "f32")
    found.op("tmov", "s", to="v", more=f" {{accToVecMode = #pto.acc_to_vec_mode<dual_mode_split_{half}>}}")
    found.op("tstore", "v", to="vc")
    arrays, product = operands(32, 64, "f16", "f32")
    arrays["c"] = np.zeros((rows, cols), np.float32)
    module, result = lowered(found, **arrays)
    assert np.array_equal(result["c"], product[:rows, :cols])
    assert "mte_l0c_ub" in instructions(module)


def test_sums_that_are_added_to_memory():
    found = sums(32, 32, "f16")
    found.view("vc", "c", (32, 32), (32, 1))
    found.op("tstore", "s", to="vc", more=" {atomicType = #pto<atomic_type atomic_add>}")
    arrays, product = operands(32, 32, "f16", "f32")
    arrays["c"] += 3
    _, result = lowered(found, **arrays)
    assert np.array_equal(result["c"], product + 3)


def test_columns_side_by_side_in_memory():
    found = sums(32, 48, "f16")
    found.view("vc", "c", (32, 48), (1, 32), layout="dn")
    found.op("tstore", "s", to="vc")
    arrays, product = operands(32, 48, "f16", "f32")
    _, result = lowered(found, **arrays)
    assert np.array_equal(result["c"].reshape(48, 32).T, product)


@pytest.mark.parametrize("out", ["f32", "f16"])
def test_blocks_in_memory(out):
    found = sums(32, 64, "f16", out)
    found.view("vc", "c", (1, 4, 2, 16, 16), (2048, 512, 256, 16, 1), layout="nz")
    found.op("tstore", "s", to="vc")
    arrays, product = operands(32, 64, "f16", out)
    _, result = lowered(found, **arrays)
    blocks = result["c"].reshape(4, 32, 16).transpose(1, 0, 2).reshape(32, 64)
    assert np.array_equal(blocks, converted(product, out))


@pytest.mark.parametrize(("width", "line"), [(8, 8), (16, 16), (16, 20), (32, 32), (32, 40)])
def test_blocks_of_columns_in_memory(width, line):
    """Columns of blocks one after the other, whose rows have gaps or not."""
    blocks = 64 // width
    found = sums(32, 64, "f16")
    found.view("vc", "c", (1, blocks, 2, 16, width), (32 * line * blocks, 32 * line, 16 * line, line, 1), layout="nz")
    found.op("tstore", "s", to="vc")
    arrays, product = operands(32, 64, "f16", "f32")
    c = np.full((blocks, 32, line), 7, np.float32)
    _, result = lowered(found, **{**arrays, "c": c})
    expected = c.copy()
    expected[:, :, :width] = product.reshape(32, blocks, width).transpose(1, 0, 2)
    assert np.array_equal(result["c"], expected)


def test_the_sign_of_a_scale_counts_for_integers_only():
    found = sums(32, 32, "i8", "f16")
    found.view("vc", "c", (32, 32), (32, 1))
    found.lines.append(f"%scale = arith.constant {entry(SCALE, signed=True)} : i64")
    found.op("tstore", "s", to="vc", extra=", %scale", extra_types=", i64")
    arrays, product = operands(32, 32, "i8", "f16")
    _, result = lowered(found, **arrays)
    assert np.array_equal(result["c"], converted(product * SCALE, "f16"))
