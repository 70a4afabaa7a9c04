"""Which conversions exist and what they take: of work-items, of logical vectors, and of tiles pushed into a queue."""

from __future__ import annotations

from itertools import product

import pytest
from tile_programs import findings

from pto_dialect.verify.simt.convert import PAIRS
from pto_dialect.verify.sync.pipe_epilogue import QUANTS

# --- work-items -------------------------------------------------------------------------------------------

LETTERS = "rafczo"
BY_RESULT = {
    # result: sources, each with the roundings it takes where these are not the five directed ones
    "i32": "f32 f16 bf16", "i64": "f32", "f32": "i32 i64 f32 f16 bf16", "f16": "i32 f16 bf16 f32:rafczo",
    "bf16": "i32 f32 f16 bf16", "f32x2": "f16x2 bf16x2 f8x2 hif8x2", "f16x2": "f32x2:rafczo f8x2 hif8x2",
    "bf16x2": "f32x2 f4x2", "f8x2": "f32x2:r", "hif8x2": "f32x2:ah f16x2:ah", "f4x2": "bf16x2",
}  # fmt: skip


def test_conversions_of_work_items() -> None:
    wanted: dict[tuple[str, str], set[str]] = {}
    for result, sources in BY_RESULT.items():
        for text in sources.split():
            source, _, letters = text.partition(":")
            wanted[source, result] = set(letters or "rafcz")
    assert {pair: set(letters) for pair, letters in PAIRS.items()} == wanted


TYPES = {
    "i32": "i32", "i64": "i64", "f32": "f32", "f16": "f16", "bf16": "bf16", "vector<2xf32>": "f32x2",
    "vector<2xf16>": "f16x2", "vector<2xbf16>": "bf16x2", "vector<2xf8E4M3FN>": "f8x2", "vector<2xf8E5M2>": "f8x2",
    "vector<2xf8E4M3>": "f8x2", "!pto.hif8x2": "hif8x2", "!pto.f4E1M2x2": "f4x2", "!pto.f4E2M1x2": "f4x2",
    "vector<4xf16>": "none",
}  # fmt: skip


def test_types_of_conversions_of_work_items() -> None:
    """Every pair of types, with a rounding that it takes and clauses of the kind that it wants."""
    for (source, a), (result, b) in product(TYPES.items(), repeat=2):
        rounding = "a" if b == "hif8x2" else "r"
        integers = "i" in (a[0], b[0]) and "none" not in (a, b)
        sign = " signed" if source[0] == "i" or result[0] == "i" else ""
        text = f"%r = pto.convert %v round({rounding}) sat{sign} : {source} -> {result}"
        exists = a in " ".join(s.partition(":")[0] + " " for s in BY_RESULT.get(b, "").split()).split()
        assert ("simt-convert" not in findings(text, "a5")) == exists, text
        if exists:
            for letter in (*LETTERS, "h"):
                takes = (
                    letter in {t: set(x or "rafcz") for t, _, x in (s.partition(":") for s in BY_RESULT[b].split())}[a]
                )
                other = text.replace(f"round({rounding})", f"round({letter})")
                assert ("simt-convert" not in findings(other, "a5")) == takes, other
            swapped = text.replace(sign, "") if integers else text.replace(" sat", " sat unsigned")
            assert "simt-convert" in findings(swapped, "a5"), swapped
            free = "simt-convert" not in findings(text.replace(" sat", " nosat"), "a5")
            assert free == (result[0] != "i"), text


# --- logical vectors --------------------------------------------------------------------------------------

INTEGERS = [f"{sign}{width}" for sign in ("i", "si", "ui") for width in (8, 16, 32)]
WIDTH = {"f32": 32, "f16": 16, "bf16": 16, "f8E4M3FN": 8, "f8E5M2": 8, "!pto.hif8": 8}
ELEMENTS = [*WIDTH, *INTEGERS]
TO_INTEGER = {
    ("f32", "si32"): "s", ("f32", "si16"): "s", ("f16", "si32"): "", ("f16", "si16"): "s", ("f16", "si8"): "s",
    ("f16", "ui8"): "s", ("f16", "i8"): "s", ("bf16", "si32"): "s",
}  # fmt: skip
"""Floats to integers; ``s`` stands for those that state a saturation. Integers without a sign count as unsigned."""
TO_FLOAT = {("si32", "f32"), ("si16", "f32"), ("si16", "f16"), ("si8", "f16"), ("si8", "f32")}


