"""What is reported of content that another tile has replaced."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.sanitize.instrument import tiles as module
from pto_dialect.sanitize.instrument.observer import RunObserver
from pto_dialect.sanitize.instrument.tiles import Allocation
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.report.findings import Finding
from pto_dialect.sanitize.state.arena import InstrumentedArena


class Run:
    """Tiles %a and %b of a memory of 1024 bytes, and reads of %a by operations of which there are nine."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, first: tuple[int, int], second: tuple[int, int]) -> None:
        monkeypatch.setattr(module, "operation_text", lambda site, loops, thread: f"{site.name} there")
        self.observer = RunObserver(SanitizeOptions(), False)
        self.arena = InstrumentedArena(Arena("ub", 1024), self.observer, np.zeros(1024, np.uint8))
        sites: Any = {n: SimpleNamespace(number=n, name=f"op{n}", span=None, op=f"text{n}") for n in range(20)}
        self.observer.sites = sites
        tiles = self.observer.tiles
        assert tiles is not None
        self.tiles = tiles
        for name, number, (start, stop) in (("%a", 1, first), ("%b", 2, second)):
            tiles.by_number.append(Allocation(number, sites[10 + number], self.arena, start, stop, name))

    def read(self, site: int, handles: Any = (), renewed: bool = True) -> Finding | None:
        context: Any = SimpleNamespace(
            mark=SimpleNamespace(site=site, loops=()), thread=None, event=site, handles=handles
        )
        _, mine, _ = self.tiles.by_number
        assert mine is not None
        before = len(self.observer.findings.all)
        self.tiles._lost(context, mine, 2, lambda: [(128, 256)], self.arena, renewed)
        return self.observer.findings.all[before] if len(self.observer.findings.all) > before else None


@pytest.mark.parametrize(("site", "told"), [(4, False), (5, False), (6, True)])
def test_what_is_renewed_in_a_loop_is_not_lost(site: int, told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """An operation 5 makes the next content of %b of %a: what is before it reads that in the next iteration."""
    run = Run(monkeypatch, (0, 256), (128, 384))
    run.tiles.renewed[1, 2] = 5
    assert (run.read(site) is not None) == told


@pytest.mark.parametrize("site", [4, 5, 6])
def test_what_another_instance_has_overwritten_is_lost(site: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Operation 5 once made %b of %a; the write that is found was made of something else."""
    run = Run(monkeypatch, (0, 256), (128, 384))
    run.tiles.renewed[1, 2] = 5
    assert run.read(site, renewed=False) is not None


def test_reported_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, (0, 256), (128, 384))
    found = run.read(3)
    assert found is not None and (found.rule, found.event, found.severity) == ("mem-overlap", 3, Severity.ERROR)
    assert found.message == (
        "%a and %b are in use at the same time and share bytes [128, 256) of ub: what op3 reads through %a was "
        "overwritten through %b"
    )
    assert [text for text, _ in found.notes] == ["%a has bytes [0, 256)", "%b has bytes [128, 384)", "op3 there"]
    assert found.help == "give them other addresses: from byte 512 on there is room for %b"
    assert len(found.fix) == 1 and run.read(4) is None and found.count == 2


@pytest.mark.parametrize(("handles", "severity"), [((), Severity.WARNING), ((1,), Severity.ERROR)])
def test_one_address_for_two_tiles_may_be_planned(
    handles: tuple[int, ...], severity: Severity, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless they travel."""
    found = Run(monkeypatch, (0, 256), (0, 256)).read(3, handles)
    assert found is not None and found.severity is severity


@pytest.mark.parametrize(
    ("first", "second", "place"),
    [((0, 256), (128, 384), 512), ((0, 500), (0, 500), 512), ((0, 512), (0, 512), 512), ((0, 513), (0, 513), None),
     ((0, 512), (480, 512), 512),
     ((0, 1024), (0, 32), None)],
)  # fmt: skip
def test_room_for_one_of_them(
    first: tuple[int, int], second: tuple[int, int], place: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After all tiles, aligned, inside of the memory."""
    run = Run(monkeypatch, first, second)
    found = run.read(3)
    assert found is not None and (f"from byte {place} on" in (found.help or "")) == (place is not None)
    assert len(found.fix) == (place is not None)
