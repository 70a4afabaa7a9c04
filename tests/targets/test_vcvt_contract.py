"""The vcvt contract against the shorthand of the language page: r rounding, s saturation, p2/p4 parts."""

from __future__ import annotations

from groups import in_groups

from pto_dialect.targets.vcvt_contract import VCVT_CONTRACT, vcvt_clauses

SHORTHAND = {
    "f32": "e4m3: r(RAHZ) s p4; e5m2: r(RAHZ) s p4; hif8: r(AH) s p4; f16: r s p2; bf16: r s p2; "
    "i16: r s p2; i64: r s p2; i32: r s",
    "f16": "e4m3: r(RAFZC) s p2; e5m2: r(RAFZC) s p2; hif8: r(AH) s p2; f32: p2; i32: r p2; i16: r s; "
    "i8: r s p2; ui8: r s p2",
    "bf16": "e4m3: r(RAFZC) s p2; e5m2: r(RAFZC) s p2; e1m2: r(RAFCZ) p4; e2m1: r(RAFCZ) p4; f16: r s; "
    "f32: p2; i32: r s p2",
    "ui8": "f16: p2; ui16: p2; ui32: p4",
    "i8": "f16: p2; i16: p2; i32: p4",
    "ui16": "ui8: s p2; ui32: p2",
    "i16": "f16: r; f32: p2; ui32: p2; i32: p2; ui8: s p2",
    "ui32": "ui8: s p4; ui16: s p2; i16: s p2",
    "i32": "f32: r; ui8: s p4; ui16: s p2; i16: s p2; i64: p2",
    "i64": "f32: r p2; i32: s p2",
    "e4m3": "f32: p4",
    "e5m2": "f32: p4",
    "hif8": "f32: p4",
    "e1m2": "bf16: p4",
    "e2m1": "bf16: p4",
}
FULL_NAME = {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "e1m2": "f4E1M2x2", "e2m1": "f4E2M1x2"}
PAIRS = [
    (FULL_NAME.get(src, src), FULL_NAME.get(dst, dst), clauses.split())
    for src, row in SHORTHAND.items()
    for dst, _, clauses in (item.strip().partition(":") for item in row.split(";"))
]


@in_groups(("src", "dst", "clauses"), PAIRS)
def test_clauses(src: str, dst: str, clauses: list[str]) -> None:
    found = vcvt_clauses(src, dst)
    assert found is not None
    rounding = next((c[2:-1] if "(" in c else "RAFCZO" for c in clauses if c[0] == "r"), "")
    parts = {"p2": ("EVEN", "ODD"), "p4": ("P0", "P1", "P2", "P3")}
    assert set(found.rounding) == set(rounding)
    assert found.saturation == ("s" in clauses)
    assert found.parts == next((parts[c] for c in clauses if c[0] == "p"), ())


def test_no_other_conversion_exists() -> None:
    assert set(VCVT_CONTRACT) == {(src, dst) for src, dst, _ in PAIRS}
    assert vcvt_clauses("f32", "ui32") is None
    assert vcvt_clauses("i8", "ui8") is None
    assert vcvt_clauses("f32", "f32") is None


def test_signed_spelling_counts_as_signless_and_unsigned_does_not() -> None:
    assert vcvt_clauses("si16", "f16") == vcvt_clauses("i16", "f16") is not None
    assert vcvt_clauses("f32", "si32") == vcvt_clauses("f32", "i32") is not None
    assert vcvt_clauses("ui16", "f16") is None


def test_number_of_parts_is_the_ratio_of_the_widths() -> None:
    bits = {"f8E4M3FN": 8, "f8E5M2": 8, "hif8": 8, "f4E1M2x2": 4, "f4E2M1x2": 4, "bf16": 16}
    for (src, dst), clauses in VCVT_CONTRACT.items():
        widths = sorted(bits.get(t) or int(t.lstrip("bfui")) for t in (src, dst))
        assert len(clauses.parts) == {1: 0, 2: 2, 4: 4}[widths[1] // widths[0]], (src, dst)