def contract(a: str, b: str) -> tuple[str, bool] | None:
    """Rounding letters and whether a saturation is stated, of one lane to another; ``None`` for no conversion."""
    wide = {name: WIDTH.get(name) or int(name.lstrip("sui")) for name in (a, b)}
    if a in WIDTH and b in WIDTH:
        if wide[a] == wide[b]:
            return {("bf16", "f16"): ("RAHZ", True), ("f16", "bf16"): ("RAHZ", False)}.get((a, b))
        return ("RAHZ", True) if wide[a] > wide[b] else ("", False)
    if a in WIDTH:
        return ("RAFCZ", bool(TO_INTEGER[a, b])) if (a, b) in TO_INTEGER else None
    if b in WIDTH:
        return ("", False) if (a, b) in TO_FLOAT else None
    return None if wide[a] == wide[b] else ("", wide[a] > wide[b])


@pytest.mark.parametrize("a", ELEMENTS)
def test_conversions_of_logical_vectors(a: str) -> None:
    for b in ELEMENTS:
        stem = f"%r = pto.vmi.vcvt %v {{}} : !pto.vmi.vreg<64x{a}> -> !pto.vmi.vreg<64x{b}>"

        def fits(clauses: str, stem: str = stem) -> bool:
            return "vmi-cvt" not in findings(stem.format(clauses), "a5")

        wanted = contract(a, b)
        saturated = {flag: fits('{saturate = "NOSAT"}' if flag else "") for flag in (False, True)}
        assert saturated == {flag: wanted is not None and wanted[1] == flag for flag in (False, True)}, (a, b)
        if wanted is not None:
            stated = 'saturate = "NOSAT", ' if wanted[1] else ""
            taken = [letter for letter in "RAFCZHO" if fits(f'{{{stated}rounding = "{letter}"}}')]
            assert set(taken) == set(wanted[0]), (a, b, taken)


DIRECTIONS = {
    "extf": lambda a, b: a in WIDTH and b in WIDTH and WIDTH[a] < WIDTH[b],
    "truncf": lambda a, b: a in WIDTH and b in WIDTH and WIDTH[a] >= WIDTH[b],
    "fptosi": lambda a, b: a in WIDTH and b[0] == "s",
    "fptoui": lambda a, b: a in WIDTH and b not in WIDTH and b[0] != "s",
    "sitofp": lambda a, b: (a, b) == ("si32", "f32"),
    "extsi": lambda a, b: a[0] == "s" and b[0] == "s" and bits(a) < bits(b),
    "extui": lambda a, b: a not in WIDTH and b not in WIDTH and a[0] != "s" and b[0] != "s" and bits(a) < bits(b),
    "trunci": lambda a, b: a not in WIDTH and b not in WIDTH and bits(a) > bits(b),
}  # fmt: skip


def bits(integer: str) -> int:
    return int(integer.lstrip("sui"))


@pytest.mark.parametrize("name", DIRECTIONS)
def test_conversions_of_one_direction(name: str) -> None:
    for a, b in product(ELEMENTS, repeat=2):
        wanted = contract(a, b) if DIRECTIONS[name](a, b) else None
        stated = ' {saturate = "NOSAT"}' if wanted is not None and wanted[1] else ""
        text = f"%r = pto.vmi.{name} %v{stated} : !pto.vmi.vreg<64x{a}> -> !pto.vmi.vreg<64x{b}>"
        found = findings(text, "a5")
        assert (not {"vmi-cvt", "operand-kind", "result-kind"} & set(found)) == (wanted is not None), (text, found)


# --- pushes that convert ----------------------------------------------------------------------------------

FP8 = "f8E4M3 f8E4M3FN f8E4M3FNUZ f8E4M3B11FNUZ"
PUSHES = """
no_convert           | f32 i32 | f32 i32  | none
f32_f16              | f32     | f16      | none
f32_bf16             | f32     | bf16     | none
req8_scalar          | i32     | si8 ui8  | scalar
req8_vec             | i32     | si8      | vector
deqf16_scalar        | i32     | f16      | scalar
deqf16_vec           | i32     | f16      | vector
qf322b8_pre_scalar   | f32     | si8 ui8  | scalar
qf322b8_pre_vec      | f32     | si8      | vector
qf322f16_pre_scalar  | f32     | f16      | scalar
qf322bf16_pre_scalar | f32     | bf16     | scalar
qs322bf16_pre_scalar | i32     | bf16     | scalar
qs322bf16_pre_vec    | i32     | bf16     | vector
qf322hif8_pre_scalar | f32     | hif8     | scalar
qf322fp8_pre_scalar  | f32     | {FP8}    | scalar
"""
"""Conversion, elements of the accumulator, elements of an entry, what sets the scale."""


def test_conversions_of_pushes() -> None:
    rows = [[part.strip() for part in line.split("|")] for line in PUSHES.format(FP8=FP8).strip().splitlines()]
    wanted = {name: (set(a.split()), set(b.split()), scale.replace("none", "")) for name, a, b, scale in rows}
    assert {n: (set(c.sources), set(c.results), c.scale) for n, c in QUANTS.items()} == wanted
    assert [name for name, conversion in QUANTS.items() if conversion.keeps] == ["no_convert"]
