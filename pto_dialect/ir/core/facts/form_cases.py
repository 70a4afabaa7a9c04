"""Differences between the forms of one operation: operands that are present, locations of tiles, target and backend.

An operation class declares its cases in ``OpSpec.forms``; ``operation_form.py`` derives the record of a form from them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .pipe import Pipe

if TYPE_CHECKING:
    from collections.abc import Mapping

Places = tuple[str | None, ...]


@dataclass(frozen=True)
class FormCase:
    """Facts that hold for some forms of an operation only; ``None`` states nothing.

    Conditions: ``targets`` and ``backends`` (empty: all), operands that are ``present`` or ``absent``, ``at`` the
    memory locations of tiles by operand (``None``: a type without a location), ``elements`` their element types. The
    operand ``dst`` of a value form is its result.

    Facts: the ``pipe`` that the form runs on, ``unused`` the scratch operands that it does not touch, ``self_ordered``
    whether it runs on several pipes and orders these and the scalar unit itself, ``drains`` the pipes whose earlier
    work is complete before the form takes effect, ``clobbers`` sources that it overwrites and leaves with undefined
    contents, ``scratch`` sources that hold intermediate results alone, ``cycle_key`` the row of the cycle table.
    """

    targets: tuple[str, ...] = ()
    backends: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    at: Mapping[str, Places] = field(default_factory=dict)
    elements: Mapping[str, Places] = field(default_factory=dict)

    pipe: Pipe | None = None
    unused: tuple[str, ...] | None = None
    self_ordered: bool | None = None
    drains: tuple[Pipe, ...] | None = None
    clobbers: tuple[str, ...] | None = None
    scratch: tuple[str, ...] | None = None
    cycle_key: str | None = None


IDLE_SCRATCH_ON_A5 = FormCase(targets=("a5",), unused=("tmp",))
"""The a5 header takes the scratch tile for compatibility with a2a3 and does not touch it."""
FILL_OF_L1 = FormCase(at={"dst": ("mat",)}, pipe=Pipe.MTE2)
"""The pipe that loads into L1 also fills it: ``TEXPANDS_MAT`` and ``TFILLPAD_MAT`` in the events of the headers."""
SEVERAL_PIPES_ON_A2A3 = FormCase(targets=("a2a3",), self_ordered=True)
"""A macro of several pipes on a2a3, with an order between these and the scalar unit."""
