"""Facts of docs/reference against what the package does: tables and formulas of the pages, read from their text."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from markdown_pages import ROOT

from pto_dialect.api import check
from pto_dialect.ir.core.base import Pipe, op_spec
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class
from pto_dialect.runtime.memory.layout import tile_layout
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.numerics.format_table import FORMATS
from pto_dialect.runtime.numerics.rounding import round_to_integer, tf32
from pto_dialect.targets.rounding import ROUNDING_LETTERS

FOLDER = ROOT / "docs" / "reference"


def section(page: str, heading: str) -> str:
    """Text below a heading, up to the next one of the same rank."""
    text = (FOLDER / page).read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    return found[1]


def tables(page: str, heading: str) -> list[list[list[str]]]:
    """Tables of a section as rows of cells; a table begins with its heads."""
    found: list[list[list[str]]] = []
    for block in re.findall(r"(?:^\|.*\n)+", section(page, heading), re.MULTILINE):
        lines = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in block.splitlines()]
        found.append([lines[0], *lines[2:]])
    return found


FORMAT_ROWS = tables("numerics.md", "Formats")[0][1:]


@pytest.mark.parametrize("row", FORMAT_ROWS, ids=[row[0] for row in FORMAT_ROWS])
def test_formats(row: list[str]) -> None:
    name, layout, largest, infinity, nan, _ = row
    fmt = FORMATS[name]
    assert (fmt.has_inf, fmt.has_nan) == (infinity == "yes", nan == "yes")
    base, _, exponent = largest.partition("^")
    wanted = float(base) ** int(exponent) if exponent else float(largest)
    assert fmt.max_finite == pytest.approx(wanted, rel=1e-7)
    if not layout.startswith("tapered"):
        sign, exponents, mantissa, bias = map(int, re.findall(r"\d+", layout)[:4])
        assert (fmt.exponent_bits, fmt.mantissa_bits, fmt.bias) == (exponents, mantissa, bias)
        assert fmt.bits == sign + exponents + mantissa
    assert ("two to a byte" in layout) == fmt.is_packed


def test_every_float_format_of_one_number_has_a_row() -> None:
    pairs = {"hif8x2", "bf16x2", "f8E4M3", "f64"}
    assert {name for name, fmt in FORMATS.items() if fmt.is_float} - pairs == {row[0] for row in FORMAT_ROWS}


def hif8_of(pattern: str) -> list[tuple[int, float]]:
    """Codes and magnitudes of one row of the table, from its pattern of bits and its tokens."""
    found: list[tuple[int, float]] = []
    for code in range(128):
        bits = f"{code:07b}"
        if not all(p == b for p, b in zip(pattern, bits, strict=True) if p in "01"):
            continue
        field = {letter: [b for p, b in zip(pattern, bits, strict=True) if p == letter] for letter in "sem"}
        m, e, s = (int("".join(field[letter]) or "0", 2) for letter in "mes")
        fraction = 1 + m / 2 ** len(field["m"])
        start = {"0000": None, "0001": 0, "001": 1, "01": 2, "10": 4, "11": 8}[re.match(r"[01]+", pattern)[0]]  # type: ignore[index]
        value = 2.0 ** (m - 23) if start is None else fraction * 2.0 ** ((-1) ** s * (start + e))
        found.append((code, value))
    return found


def test_hif8_values() -> None:
    rows = [re.findall(r"`([01sem]{7})`", row[0])[0] for row in tables("numerics.md", "hif8")[0][1:]]
    patterns = [pattern for pattern in rows if set(pattern) & set("sem")]
    assert len(patterns) == 6
    values = decode(np.arange(128, dtype=np.uint8), "hif8")
    known = {code: value for pattern in patterns for code, value in hif8_of(pattern)}
    assert set(known) | {0} == set(range(128))
    for code, value in known.items():
        if code not in (0, 0x6F):
            assert values[code] == value, f"{code:#x}"
    assert values[0] == 0 and np.isinf(values[0x6F]) and np.isnan(decode(np.array([0x80], np.uint8), "hif8")[0])


def test_hif8_examples() -> None:
    text = " ".join(section("numerics.md", "hif8").split())
    examples = re.findall(r"(0x[0-9A-F]{2}) is (2\^−?\d+|[\d.]+\d|\d)", text)
    assert len(examples) == 7
    for code, value in examples:
        wanted = 2.0 ** int(value[2:].replace("−", "-")) if value.startswith("2^") else float(value)
        assert decode(np.array([int(code, 16)], np.uint8), "hif8")[0] == wanted


def test_hif8_rounding() -> None:
    small = np.array([2.0**-23 * 0.999, 2.0**-23, 2.0**-22, 1.0625, -1.0625], np.float32)
    assert decode(encode(small, "hif8", rounding="A", saturate=True), "hif8").tolist() == [
        0.0,
        2.0**-22,
        2.0**-22,
        1.125,
        -1.125,
    ]


def test_tf32_formulas() -> None:
    values = np.random.default_rng(1).standard_normal(4096).astype(np.float32)
    u = values.view(np.uint32)
    even = (u + 0xFFF + (u >> 13 & 1)) & 0xFFFFE000
    away = (u + 0x1000) & 0xFFFFE000
    assert "(u + 0xFFF + (u >> 13 & 1)) & 0xFFFFE000" in " ".join(section("numerics.md", "Formats").split())
    assert (tf32(values, "round_even").view(np.uint32) == even).all()
    assert (tf32(values, "round_away").view(np.uint32) == away).all()


def narrowed(name: str, value: float, saturate: bool) -> float:
    return float(decode(encode(np.array([value], np.float32), name, saturate=saturate), name)[0])


@pytest.mark.parametrize("name", ["f16", "bf16", "f8E5M2", "f8E4M3FN", "hif8"])
def test_narrowing_of_floats(name: str) -> None:
    largest, huge = FORMATS[name].max_finite, 3.4e38
    for value in (huge, np.inf):
        assert narrowed(name, value, True) == largest
        assert narrowed(name, -value, True) == -largest
    assert narrowed(name, np.nan, True) == 0
    assert np.isnan(narrowed(name, np.nan, False))
    beyond = narrowed(name, np.inf, False)
    assert np.isnan(beyond) if name == "f8E4M3FN" else np.isinf(beyond)


def test_narrowing_of_integers() -> None:
    values = np.array([300.0, -300.0, np.nan], np.float32)
    assert encode(values, "i8", saturate=True).tolist() == [127, -128, 0]
    assert encode(values, "i8", saturate=False).tolist() == [300 - 256, 256 - 300, 0]


def test_rounding_letters() -> None:
    rows = tables("numerics.md", "Rounding")[0][1:]
    letters = [row[0] for row in rows if row[0]]
    assert letters == list(ROUNDING_LETTERS)
    halves = np.array([0.5, 1.5, -0.5, -1.5, 0.25, -0.25], np.float32)
    wanted = {
        "R": [0, 2, 0, -2, 0, 0],
        "A": [1, 2, -1, -2, 0, 0],
        "F": [0, 1, -1, -2, 0, -1],
        "C": [1, 2, 0, -1, 1, 0],
        "Z": [0, 1, 0, -1, 0, 0],
        "O": [1, 1, -1, -1, 1, -1],
    }
    for letter, results in wanted.items():
        assert round_to_integer(halves, letter).tolist() == results, letter


LAYOUTS = tables("layouts.md", "Tile layouts")
LAYOUT_ROWS = LAYOUTS[0][1:]


def test_offsets_of_the_layout_table() -> None:
    """The formulas of the page are evaluated, and compared with the numbers beneath them and with the package."""
    heads, *examples = LAYOUTS[1]
    assert heads[1:] == [row[1] for row in LAYOUT_ROWS]
    for words, name, formula in LAYOUT_ROWS:
        blayout, slayout = words.split(", ")
        layout = tile_layout(32, 48, 2, blayout, slayout, 512)
        assert layout.kind == name
        code = compile(formula.replace("·", "*"), name, "eval")
        for example in examples:
            r, c = map(int, re.findall(r"\d+", example[0]))
            value = eval(code, {"r": r, "c": c, "R": 32, "C": 48, "ir": 16, "ic": 16})
            assert value == int(example[heads.index(name)]) == layout.offset(r, c), (name, r, c)


def test_inner_blocks() -> None:
    _, *rows = tables("layouts.md", "Fractals")[0]
    for fractal, row_major, col_major, _ in rows:
        for slayout, text in (("row_major", row_major), ("col_major", col_major)):
            for size in (1, 2, 4):
                inner = tuple(32 // size if part == "C0" else int(part) for part in text.split(" × "))
                assert tile_layout(64, 64, size, "row_major", slayout, int(fractal)).inner == inner


PIPE_ROWS = tables("execution.md", "Pipes of operations")[0][1:]


@pytest.mark.parametrize("row", PIPE_ROWS, ids=[row[0] for row in PIPE_ROWS])
def test_pipes(row: list[str]) -> None:
    """Operations that a row names as a whole have its pipe; those named with locations depend on them."""
    name, text = row
    whole = [item for item in text.split(", ") if re.fullmatch(r"`[\w*.]+`", item)]
    assert whole or name == "V"
    for item in whole:
        pattern = re.compile(re.escape("pto." + item.strip("`")).replace(r"\*", r"\w*"))
        for mnemonic in filter(pattern.fullmatch, OPS):
            spec = op_spec(op_class(mnemonic))
            depends = spec.pipe_from or any(case.at or case.present for case in spec.forms if case.pipe)
            pipes = [case.pipe for case in spec.forms]
            assert depends or Pipe(f"PIPE_{name}") in (spec.pipe, *spec.pipes, *pipes), mnemonic


PROGRAMS = re.findall(r"^```mlir\n(.*?)^```$", (FOLDER / "language.md").read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_programs_of_the_page_on_the_language_are_right(program: str, tmp_path: Path) -> None:
    file = tmp_path / "program.pto"
    file.write_text(program)
    assert check(file).diagnostics == ()


def test_the_page_on_the_language_shows_every_form() -> None:
    assert len(PROGRAMS) == 5
