"""Products of one row, with scales, with tables and of batches in other tiles: the same bits in every order.

Source: docs/reference/numerics.md, "Matrix products"; docs/reference/layouts.md, "MX scales".
"""

from __future__ import annotations

import random

import pytest
from cube_programs import CONTENT, SCHEDULES, copies, passed, run
from plain_families import Kind
from plain_products import Plain

from pto_dialect import parse, print_module
from pto_dialect.api import check
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

MX = "f8E4M3FN"
CASES = [
    (Kind("tgemv", m=1, tiles=(1, 4, 4), bias=True), "columns=64 panel=64"),
    (Kind("tgemv", m=1, tiles=(2, 3, 3), target="a2a3"), "columns=64 panel=64"),
    (Kind("tmatmul.mx", m=32, n=64, k=64, tiles=(2, 3, 4), element=MX), "rows=32 columns=64 panel=128"),
    (Kind("tmatmul.mx", m=32, n=64, k=64, tiles=(2, 3, 3), element=MX, bias=True), "rows=64 columns=128 panel=128"),
    (Kind("tgemv.mx", m=1, n=64, k=64, tiles=(1, 3, 3), element=MX), "columns=128 panel=128"),
    (Kind(m=32, k=32, element="i8", out="f16", table=True), "rows=32 columns=64 panel=32"),
    (Kind(batch=3), "rows=16 columns=32 panel=32"),
    (Kind(batch=3), "rows=16 columns=64 panel=32"),
    (Kind(batch=3, by="pointer", target="a2a3"), "rows=16 columns=48 panel=32"),
    (Kind(batch=5, by="blocks", bias=True), "rows=16 columns=96 panel=32"),
]


def random_case(seed: int) -> tuple[Kind, str]:
    """A product of some kind with sizes of tiles."""
    rng = random.Random(seed)
    target = rng.choice(("a2a3", "a5"))
    kind = rng.choice(("tmatmul", "tgemv", *(("tmatmul.mx", "tgemv.mx") if target == "a5" else ())))
    mx, row = kind.endswith(".mx"), kind.startswith("tgemv")
    tiles = (1 if row else rng.randint(1, 3), rng.randint(1, 4), rng.randint(1, 4))
    unit = 64 if mx else 32
    one = Kind(kind, m=1 if row else 32 if mx else 16, n=unit, k=unit, tiles=tiles, element=MX if mx else "f16",
               bias=rng.random() < 0.5, batch=rng.choice((0, 0, 1, 2, 3)), by=rng.choice(("view", "pointer", "blocks")),
               target=target)  # fmt: skip
    one = one if one.batch else Kind(**{**vars(one), "by": "view"})
    rows = "" if row else f"rows={rng.choice((16, 32, 64))} "
    return one, f"{rows}columns={rng.choice((32, 64, 128))} panel={rng.choice((64, 128, 256))}"


CASES += [random_case(seed) for seed in range(8)]


@pytest.mark.parametrize(("kind", "sizes"), CASES, ids=[f"{number}" for number in range(len(CASES))])
def test_the_results_are_the_same_bits(kind: Kind, sizes: str) -> None:
    arrays = kind.arrays()
    before, _ = passed(str(kind), "assign-memory", "insert-sync")
    expected = run(before, arrays)
    after, said = passed(str(kind), f"tile-cube{{{sizes}}}", "assign-memory", "insert-sync")
    assert not said
    text = print_module(after)
    assert "pto.textract" in text or (kind.tiles == (1, 1, 1) and not kind.batch)
    verdict = check(text)
    assert not [one for one in verdict.diagnostics if one.severity is Severity.ERROR], f"{verdict}\n{text}"
    again = parse(text, "tiled.pto")
    for schedule in SCHEDULES:
        assert run(again, arrays, schedule)["c"].tobytes() == expected["c"].tobytes(), f"{schedule}\n{text}"
    instrumented = InstrumentedKernel(again, None, None, RunOptions(), SanitizeOptions(sync="strict"))
    instrumented.run(copies(arrays), 1)
    assert not [one.rule for one in instrumented.observer.findings.all if one.rule not in CONTENT], text
    assert expected["c"].tobytes() != arrays["c"].tobytes()


