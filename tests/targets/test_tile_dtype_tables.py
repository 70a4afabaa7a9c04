"""Element-type tables against the same facts stated the other way round: operations per element type."""

from __future__ import annotations

import pytest

from pto_dialect.targets.choice import get_profile
from pto_dialect.targets.element_types import LOW_PRECISION, row_admits, signless


def words(text: str) -> set[str]:
    return set(text.split())


FLOAT_ONLY = words("""
    tabs texp tlog tsqrt trsqrt trecip tprelu tlrelu tcolexpandexpdif trowexpandexpdif tsort32
    tmrgsort
""")
BITWISE_TILES = words("tand tor txor")
BITWISE_SCALARS = words("tands tors txors")
BITWISE = BITWISE_TILES | BITWISE_SCALARS
FILLPAD = words("tfillpad tfillpad_expand tfillpad_inplace")
TABLE_ACCESS = {"mgather", "mscatter"}
SHIFTS = words("tshl tshr tshls tshrs")
EXPAND_DIV = {"tcolexpanddiv", "trowexpanddiv"}
EXPAND_ARITH = {f"{way}expand{op}" for way in ("tcol", "trow") for op in ("add", "sub", "mul", "max", "min")}
FULL_EVERYWHERE = words("""
    tcolexpand trowexpand tcolargmax tcolargmin tconcat tconcatidx ttrans tgatherb
    tscatter[index] tscatter[mask] tfillpad tfillpad_expand tfillpad_inplace tmov[vec->vec]
    tload tprefetch tstore[vec]
""")
A5_GAINS_I8_BF16 = words("""
    tadd tmin tneg tadds tsubs tmuls tmins tmaxs tcolsum tcolmax tcolmin tpartadd tpartmul
    tpartmax tpartmin tpartargmax tpartargmin ttri
""")
A5_GAINS_I8 = words("tsub tmax tdivs tcmps tsels tgather[index]") | EXPAND_ARITH
SAME_BASIC = words("tmul tfmod tfmods trowsum trowmax trowmin trowprod trowargmax trowargmin")
HIGH_PRECISION = {"tpow[high_precision]", "tpows[high_precision]"}
A5_ONLY = {"thistogram", "trandom", "tquant.mx", "tmov[zz]", "tinsert[vec->mat]"}
A5_ONLY |= HIGH_PRECISION
A2A3_ONLY = {"tstore[mat]", "taddrelu"}

ALL_KEYS = (
    FLOAT_ONLY
    | BITWISE
    | SHIFTS
    | EXPAND_DIV
    | FULL_EVERYWHERE
    | A5_GAINS_I8_BF16
    | A5_GAINS_I8
    | SAME_BASIC
    | A5_ONLY
    | A2A3_ONLY
    | TABLE_ACCESS
    | words("trelu tdiv tnot trem trems taxpy tcmp tsel texpands tcolprod tci tpow tpows tprint")
    | words("tquant tdequant tgather[mask] tgather[compare] tstore[acc] textract tinsert[vec->vec]")
)

MOVED_NARROW = FILLPAD | words("tload tprefetch tstore[vec] tmov[vec->vec] textract")

