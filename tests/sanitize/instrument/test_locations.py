"""Records for each cell and for places: watching finds the same with both."""

import numpy as np
import pytest
from faulty_kernels import kernels
from groups import in_groups
from instrumented_report import words
from overlapping_programs import overlapping
from sampling import sampled
from sanitize_programs import instrumented

from pto_dialect.sanitize.state import shadow
from pto_dialect.sanitize.state.regions import Elements, Region
from pto_dialect.sanitize.state.shadow import Shadow

KERNELS = {kernel.id: kernel for kernel in kernels()}
_FEW = 6
"""So few places that the programs go over to single cells on their way."""


@pytest.mark.parametrize("limit", [0, _FEW])
@pytest.mark.parametrize("group", range(10))
def test_generated_programs(group: int, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in sampled(range(group, 320, 20 if limit else 10), 3):
        program = overlapping(seed)

        def said() -> list[str]:
            kernel = instrumented(program.text, sync=program.sync, verify=False)  # noqa: B023
            return words(kernel, program.values(), program.blocks)  # noqa: B023

        with monkeypatch.context() as patch:
            patch.setattr(shadow, "MAX_RANGES", limit)
            reference = said()
        assert said() == reference, f"seed {seed}"


@pytest.mark.parametrize("name", KERNELS)
def test_incorrect_kernels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = KERNELS[name]

    def said() -> list[str]:
        return words(instrumented(kernel.text, sync="strict", verify=False), kernel.values(), kernel.blocks)

    with monkeypatch.context() as patch:
        patch.setattr(shadow, "MAX_RANGES", 0)
        reference = said()
    assert said() == reference


def test_generated_programs_find_much() -> None:
    found = [len(watched_findings(seed)) for seed in range(40)]
    assert sum(found) > 200 and min(found) == 0


def watched_findings(seed: int) -> list[str]:
    program = overlapping(seed)
    kernel = instrumented(program.text, sync=program.sync, verify=False)
    kernel.run(program.values(), program.blocks)
    return [finding.rule for finding in kernel.observer.findings.all]


# ------------------------------------------------------------ the memory itself


def regions(rng: np.random.Generator) -> Region | Elements:
    """Any region of a memory of 2,048 bytes."""
    item = int(rng.choice([1, 2, 4, 32]))
    if rng.random() < 0.2:
        return Elements(rng.integers(0, 2048 // item, rng.integers(1, 6)) * item, item)
    run = item * int(rng.integers(1, 9))
    dims = ((int(rng.integers(1, 4)), item * int(rng.integers(1, 12))),) if rng.random() < 0.6 else ()
    stop = run + sum((count - 1) * stride for count, stride in dims)
    return Region(item * int(rng.integers(0, (2048 - stop) // item + 1)), run, dims)


@in_groups("seed", range(30))
def test_every_byte_is_remembered(seed: int) -> None:
    """Writers of single bytes, kept separate, are those of the addresses."""
    rng = np.random.default_rng(seed)
    memory, writers = Shadow(2048), np.zeros(2048, np.int64)
    for event in range(1, 60):
        region = regions(rng)
        places = memory.locate(region)
        assert places is not None
        expected = writers[region.offsets()]
        assert sorted({place.writer for place in places}) == sorted(set(expected.tolist()))
        for place in places:
            mine = [other for other in places if other.writer == place.writer]
            offsets = region.offsets()[expected == place.writer]
            assert np.array_equal(memory.bytes_of(region, mine), offsets)
            runs = memory.runs_of(region, mine)
            assert np.array_equal(np.concatenate([np.arange(*run) for run in runs]), np.unique(offsets))
        if rng.random() < 0.7:
            for place in places:
                place.writer = event
            writers[region.offsets()] = event


def test_locations_are_bounded() -> None:
    memory = Shadow(1 << 16)
    kept = 0
    for start in range(0, 1 << 16, 32):
        places = memory.locate(Region(start, 32))
        if places is not None:
            places[0].writer = start + 1
            places[0].readers[3] = start + 2
            kept += 1
    assert kept == shadow.MAX_RANGES - 1 and memory.spread
    cells = memory.layer(shadow.WRITER)
    assert cells.tolist()[:4] == [1, 33, 65, 97] and memory.reader(3).tolist()[:2] == [2, 34]
    assert not cells[kept:].any()


def test_many_single_elements_have_a_record_for_each_cell() -> None:
    memory = Shadow(4096)
    assert memory.locate(Elements(np.arange(0, 64, 4), 4)) is not None
    assert memory.locate(Elements(np.arange(0, 2048, 8), 4)) is None