@pytest.mark.parametrize("passes", ["assign-memory insert-sync", "double-buffer assign-memory insert-sync"])
@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        (Kind("tgemv", m=1, n=64, k=64, tiles=(1, 4, 8)), ""),
        (Kind("tgemv", m=1, n=64, k=64, tiles=(1, 3, 5), bias=True), "{panel=64}"),
        (Kind("tgemv", m=1, n=32, k=40, tiles=(1, 2, 25), element="f32"), ""),
        (Kind("tgemv", m=1, n=64, k=96, tiles=(1, 2, 11), element="i8", out="i32"), "{panel=128}"),
        (Kind("tgemv", m=1, n=64, k=32, tiles=(1, 1, 1)), ""),
        (Kind("tgemv.mx", m=1, n=64, k=64, tiles=(1, 3, 20), element=MX), "{panel=512}"),
        (Kind("tgemv.mx", m=1, n=64, k=64, tiles=(1, 2, 40), element=MX, bias=True), "{panel=512 columns=64}"),
    ],
)
def test_instructions_of_one_row_stay_in_their_tiles(kind: Kind, sizes: str, passes: str) -> None:
    """Loads of one row into L0A move whole blocks of 512 bytes, which the tiles of the pass have."""
    arrays = kind.arrays()
    before, _ = passed(str(kind), "assign-memory", "insert-sync")
    after, said = passed(str(kind), f"tile-cube{sizes}", *passes.split(), "lower-cube")
    assert not [one for one in said if "double-buffer" not in one and "insert-sync" not in one]
    assert "pto.mte_l1_l0a" in print_module(after)
    for schedule in SCHEDULES:
        assert run(after, arrays, schedule)["c"].tobytes() == run(before, arrays)["c"].tobytes(), schedule
    instrumented = InstrumentedKernel(after, None, None, RunOptions(), SanitizeOptions(sync="strict"))
    instrumented.run(copies(arrays), 1)
    assert not [str(one) for one in instrumented.observer.findings.all], print_module(after)


SHARED = [
    (Plain(50, 100, 70), "rows=16 columns=32 panel=32", (1, 4, 7)),
    (Kind(batch=3, bias=True), "rows=16 columns=96 panel=32", (2,)),
    (Kind("tmatmul.mx", m=32, n=64, k=64, tiles=(2, 3, 3), element=MX), "rows=32 columns=64 panel=128", (4,)),
]


@pytest.mark.parametrize(("kind", "sizes", "launches"), SHARED, ids=["edges", "batch", "scales"])
def test_blocks_of_a_launch_share_a_product(kind: Plain | Kind, sizes: str, launches: tuple[int, ...]) -> None:
    arrays = kind.arrays()
    expected = run(passed(str(kind), "assign-memory", "insert-sync")[0], arrays)["c"].tobytes()
    after, said = passed(str(kind), f"tile-cube{{{sizes} blocks=4}}", "assign-memory", "insert-sync")
    assert not said
    for blocks in launches:
        values = copies(arrays)
        instrumented = InstrumentedKernel(after, None, None, RunOptions(accumulate="exact"), SanitizeOptions())
        instrumented.run(values, blocks)
        assert not [one.rule for one in instrumented.observer.findings.all if one.rule not in CONTENT]
        assert values[-1].tobytes() == expected


def test_blocks_of_a_launch_share_a_batch() -> None:
    kind = Kind(batch=3, by="blocks")
    usual = ("assign-memory", "insert-sync")
    before, _ = passed(str(kind), *usual)
    after, _ = passed(str(kind), "tile-cube{rows=16 columns=96 panel=32}", *usual)
    assert "scf.for %g" not in print_module(after)
    arrays = kind.arrays()
    found = [run(module, arrays, blocks=2)["c"].tobytes() for module in (before, after)]
    assert found[0] == found[1] != arrays["c"].tobytes()
