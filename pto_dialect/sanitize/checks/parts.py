"""Parts of views of global memory that exceed their view, though perhaps not the buffer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.memory.values import GmTensor

from ..report.findings import Finding
from ..report.sites import value_name

if TYPE_CHECKING:
    from ..context import Core


class Parts:
    """Compares each part with its view, whose extents may only be known at run time."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def check(self, number: int, view: Any, offsets: Sequence[int], sizes: Sequence[int]) -> None:
        """Checks the part at ``offsets`` with ``sizes`` elements of ``view``, which the operation ``number`` takes."""
        observer = self.core.observer
        observer.sites.reach(number)
        if not isinstance(view, GmTensor) or observer.muted or not observer.wants("bounds"):
            return
        for offset, size, extent in zip(offsets, sizes, view.shape, strict=False):
            if not 0 <= offset <= extent - size:
                break
        else:
            return
        extents = zip(offsets, sizes, view.shape, view.strides, strict=False)
        wrong = [
            (dim, offset, size, extent)
            for dim, (offset, size, extent, stride) in enumerate(extents)
            if stride and not 0 <= offset <= extent - size
        ]
        if not wrong or 0 in sizes:
            return
        site = observer.sites[number]
        if observer.findings.repeated("mem-oob", site):
            return
        dim, offset, size, extent = wrong[0]
        name = value_name(named(site.op, "source")) or "the view"
        message = (
            f"elements [{offset}, {offset + size}) of dimension {dim} are outside {name}, which has {extent} there"
        )
        block = f"{self.core.name}, block {self.core.block.index}"
        observer.findings.add(Finding("mem-oob", message, (site,), site.span, [(f"{site.name} on {block}", None)]))
