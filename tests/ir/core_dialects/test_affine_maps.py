"""Texts of affine maps and sets: names, results, what is not affine; layouts with products by symbols."""

import pytest

from pto_dialect.ir.core_dialects.affine_maps import affine_text
from pto_dialect.syntax.types.parser import TypeSyntaxError, parse_type


def test_a_map() -> None:
    found = affine_text("affine_map<(d0, d1)[s0] -> (d0 + s0 * 2, d1 floordiv 4, 7)>")
    assert found is not None
    assert (found.dims, found.symbols, found.inputs) == (("d0", "d1"), ("s0",), 3)
    assert [(r.dimensional, r.symbolic) for r in found.results] == [(True, True), (True, False), (False, False)]
    assert not found.permutation


def test_a_set() -> None:
    found = affine_text("affine_set<(i)[n] : (i - n >= 0, i == 4, 2 * i <= n)>")
    assert found is not None and len(found.results) == 3 and found.inputs == 2


@pytest.mark.parametrize(
    ("text", "wanted"), [("(a, b) -> (b, a)", True), ("(a, b) -> (a, a)", False), ("(a)[s] -> (a)", False)]
)
def test_permutations(text: str, wanted: bool) -> None:
    found = affine_text(f"affine_map<{text}>")
    assert found is not None and found.permutation is wanted


@pytest.mark.parametrize(
    "body",
    ["(a, b) -> (a * b)", "(a, b) -> (a mod b)", "(a) -> (b)", "(a, a) -> (a)", "(a) -> (a", "(a) -> (a +)",
     "(a) : (a)", "(a) -> (a >= 0)", "(a) -> (2 floordiv a)", "(a) -> (a) (a)", "(a) -> (a ? 1)"],
)  # fmt: skip
def test_what_is_no_map(body: str) -> None:
    assert affine_text(f"affine_map<{body}>") is None


def test_layouts_with_products_by_symbols() -> None:
    text = "memref<?x4xf32, affine_map<(d0, d1)[s0] -> (d1 * s0 + d0)>>"
    assert "s0" in str(parse_type(text))
    with pytest.raises(TypeSyntaxError):
        parse_type("memref<?x4xf32, affine_map<(d0, d1)[s0] -> (d1 * d0)>>")
