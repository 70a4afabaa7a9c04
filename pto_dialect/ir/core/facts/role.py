"""Roles of operations in the control flow and dataflow of a program."""

from __future__ import annotations

from enum import Flag, auto


class Role(Flag):
    """Roles that several subpackages query."""

    NONE = 0

    FUNCTION = auto()
    """Defines a function."""
    CALL = auto()
    """Calls a function that it names."""
    RETURN = auto()
    """Ends a function."""
    YIELD = auto()
    """Ends a region and passes its values to the operation around it."""
    CONDITION = auto()
    """Ends the first region of a loop and decides whether its values continue to the second or leave it."""
    LOOP = auto()
    """Runs its region several times."""
    COUNTED = auto()
    """A counted loop with bounds, a step and an induction variable: ``scf.for`` and similar ones."""
    CHOICE = auto()
    """Runs one of its regions, or yields one of its values."""
    BRANCH = auto()
    """Continues at a block that it names."""

    CONSTANT = auto()
    """Its result is the constant, or the function, that it states."""
    SELECT = auto()
    """Selects one of two values."""
    COMPARISON = auto()
    """Compares two numbers; their order does not matter."""
    SCALAR = auto()
    """Computes with numbers alone."""
    ACCUMULATES = auto()
    """Continues a sum in its accumulators, which may remain in memory under another handle."""
    ELEMENT_LOAD = auto()
    """Reads one element of memory."""
    ELEMENT_STORE = auto()
    """Writes one element of memory."""
    ATOMIC = auto()
    """Atomically combines a value with an element of memory."""
    LANEWISE = auto()
    """Each element of the result depends on the same element of its sources, and nothing is read again after the result
    is written: the result may have the address of a source."""
    PARTIAL = auto()
    """May leave elements of its destination unchanged, whatever the shapes of its operands."""
    COPY = auto()
    """Copies memory without interpreting its contents."""
    REPORT = auto()
    """Prints or stops: the order of execution is observable."""
    EXTENT = auto()
    """Returns the extent of one dimension of a memref."""
    ADDRESSES = auto()
    """Takes a memref as the address of its first element."""

    ALLOCATION = auto()
    """Its result is a buffer of its own."""
    UNIQUE = auto()
    """Must not be removed, duplicated or replaced by an equal one, although it touches no memory."""
    TILE_ALLOCATION = auto()
    """Its result is a tile, or several, of its own."""
    VIEW = auto()
    """Its result is a view of the bytes of its first operand."""
    DISPLACEMENT = auto()
    """Its result is the pointer of its first operand, advanced by a number of elements."""
    ADDRESS = auto()
    """Its result is a pointer made from a number."""

    PART = auto()
    """Its result is a part of a view of global memory."""
    TILE_LOAD = auto()
    """Loads a tile from a view of global memory."""
    TILE_STORE = auto()
    """Stores a tile to a view of global memory."""
    RESERVATION = auto()
    """Reserves a buffer for the entries of a queue; its result is the address."""

    PIPES = auto()
    """Orders the pipes of a core."""
    LOCK = auto()
    """Orders the pipes of a core by holding a buffer id."""
    CORES = auto()
    """Orders the cores of a block."""
    BLOCKS = auto()
    """Orders the cores of different blocks."""
    PEERS = auto()
    """Moves data or signals between peers."""
    SIGNAL = auto()
    """Changes, or reads, a signal in memory that cores of any block or rank may observe."""
    BARRIER = auto()
    """Is not part of a pair: orders everything before it and everything after it."""
    SETS = auto()
    """First of a pair that orders: sets a flag, signals, takes a lock."""
    WAITS = auto()
    """Second of such a pair: waits for the flag or the signal, releases the lock."""
    JOINS = auto()
    """The scalar unit continues when all pipes of its core have completed the earlier work."""

    SCOPE = auto()
    """Runs its region as one instruction of the vector unit."""
    VECTOR_CORES = auto()
    """Queries the vector cores of a block."""
    LAUNCH = auto()
    """Runs a function that it names once for each work-item."""
    LANE = auto()
    """Has another meaning in code that work-items run, or a meaning only there."""
    VARIES = auto()
    """Its results differ between work-items whatever its operands are."""


RUNS = Role.CALL | Role.LAUNCH
"""Runs a function, once or for each work-item."""
