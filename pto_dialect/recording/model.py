"""What a recording consists of. Source: docs/reference/recording.md, "Members"."""

from __future__ import annotations

from typing import Any, NamedTuple


class RecordingError(Exception):
    """A recording cannot be read or written; the text says why."""


class Program(NamedTuple):
    """The program that ran: its ``text``, the name of its ``file``, the ``entry`` function, the ``target`` and
    ``backend`` that it ran as, on ``blocks`` blocks; ``package`` is the version that recorded it,
    ``release`` the release of the reference that the program was made for ("" in older recordings)."""

    text: str
    file: str
    entry: str
    target: str
    backend: str
    blocks: int
    package: str
    release: str = ""


class Statement(NamedTuple):
    """One statement of the program: its ``number``, the ``name`` of its operation, ``line`` and ``col`` (from 1; 0
    without a source text) up to ``end_line`` and ``end_col``, its ``text``, the ``pipe`` (``S`` for the scalar unit)
    and the enclosing ``function``.

    ``loops`` names the induction variables of enclosing loops, ``scalars`` the scalars that each step states (pairs of
    name and type), ``handles`` the tiles, views and pointers among its operands (name and type), each with ``%``.
    ``kind`` is ``operation``, ``region`` (the start of a loop or branch) or ``call``.
    """

    number: int
    name: str
    line: int
    col: int
    end_line: int
    end_col: int
    text: str
    pipe: str
    function: str
    kind: str
    loops: tuple[str, ...]
    scalars: tuple[tuple[str, str], ...]
    handles: tuple[tuple[str, str], ...]


class Thread(NamedTuple):
    """One pipe of one core of one block: ``core`` is ``AIC``, ``AIV0``, ``AIV1`` or ``core``, ``pipe`` ``MTE2``."""

    number: int
    block: int
    core: str
    pipe: str


class Memory(NamedTuple):
    """One memory that the run has accessed, or a buffer of the host: its ``number``, ``name`` (``block0.aiv0.ub``, or
    that of an argument), ``space``, ``block`` (-1 for global memory), ``cores`` that address it and ``size`` in bytes.
    ``fill`` is the byte that it is full of at the start, ``None`` where its content is stored."""

    number: int
    name: str
    space: str
    block: int
    cores: tuple[str, ...]
    size: int
    fill: int | None


class Form(NamedTuple):
    """Properties of a handle other than its address: ``kind`` is ``tile``, ``view``, ``pointer`` or ``other``;
    ``element`` the format of its elements, ``item_bytes`` their bytes. ``shape`` (rows and columns of a tile, extents
    of a view) is in elements, as are the ``strides`` of a view; ``valid`` is the valid region of a tile, ``layout`` its
    rows, columns, block layout, inner layout and fractal bytes, ``corner`` the first row and column in it, ``pad`` its
    padding, ``location`` the one of its type."""

    kind: str
    element: str
    item_bytes: int
    space: str
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    valid: tuple[int, int] = (0, 0)
    layout: tuple[Any, ...] = ()
    corner: tuple[int, int] = (0, 0)
    pad: int = 0
    location: str = ""


class Handle(NamedTuple):
    """A tile, a view or a pointer at run time: its ``memory`` (-1: none), byte ``address`` in it, and ``form``;
    ``type`` is the type in the program."""

    memory: int
    address: int
    form: Form
    type: str = ""


class Step(NamedTuple):
    """One execution of a statement. ``kind`` is ``operation``, ``part`` (inside a vector scope), ``set`` or ``wait``;
    ``order`` its position in program order on its core; ``loops`` the induction variables of enclosing loops, outermost
    first; ``start`` and ``end`` are modelled cycles (NaN where the run was not timed)."""

    number: int
    statement: Statement
    thread: Thread
    kind: str
    order: int
    loops: tuple[int, ...]
    start: float
    end: float


class Access(NamedTuple):
    """Bytes of one memory that a step read or wrote: ``run`` bytes at ``first`` + Σ i[d]·stride[d] for each pair
    (count, stride) of ``dims``; ``stop`` is the exclusive end. ``starts`` lists the offsets of single elements of
    ``run`` bytes instead where an operation gathers or scatters (``None`` otherwise)."""

    number: int
    step: int
    memory: int
    writes: bool
    first: int
    stop: int
    run: int
    dims: tuple[tuple[int, int], ...]
    starts: Any


class Signal(NamedTuple):
    """A signal that a step has set, or has waited for: ``text`` says which; ``peer`` is the step at the other end, -1
    where there is none."""

    step: int
    waits: bool
    text: str
    peer: int


class Finding(NamedTuple):
    """Something that a sanitizer has found, at ``steps`` of the recording (none where it is not known)."""

    rule: str
    severity: str
    message: str
    line: int
    col: int
    steps: tuple[int, ...]
    notes: tuple[tuple[str, int], ...]
    help: str


class Outcome(NamedTuple):
    """How the run has ended: ``kind`` is ``ended``, or ``failed`` with the ``rule`` and ``message`` of the error, its
    ``line`` and ``col`` and the last ``step``."""

    kind: str
    rule: str = ""
    message: str = ""
    line: int = 0
    col: int = 0
    step: int = -1
    notes: tuple[str, ...] = ()


class Waiting(NamedTuple):
    """Where a pipe was blocked at the end of the run: the indices of its thread and of the statement, the induction
    variables of enclosing loops, and the signals that it waits for."""

    thread: int
    statement: int
    loops: tuple[int, ...]
    signals: tuple[str, ...]


class Change(NamedTuple):
    """Bytes that a memory gets, by its name, when ``position`` steps are done."""

    position: int
    memory: str
    first: int
    content: bytes


class Argument(NamedTuple):
    """An argument of the entry function: ``value`` is a number, or ``None`` for a buffer, which lies in ``memory`` from
    byte ``address`` on, with ``shape`` and numpy's ``dtype``; ``element`` is the format of its elements."""

    name: str
    type: str
    value: int | float | None
    memory: int
    address: int
    shape: tuple[int, ...]
    dtype: str
    element: str
