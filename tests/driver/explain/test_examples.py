"""Every operation has an example, which says nothing wrong and runs."""

import re
from pathlib import Path

import pytest

from pto_dialect.driver.explain import examples
from pto_dialect.driver.explain.examples import example_of
from pto_dialect.driver.explain.running import run
from pto_dialect.driver.explain.wrong import wrong
from pto_dialect.ir.core.aliases import DEPRECATED
from pto_dialect.ir.core.index import OPS
from pto_dialect.runtime.kernels.refusals import reason

LIKE_OTHERS = {
    "pto.tsub": "pto.tsub ins(%src0, %src1 : !pto.tile_buf<vec, 8x64xf32>, !pto.tile_buf<vec, 8x64xf32>)",
    "pto.tor": "pto.tor ins(%src0, %src1 : !pto.tile_buf<vec, 8x64xi32>, !pto.tile_buf<vec, 8x64xi32>)",
    "pto.vexp": "%exp = pto.vexp %input, %r : !pto.vreg<64xf32>, !pto.mask<b32> -> !pto.vreg<64xf32>",
}
"""A line of examples that nobody wrote: that of the first operation declared in the same way that takes the same
types."""
STOPS = {"pto.trap"}
"""Operations that end a run."""
FAMILIES = sorted({family for family, _, _ in OPS.values()})


def of_family(family: str) -> list[str]:
    return [name for name in OPS if OPS[name][0] == family]


def test_families_hold_every_operation() -> None:
    assert sorted(name for family in FAMILIES for name in of_family(family)) == sorted(OPS)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_example_is_verified_and_run(family: str) -> None:
    for name in of_family(family):
        example = example_of(name)
        assert re.search(rf"{re.escape(name)}(?![\w.])", example.program), name
        ran = run(example)
        assert {finding.rule for finding in ran.findings} <= ({"op-deprecated"} if name in DEPRECATED else set()), name
        assert bool(ran.refused) == (reason(name) is not None or name in STOPS), (name, ran.refused)


@pytest.mark.parametrize("name", LIKE_OTHERS)
def test_an_operation_without_an_entry_has_that_of_an_equal_declaration(name: str) -> None:
    folder = Path(examples.__file__).parent / "examples"
    assert not any(f"## {name} " in path.read_text(encoding="utf-8") for path in folder.glob("*/*.txt"))
    assert LIKE_OTHERS[name] in example_of(name).text.split("\n")


def test_an_operation_that_no_other_is_like_needs_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    tmov = example_of("pto.tmov")
    monkeypatch.setattr(examples, "_of_module", lambda module: {"pto.tmov": tmov})
    with pytest.raises(KeyError, match=r"pto\.tload"):
        examples.example_of.__wrapped__("pto.tload")


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("pto.tadd", "2 4 6 8 10 7 9 11 .. | 7 4 6 8 10 12 9 11 .. | .."),
        ("pto.trowmax", "9 9 9 9 9 9 9 9"),
        ("pto.vadd", "2 4 6 8 10 7 9 11 .."),
        ("pto.partition_view", "[512] 10 2 3 4 5 6 7 8 .."),
        ("pto.get_tid_x", "0 1 2 3 4 5 6 7 .."),
        ("pto.struct_get", "7"),
    ],
)
def test_a_run_shows_its_results(name: str, row: str) -> None:
    rows = run(example_of(name)).rows
    assert [one.elements for one in rows if one.way == "out"] == [row]


def test_what_is_printed_is_shown_in_short() -> None:
    lines = run(example_of("pto.tprint")).printed.split("\n")
    assert lines[0] == "TPRINT 32x32" and lines[-1] == ".." and len(lines) == 7


@pytest.mark.parametrize("name", list(OPS)[::20])
def test_a_mistake_is_an_error(name: str) -> None:
    found = wrong(example_of(name))
    assert found is not None and found.message.startswith("error: ") and found.statement