# (profile, element type) -> exactly the operations that accept it
ACCEPTING = {
    ("a2a3", "i8"): (BITWISE | SHIFTS | FULL_EVERYWHERE | TABLE_ACCESS) - {"tshrs"}
    | {"tstore[mat]", "textract", "tinsert[vec->vec]", "tdequant", "tpow", "tpows", "tprint"},
    ("a2a3", "bf16"): FULL_EVERYWHERE
    | TABLE_ACCESS
    | {"tsel", "texpands", "tgather[mask]", "textract", "tinsert[vec->vec]", "tstore[mat]"},
    ("a2a3", "i64"): {"tmov[vec->vec]", "tload", "tprefetch", "tstore[vec]", "tstore[mat]", "tshls"},
    ("a5", "i8"): BITWISE
    | SHIFTS
    | FULL_EVERYWHERE
    | A5_GAINS_I8
    | A5_GAINS_I8_BF16
    | EXPAND_DIV
    | {"tnot", "tcmp", "tsel", "texpands", "tgather[mask]", "textract", "tinsert[vec->vec]"}
    | {"tinsert[vec->mat]", "tdequant", "mgather", "mscatter", "tpow", "tpows", "tprint"},
    ("a5", "bf16"): FULL_EVERYWHERE
    | A5_GAINS_I8_BF16
    | HIGH_PRECISION
    | {"taxpy", "tcmp", "tsel", "texpands", "tgather[mask]", "tcolprod", "textract", "tinsert[vec->vec]"}
    | {"tinsert[vec->mat]", "mgather", "mscatter", "tquant.mx"},
    ("a5", "i64"): {"tmov[vec->vec]", "tload", "tprefetch", "tstore[vec]", "tshls"},
    ("a2a3", "f8E5M2"): FILLPAD,
    ("a2a3", "f8E8M0"): FILLPAD,
    ("a5", "f8E5M2"): MOVED_NARROW
    | {"tinsert[vec->vec]", "tinsert[vec->mat]", "tgather[index]", "tgather[mask]"}
    | TABLE_ACCESS,
    ("a5", "hif8"): MOVED_NARROW | {"tinsert[vec->vec]", "tgather[index]", "tgather[mask]", "tmov[zz]"} | TABLE_ACCESS,
    ("a5", "f4E2M1x2"): MOVED_NARROW | {"tinsert[vec->vec]"},
    ("a5", "f8E8M0"): MOVED_NARROW | {"tmov[zz]"},
}

NO_FLOAT = BITWISE | SHIFTS | {"tnot", "tci", "tdequant"}
NOT_A5_PLAIN = {"tmov[zz]"} | A2A3_ONLY

# (profile, element type) -> exactly the operations that refuse it
REFUSING = {
    ("a2a3", "f32"): NO_FLOAT | A5_ONLY,
    ("a2a3", "f16"): NO_FLOAT | A5_ONLY | {"trem", "trems", "tstore[acc]", "tquant", "tpow", "tpows"},
    ("a2a3", "i32"): FLOAT_ONLY
    | BITWISE_SCALARS
    | EXPAND_DIV
    | A5_ONLY
    | {"tdiv", "taxpy", "tnot", "textract", "tinsert[vec->vec]", "tquant", "tdequant", "taddrelu"},
    ("a2a3", "i16"): FLOAT_ONLY
    | EXPAND_DIV
    | A5_ONLY
    | {"tdiv", "taxpy", "trelu", "trem", "trems", "tcmp", "tgather[compare]", "textract"}
    | {"tinsert[vec->vec]", "tstore[acc]", "tquant"},
    ("a5", "f32"): NO_FLOAT | NOT_A5_PLAIN | {"trandom", "thistogram"},
    ("a5", "f16"): NO_FLOAT | NOT_A5_PLAIN | {"trandom", "thistogram", "tstore[acc]", "tquant"},
    ("a5", "i32"): FLOAT_ONLY
    | HIGH_PRECISION
    | NOT_A5_PLAIN
    | {"taxpy", "textract", "tquant", "tquant.mx", "tdequant"},
    ("a5", "i16"): FLOAT_ONLY
    | HIGH_PRECISION
    | NOT_A5_PLAIN
    | {"taxpy", "trelu", "textract", "tinsert[vec->vec]", "tinsert[vec->mat]", "tstore[acc]", "tquant"}
    | {"tquant.mx", "trandom"},
}


def accepting(profile: str, elem: str) -> set[str]:
    target = get_profile(profile)
    return {op for op in ALL_KEYS if target.dtype_allowed(op, elem)}


@pytest.mark.parametrize("profile", ["a2a3", "a5", "cpu-sim"])
def test_table_has_exactly_the_known_operations(profile: str) -> None:
    assert set(get_profile(profile).tile_dtypes) == ALL_KEYS


@pytest.mark.parametrize(("profile", "elem"), ACCEPTING)
def test_operations_that_accept_a_type(profile: str, elem: str) -> None:
    assert accepting(profile, elem) == ACCEPTING[profile, elem]


@pytest.mark.parametrize(("profile", "elem"), REFUSING)
def test_operations_that_refuse_a_type(profile: str, elem: str) -> None:
    assert ALL_KEYS - accepting(profile, elem) == REFUSING[profile, elem]


