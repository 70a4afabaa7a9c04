"""Layouts, scratch tiles and numbers that the headers of the C++ interface accept and the dialect does not."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import pto_dialect
from pto_dialect.api import VerifyError

pto_opt = import_module("pto_dialect.tools.pto_opt").main

HEAD = "#include <pto/pto-inst.hpp>\nusing namespace pto;\n"
KERNEL = HEAD + 'extern "C" __global__ AICORE void kernel(__gm__ float *a)\n{\n    STATEMENTS;\n}\n'


def checked(statements: str, target: str, folder: Path) -> Result:
    kernel = folder / "kernel.cpp"
    kernel.write_text(KERNEL.replace("STATEMENTS", statements), encoding="utf-8")
    return CliRunner().invoke(pto_opt, [str(kernel), "--target", target, "--verify-only"])


def tile(name: str, element: str, rows: int, cols: int, address: int, layout: str = "", place: str = "Vec") -> str:
    given = f", {layout}" if layout else ""
    return f"Tile<TileType::{place}, {element}, {rows}, {cols}{given}> {name}; TASSIGN({name}, {address})"


def boxes(rows: int, cols: int, inner: str) -> str:
    return f"BLayout::RowMajor, {rows}, {cols}, SLayout::{inner}"


def extremum(scratch_rows: int) -> str:
    source, scratch = tile("x", "float", 8, 256, 0), tile("t", "float", scratch_rows, 16, 0x4000)
    return f"{source}; {tile('z', 'int32_t', 8, 8, 0x8000, 'BLayout::RowMajor, 8, 1')}; {scratch}; TROWARGMAX(z, x, t)"


def histogram(filters: str) -> str:
    source = tile("x", "uint16_t", 2, 256, 0)
    return f"{source}; {tile('z', 'uint32_t', 2, 256, 0x4000)}; {filters}; THISTOGRAM<HistByte::BYTE_0>(z, x, i)"


def column(rows: int) -> str:
    return tile("i", "uint8_t", rows, 1, 0x8000, "BLayout::ColMajor")


def inserted(rows: int, source: str, target: str) -> str:
    one = tile("x", "half", rows, 32, 0, boxes(rows, 32, source))
    return f"{one}; {tile('m', 'half', 64, 32, 0, boxes(64, 32, target), 'Mat')}; TINSERT(m, x, 0, 0)"


def partial(element: str, number: str) -> str:
    values = "; ".join(tile(name, element, 4, 32, 0x1000 * place) for place, name in enumerate("xyz"))
    numbers = "; ".join(tile(name, number, 4, 32, 0x4000 + 0x1000 * place) for place, name in enumerate("ijk"))
    return f"{values}; {numbers}; TPARTARGMAX(z, x, y, k, i, j)"


def scaled(groups: int) -> str:
    tiles = [
        tile("x", "float", 1, 64, 0),
        tile("z", "int8_t", 1, 64, 0x1000),
        tile("e", "uint8_t", 1, 32, 0x2000, "BLayout::RowMajor, 1, 2"),
    ]
    row = f"BLayout::RowMajor, 1, {groups}"
    tiles += [tile("m", "float", 1, 8, 0x3000, row), tile("s", "float", 1, 8, 0x4000, row)]
    return f"{'; '.join(tiles)}; TQUANT<QuantType::MXFP8>(z, x, &e, &m, &s)"


def sorted_in_blocks(scratch: int) -> str:
    tiles = [tile("x", "float", 1, 40, 0), tile("z", "float", 1, 80, 0x1000), tile("i", "uint32_t", 1, 40, 0x2000)]
    return f"{'; '.join(tiles)}; {tile('t', 'float', 1, scratch, 0x3000)}; TSORT32(z, x, i, t)"


def gathered(cols: int) -> str:
    source = tile("x", "int64_t", 4, 16, 0, f"BLayout::RowMajor, 4, {cols}")
    return (
        f"{source}; {tile('z', 'int64_t', 4, 16, 0x1000)}; TGATHER<decltype(z), decltype(x), MaskPattern::P1010>(z, x)"
    )


def taken(layout: str, element: str = "half") -> str:
    whole = tile("x", element, 64, 32, 0, layout)
    return f"{whole}; {tile('z', element, 32, 32, 0x4000, layout.replace('64', '32'))}; TEXTRACT(z, x, 0, 0)"


OVERRUN = "writes beyond its end, so keep the memory there free"
FORM = "the headers have this form"


@pytest.mark.parametrize(
    ("target", "statements", "message", "help"),
    [
        ("a2a3", extremum(1), "tmp of TROWARGMAX needs 8 rows like src, found 1 [tile-tmp-shape]", OVERRUN),
        ("a2a3", sorted_in_blocks(16), "tmp of TSORT32 needs 160 bytes on a2a3, found 64 [tile-tmp-size]", OVERRUN),
        ("a5", scaled(2), "scaling of TQUANT_MX needs room for 64 elements, found 8 [quant-mx-room]", OVERRUN),
        ("a5", taken("BLayout::ColMajor, 64, 32, SLayout::RowMajor"), "src of TEXTRACT must be laid out", FORM),
        (
            "a5",
            f"{tile('x', 'float8_e4m3_t', 32, 32, 0)}; {tile('z', 'float8_e4m3_t', 32, 32, 0x1000)}; "
            f"{tile('t', 'float8_e4m3_t', 32, 32, 0x2000)}; TTRANS(z, x, t)",
            "src of TTRANS has element type f8E4M3FN",
            FORM,
        ),
        (
            "a5",
            f"{tile('x', 'float', 4, 32, 0)}; {tile('z', 'float', 4, 32, 0x1000)}; "
            "TRSQRT<RsqrtAlgorithm::HIGH_PRECISION>(z, x)",
            "TRSQRT with high_precision needs a scratch tile [tile-highprec-tmp]",
            FORM,
        ),
        ("a5", gathered(16), "src of TGATHER has element type i64 [tile-dtype]", FORM),
        ("a5", histogram(column(32)), "needs the rows of src, 2, found 32 [hist-form]", FORM),
        ("a5", inserted(32, "ColMajor", "ColMajor"), "src of TINSERT must be laid out", FORM),
        ("a5", inserted(64, "RowMajor", "RowMajor"), "src of TINSERT must be laid out", FORM),
        ("a2a3", partial("half", "uint16_t"), "src0Idx of TPARTARGMAX must be i32 or ui32", FORM),
        (
            "a2a3",
            f"{tile('z', 'float', 64, 4, 0, 'BLayout::ColMajor')}; TEXPANDS(z, 1.0f)",
            "dst of TEXPANDS must be row_major, found col_major [tile-row-major]",
            FORM,
        ),
    ],
)
def test_forms_of_the_headers_are_warnings(
    target: str, statements: str, message: str, help: str, tmp_path: Path
) -> None:
    result = checked(statements, target, tmp_path)
    assert result.exit_code == 0, result.stderr
    line = next(line for line in result.stderr.splitlines() if message in line)
    assert line.startswith(f"{tmp_path / 'kernel.cpp'}:5:") and ": warning: " in line
    assert help in result.stderr


@pytest.mark.parametrize(
    ("target", "statements", "message"),
    [
        # Scratch of some rows, but not of all; filters that are too few; other boxes than those of the destination.
        ("a2a3", extremum(4), "tmp of TROWARGMAX needs 8 rows like src, found 4"),
        ("a5", histogram(tile("i", "uint8_t", 2, 32, 0x8000)), "idx of a 16-bit source must be DN"),
        ("a5", inserted(32, "ColMajor", "RowMajor"), "of TINSERT must be laid out"),
        ("a5", inserted(32, "RowMajor", "RowMajor"), "of TINSERT must be laid out"),
        ("a2a3", inserted(32, "ColMajor", "ColMajor"), "TINSERT does not go from vec to mat on a2a3"),
        ("a2a3", taken("BLayout::ColMajor, 64, 32, SLayout::RowMajor", "float8_e4m3_t"), "f8E4M3FN"),
        # Halves are rounded twice there.
        (
            "a5",
            f"{tile('x', 'half', 4, 32, 0)}; {tile('z', 'half', 4, 32, 0x1000)}; "
            "TRSQRT<RsqrtAlgorithm::HIGH_PRECISION>(z, x)",
            "TRSQRT with high_precision needs a scratch tile",
        ),
        # The rows of the destination would begin elsewhere.
        ("a5", gathered(14), "src of TGATHER has element type i64"),
        ("a2a3", gathered(16), "src of TGATHER has element type i64"),
        ("a2a3", partial("float", "float"), "src0Idx of TPARTARGMAX must be i32 or ui32"),
    ],
)
def test_other_forms_are_errors(target: str, statements: str, message: str, tmp_path: Path) -> None:
    result = checked(statements, target, tmp_path)
    assert result.exit_code == 1
    assert any(message in line and ": error: " in line for line in result.stderr.splitlines()), result.stderr


POWERS = """\
extern "C" __global__ AICORE void kernel(__gm__ ELEMENT *out, __gm__ ELEMENT *a, int32_t number)
{
    using Tensor = GlobalTensor<ELEMENT, Shape<1, 1, 1, 4, 32>, Stride<128, 128, 128, 32, 1>>;
    Tile<TileType::Vec, ELEMENT, 4, 32> x, t, z;
    Tensor source(a), result(out);
    TASSIGN(x, 0);
    TASSIGN(t, 0x1000);
    TASSIGN(z, 0x2000);
    TLOAD(x, source);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    STATEMENT;
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(result, z);
}
"""


def computed(statement: str, element: str, target: str, values: np.ndarray, number: int) -> np.ndarray:
    text = HEAD + POWERS.replace("ELEMENT", element).replace("STATEMENT", statement)
    kernel = pto_dialect.compile_cpp(text, target=target)
    out = np.zeros_like(values)
    pto_dialect.run(kernel.module, {"out": out, "a": values, "number": number})
    return out


@pytest.mark.parametrize(
    ("element", "dtype"), [("uint8_t", np.uint8), ("uint16_t", np.uint16), ("uint32_t", np.uint32)]
)
def test_powers_of_unsigned_integers_take_a_number(element: str, dtype: type) -> None:
    """Of the numbers of the dialect none is unsigned."""
    values = np.arange(128, dtype=dtype)
    found = computed("TPOWS(z, x, (ELEMENT)number, t)".replace("ELEMENT", element), element, "a2a3", values, 5)
    assert found.tolist() == [pow(int(one), 5, 1 << values.itemsize * 8) for one in values]


def truncated(dividend: int, divisor: int) -> int:
    """The remainder of the division toward zero, which has the sign of the dividend."""
    rest = abs(dividend) % abs(divisor) if divisor else 0
    return -rest if dividend < 0 else rest


@pytest.mark.parametrize("divisor", [7, -7, 0, 1 << 40])
def test_remainder_of_64_bits_has_the_sign_of_the_dividend(divisor: int) -> None:
    """Other elements have that of the divisor. Without a divisor the remainder is 0."""
    values = np.array([(number - 64) * 0x0123_4567_89AB for number in range(128)], np.int64)
    statement = f"TREMS(z, x, (int64_t){divisor}ll, t)"
    found = computed(statement, "int64_t", "a5", values, 0)
    assert found.tolist() == [truncated(int(one), divisor) for one in values]
    others = np.arange(-64, 64, dtype=np.int32)
    if divisor in (7, -7):
        floored = computed(f"TREMS(z, x, {divisor}, t)", "int32_t", "a5", others, 0)
        assert floored.tolist() == [int(one) % divisor for one in others]


def test_a_transfer_of_an_empty_tensor_moves_nothing() -> None:
    text = HEAD + POWERS.replace("ELEMENT", "float").replace(
        "STATEMENT",
        "GlobalTensor<float, Shape<1, 1, 1, 0, 32>, Stride<128, 128, 128, 32, 1>> none(a); TLOAD(t, none); TMOV(z, x)",
    )
    kernel = pto_dialect.compile_cpp(text, target="a5")
    values = np.arange(128, dtype=np.float32)
    out = np.zeros_like(values)
    pto_dialect.run(kernel.module, {"out": out, "a": values, "number": 0})
    assert out.tolist() == values.tolist()


@pytest.mark.parametrize("sizes", ["8, 0", "0, 40"])
def test_a_tile_without_valid_elements_may_state_more_than_it_has(sizes: str) -> None:
    """A partial operation copies the other source then."""
    one = "Tile<TileType::Vec, float, 1, 32, BLayout::RowMajor, -1, -1> none(SIZES); TASSIGN(none, 0x3000)"
    text = HEAD + POWERS.replace("ELEMENT", "float").replace(
        "STATEMENT", f"{one.replace('SIZES', sizes)}; TPARTMAX(z, x, none)"
    )
    values, out = np.arange(-64, 64, dtype=np.float32), np.zeros(128, np.float32)
    pto_dialect.run(pto_dialect.compile_cpp(text, target="a5").module, {"out": out, "a": values, "number": 0})
    assert out.tolist() == values.tolist()


def test_a_printed_power_is_refused() -> None:
    text = HEAD + POWERS.replace("ELEMENT", "uint8_t").replace("STATEMENT", "TPOWS(z, x, (uint8_t)number, t)")
    printed = f"{pto_dialect.compile_cpp(text, target='a2a3').text}\n// Another program."
    with pytest.raises(VerifyError, match=r"scalar of pto.tpows must have"):
        pto_dialect.compile(pto_dialect.parse(printed))


@pytest.mark.parametrize(("rows", "cols"), [(64, 64), (32, 64)])
def test_columns_of_boxes_are_inserted_as_they_are(rows: int, cols: int) -> None:
    """The headers copy columns of boxes whatever order of boxes the tile of L1 states, and take its columns as rows."""
    source = tile("x", "half", 32, 32, 0, "BLayout::ColMajor, 32, 32, SLayout::RowMajor")
    target = tile("m", "half", rows, cols, 0x2000, boxes(rows, cols, "RowMajor"), "Mat")
    text = KERNEL.replace("STATEMENTS", f"{source}; {target}; TINSERT(m, x, 32, 0)")
    kernel = pto_dialect.compile_cpp(text, target="a5")
    (line,) = (line for line in kernel.text.splitlines() if "pto.tinsert" in line)
    assert f": !pto.tile_buf<mat, {cols}x{rows}xf16, blayout=col_major, slayout=row_major>) loc(" in line
    assert not [one for one in pto_dialect.check(kernel.text).diagnostics if one.rule == "tinsert-pair"]
