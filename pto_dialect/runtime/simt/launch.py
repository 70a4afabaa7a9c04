"""Starts work-items. Source: docs/reference/work-items.md, "Launches"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..faults import Fault
from ..run.machine import Core
from .items import WorkItems, geometry_of
from .slots import KEY

DIMS = "simt_dims"
"""Key of the dimensions that ``pto.store_vfsimt_info`` has set on a core."""

Body = Callable[..., Any]
"""Code of a body: takes the core, the work-items, their mask, and the arguments."""


def next_launch(core: Core) -> int:
    """Returns the id of the launch that is issued now."""
    core.state["simt_launches"] = number = core.state.get("simt_launches", 0) + 1
    return number


def launch(core: Core, number: int, body: Body, x: int, y: int, z: int, *arguments: Any) -> None:
    """Runs ``body`` for x * y * z work-items.

    A launch that runs again under its previous id, to determine what its results depend on, finds the slots unchanged.
    """
    seen, slots = core.state.get("simt_before", (0, {}))
    if seen == number:
        core.state[KEY] = slots
    before = core.state.get(KEY, {})
    core.state["simt_before"] = (number, before)
    core.state[KEY] = {slot: words.copy() for slot, words in before.items()}
    geometry = geometry_of((x, y, z))
    if not geometry.count:
        return
    items = WorkItems(geometry)
    core.observe(items)
    body(core, items, None, *arguments)
    if items.observer is not None:
        items.observer.synchronise()


def store_dims(core: Core, z: int, y: int, x: int) -> None:
    """Sets the dimensions of the calls that follow."""
    core.state[DIMS] = (x, y, z)


def launch_stored(core: Core, number: int, body: Body, *arguments: Any) -> None:
    """Launches as ``launch``, with the dimensions that were set last.

    Raises: Fault: ``unmodelled`` when none were.
    """
    dims = core.state.get(DIMS)
    if dims is None:
        raise Fault("unmodelled", "a SIMT body is called before pto.store_vfsimt_info says for how many work-items")
    launch(core, number, body, *dims, *arguments)
