"""Attributes with the prefix of the dialect that it does not know.

Source: docs/reference/language.md, "Discardable attributes".
"""

import pytest

from pto_dialect.api import check

PROGRAM = """module attributes {{pto.target_arch = "a5"{module}}} {{
  func.func @f() attributes {{pto.kernel{function}}} {{
    return
  }}
}}
"""
PLACES = {"module": "a module", "function": "a function"}


def said(place: str, attribute: str) -> list[str]:
    given = {name: f", {attribute}" if name == place else "" for name in PLACES}
    return [one.message for one in check(PROGRAM.format(**given)).diagnostics if one.rule == "attr-unknown"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["pto.targetarch", "pto.kernels", "pto.ptodsl", "pto.x.y"])
def test_unknown_names_are_reported(place: str, name: str) -> None:
    assert said(place, f"{name} = 1 : i32") == [f"attribute {name} of {PLACES[place]} is not known"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["other.name", "plain", "pto.ptodsl.anything", "ptodsl.x", "pto.entry"])
def test_names_of_others_and_known_ones_are_not(place: str, name: str) -> None:
    assert said(place, name) == []