@pytest.mark.parametrize("elem", ["f8E4M3FN", "f8E4M3", "f8E5M2", "hif8", "f4E1M2x2", "f4E2M1x2", "f8E8M0"])
def test_only_padding_admits_low_precision_on_a2a3(elem: str) -> None:
    assert accepting("a2a3", elem) == FILLPAD


@pytest.mark.parametrize("pair", [("f8E4M3FN", "f8E5M2"), ("f4E1M2x2", "f4E2M1x2"), ("f8E4M3", "f8E4M3FN")])
def test_formats_of_one_family_are_all_accepted(pair: tuple[str, str]) -> None:
    assert accepting("a5", pair[0]) == accepting("a5", pair[1])


@pytest.mark.parametrize("elem", ["f64", "index", "i1", "i4", "i128", "hif8x2", "bf16x2", "", "ui", "si"])
def test_types_no_tile_operation_takes(elem: str) -> None:
    for profile in ("a2a3", "a5"):
        assert accepting(profile, elem) == set()


def test_a5_rows_contain_the_a2a3_rows() -> None:
    a2a3, a5 = get_profile("a2a3").tile_dtypes, get_profile("a5").tile_dtypes
    shrinking = {op for op in ALL_KEYS if not a2a3[op] <= a5[op]}
    assert shrinking == A2A3_ONLY
    assert {op for op in ALL_KEYS if not a5[op]} == A2A3_ONLY
    assert {op for op in ALL_KEYS if not a2a3[op]} == A5_ONLY


@pytest.mark.parametrize("profile", ["a2a3", "a5"])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_any_sign_is_admitted_except_by_signless_and_signed_rows(profile: str, bits: int) -> None:
    target = get_profile(profile)
    for op in ALL_KEYS - {"tconcatidx", "tmov[zz]"}:
        answers = {target.dtype_allowed(op, f"{sign}i{bits}") for sign in ("", "s", "u")}
        assert len(answers) == 1, op
    assert not target.dtype_allowed("tconcatidx", f"si{bits}")
    assert not target.dtype_allowed("tconcatidx", f"ui{bits}")


def test_rows_that_name_a_sign() -> None:
    a5 = get_profile("a5")
    assert [e for e in ("i16", "si16", "ui16", "i32", "ui32", "ui8") if a5.dtype_allowed("thistogram", e)] == [
        "i16",
        "si16",
        "ui16",
        "i32",
        "ui32",
    ]
    assert [e for e in ("i8", "si8", "ui8") if a5.dtype_allowed("tmov[zz]", e)] == ["ui8"]
    assert [e for e in ("i8", "i16", "i32", "i64") if a5.dtype_allowed("tci", e)] == ["i16", "i32"]


def test_operation_without_a_row_is_not_restricted() -> None:
    a5 = get_profile("a5")
    assert "tcvt" not in a5.tile_dtypes
    assert a5.dtype_allowed("tcvt", "hif8")


def test_unavailable_operation_accepts_nothing() -> None:
    assert not get_profile("a2a3").dtype_allowed("trandom", "i32")
    assert not get_profile("a5").dtype_allowed("taddrelu", "f32")


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [("ui8", "i8"), ("si16", "i16"), ("i32", "i32"), ("f16", "f16"), ("sin", "sin"), ("ui", "ui"), ("", "")],
)
def test_signless(spelling: str, expected: str) -> None:
    assert signless(spelling) == expected


def test_row_admits_with_literal_signs() -> None:
    assert row_admits({"i8"}, "ui8")
    assert not row_admits({"i8"}, "ui8", any_sign=False)
    assert not row_admits({"ui8"}, "i8")
    assert not row_admits({"ui8"}, "si8")


def test_low_precision_set() -> None:
    assert {"f8E4M3FN", "f8E4M3", "f8E5M2", "hif8", "hif8x2"} <= LOW_PRECISION
    assert {"f4E1M2x2", "f4E2M1x2", "f8E8M0", "bf16x2"} <= LOW_PRECISION
    assert not LOW_PRECISION & {"f16", "bf16", "f32", "f64", "i8", "i4"}
