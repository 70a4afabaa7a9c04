"""The specification of an operation class besides its operands, attributes and results."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from xdsl.ir import Operation

from .clauses import Clauses
from .facts.form_cases import FormCase
from .facts.pipe import Pipe
from .facts.queues import QueueAction
from .facts.role import Role


class Shape(StrEnum):
    """How an operation is written: one grammar rule per shape. Source: docs/reference/language.md, "Shapes"."""

    NULLARY = "OP_NULLARY"
    NULLARY_TYPED = "OP_NULLARY_TYPED"
    NULLARY_ARROW = "OP_NULLARY_ARROW"
    FLAT_VOID = "OP_FLAT_VOID"
    FLAT_VALUE = "OP_FLAT_VALUE"
    FLAT_TOKEN = "OP_FLAT_TOKEN"
    FLAT_SUFFIX = "OP_FLAT_SUFFIX"
    LEAD_STRING = "OP_LEAD_STRING"
    INDEXED = "OP_INDEXED"
    INDEXED_STORE = "OP_INDEXED_STORE"
    SYNC_BRACKET = "OP_SYNC_BRACKET"
    SYNC_TOKEN = "OP_SYNC_TOKEN"
    SYNC_ALL = "OP_SYNC_ALL"
    CACHE = "OP_CACHE"
    DPS = "OP_DPS"
    DPS_INNER = "OP_DPS_INNER"
    DPS_KEYED = "OP_DPS_KEYED"
    DPS_MASK = "OP_DPS_MASK"
    DPS_TLOAD = "OP_DPS_TLOAD"
    INS_ONLY = "OP_INS_ONLY"
    PAREN = "OP_PAREN"
    BRACE_FIELDS = "OP_BRACE_FIELDS"
    PIPE_INIT = "OP_PIPE_INIT"
    COMM_GROUP = "OP_COMM_GROUP"
    LAUNCH = "OP_LAUNCH"
    DMA_BURST = "OP_DMA_BURST"
    FRAC_LOAD = "OP_FRAC_LOAD"
    ACC_STORE = "OP_ACC_STORE"
    MAD = "OP_MAD"
    L0_LOAD = "OP_L0_LOAD"
    REGION = "OP_REGION"
    REGION_YIELD = "OP_REGION_YIELD"
    ALLOC = "OP_ALLOC"
    VIEW_LISTS = "OP_VIEW_LISTS"
    SUBVIEW = "OP_SUBVIEW"
    DIM_QUERY = "OP_DIM_QUERY"
    RETIRED_CAST = "OP_RETIRED_CAST"
    GENERIC = "OP_GENERIC_ONLY"


class Effect(StrEnum):
    """Why an operation touches no memory through its operands; all others list what they read and write."""

    PURE = "pure"
    """Computes its results from its operands alone; may be removed or duplicated."""
    HANDLE = "handle"
    """Makes, renames or describes a buffer, view or pointer; moves no data."""
    QUERY = "query"
    """Reads a fact about the machine or the launch."""
    SYNC = "sync"
    """Orders other operations."""
    CHANNEL = "channel"
    """Sets up or moves the state of a channel, session or event, not data of the program."""
    REGION = "region"
    """Groups or ends the operations of a region."""
    CALL = "call"
    """Has the effects of the function it runs."""
    REPORT = "report"
    """Prints or stops."""


@dataclass(frozen=True)
class OpSpec:
    """The specification of an operation class besides its operands, attributes and results.

    ``reads`` and ``writes`` name the operands whose memory the operation may read or write, ``state_reads`` and
    ``state_writes`` the machine state it also touches (``"ctrl"``, ``"fifo"`` ...); an operation with none of the four
    states the reason in ``effect``. ``pipes`` lists further pipes of an operation that drives more than one,
    ``pipe_from`` is the attribute that names the pipe, if one does.

    ``text`` is the order of operands in the text where that differs from the declaration, ``typed`` the operands whose
    types the text spells (``None``: all, in text order); ``tokens`` names the attributes spelled outside the
    dictionary, in text order: by default, in shapes that spell all of them, those of the declaration, and with
    ``clauses``, the table of the clauses after the operands, those of its attributes that the class declares, except
    the ones ``in_braces``; ``outs`` names the operands in ``outs(...)``; ``fixed_results`` states the types of results
    that the text never spells. ``roles`` are its roles in control flow and dataflow, ``forms`` the differences between
    the forms of the operation, ``scratch`` the names of operands that are written and whose contents are undefined
    afterwards, ``drains`` the pipes whose earlier work is complete before the operation takes effect;
    ``operation_form.py`` combines all of it. ``section`` is the kind of code in the region of a section (``"cube"``,
    ``"vector"`` or ``"simt"``), ``queue`` the action of the operation on a queue between cores. ``in_place`` names the
    destinations that retain elements which are not written, or to which is added: the value form takes the old tile.
    ``by_type`` states that the type of a value, not its position, identifies the operand. ``keyed`` are inputs with a
    type of their own after a keyword, ``unnamed`` such after a comma; ``inner_with`` is the operand without which the
    dictionary is not among the inputs. ``unexecuted`` is the reason why a run refuses the operation, empty for those
    that run. ``since`` is ``"june"`` for operations that only the older dialect had, ``"august"`` for those only the
    newer one has.
    """

    shape: Shape = Shape.GENERIC
    pipe: Pipe | None = None
    pipes: tuple[Pipe, ...] = ()
    pipe_from: str = ""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    state_reads: tuple[str, ...] = ()
    state_writes: tuple[str, ...] = ()
    effect: Effect | None = None
    outs: tuple[str, ...] = ("dst",)
    text: tuple[str, ...] = ()
    typed: tuple[str, ...] | None = None
    tokens: tuple[str, ...] = ()
    clauses: Clauses | None = None
    in_braces: tuple[str, ...] = ()
    fixed_results: tuple[str, ...] = ()
    since: str = "both"
    roles: Role = Role.NONE
    forms: tuple[FormCase, ...] = ()
    scratch: tuple[str, ...] = ("tmp", "scratch")
    drains: tuple[Pipe, ...] = ()
    section: str = ""
    queue: QueueAction | None = None
    in_place: tuple[str, ...] = ()
    by_type: bool = False
    keyed: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    inner_with: str = ""
    unexecuted: str = ""

    def but(self, entries: dict[str, Any]) -> OpSpec:
        """Returns the same specification with other ``entries``. Raises ``TypeError`` for unknown names."""
        if unknown := entries.keys() - vars(self).keys():
            raise TypeError(f"declarations have no {', '.join(sorted(unknown))}")
        # dataclasses.replace takes five times as long, and this runs for each class.
        other = object.__new__(OpSpec)
        vars(other).update(vars(self), **entries)
        return other


UNDECLARED = OpSpec()

SPECS: dict[type[Operation], OpSpec] = {}
"""The specification of every operation class."""


def op_spec(cls: type[Operation]) -> OpSpec:
    """Returns the specification of a PTO operation class."""
    return SPECS[cls]


def is_declared(cls: type[Operation]) -> bool:
    """Returns whether a class is one of operations of this dialect."""
    return cls in SPECS
