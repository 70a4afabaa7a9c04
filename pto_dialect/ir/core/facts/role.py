"""What an operation is to whoever follows a program."""

from __future__ import annotations

from enum import Flag, auto


class Role(Flag):
    """Roles that several rooms of the package ask about."""

    NONE = 0

    FUNCTION = auto()
    """Defines a function."""
    CALL = auto()
    """Runs a function that it names."""
    RETURN = auto()
    """Ends a function."""
    YIELD = auto()
    """Ends a region and gives its values to the operation around it."""
    CONDITION = auto()
    """Ends the first region of a loop and decides whether its values go on into the second or leave it."""
    LOOP = auto()
    """Runs its region several times."""
    COUNTED = auto()
    """Has bounds, a step and an index: ``scf.for`` and its kin."""
    CHOICE = auto()
    """Runs one of its regions, or gives one of its values."""
    BRANCH = auto()
    """Goes on in a block that it names."""

    CONSTANT = auto()
    """Its result is the number, or the function, that it states."""
    SELECT = auto()
    """Gives one of two values."""
    COMPARISON = auto()
    """Compares two numbers; which of them stands first makes no other question."""
    SCALAR = auto()
    """Computes with numbers alone."""
    ACCUMULATES = auto()
    """Goes on with a sum in its accumulators, which may stay where it is under another handle."""
    ELEMENT_LOAD = auto()
    """Reads one element of memory."""
    ELEMENT_STORE = auto()
    """Writes one element of memory."""
    ATOMIC = auto()
    """Combines a value with an element of memory in one step."""
    LANEWISE = auto()
    """Each element of the result depends on the same element of its sources, and nothing is read again after the
    result is written: the result may lie exactly where a source lies."""
    PARTIAL = auto()
    """May leave elements of its destination as they were, whatever the shapes of its operands."""
    SCATTERS = auto()
    """Which elements it writes depends on what is in its sources."""
    COPY = auto()
    """Copies memory without looking at what is in it."""
    REPORT = auto()
    """Prints or stops: who runs first can be seen."""
    EXTENT = auto()
    """Gives the extent of one dimension of a memref."""
    ADDRESSES = auto()
    """Takes a memref as the address of its first element."""

    ALLOCATION = auto()
    """Its result is a buffer of its own."""
    UNIQUE = auto()
    """Can be neither left out nor repeated nor taken for another one, although it touches no memory."""
    TILE_ALLOCATION = auto()
    """Its result is a tile, or several, of its own."""
    VIEW = auto()
    """Its result shows bytes of its first operand."""
    DISPLACEMENT = auto()
    """Its result is the pointer of its first operand, moved by a number of elements."""
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
    """Orders the pipes of a core by holding a buffer number."""
    CORES = auto()
    """Orders the cores of a block."""
    BLOCKS = auto()
    """Orders the cores of different blocks."""
    PEERS = auto()
    """Moves data or signals between peers."""
    SIGNAL = auto()
    """Changes, or looks at, a signal in memory that cores of any block or rank may see."""
    BARRIER = auto()
    """Stands alone: orders all that is before it and all that is behind it."""
    SETS = auto()
    """First of a pair that orders: sets a flag, signals, takes a lock."""
    WAITS = auto()
    """Second of such a pair: waits for the flag or the signal, releases the lock."""
    JOINS = auto()
    """The scalar unit goes on when all pipes of its core have done what is before it."""

    SCOPE = auto()
    """Runs its region as one instruction of the vector unit."""
    VECTOR_CORES = auto()
    """Asks about the vector cores of a block."""
    LAUNCH = auto()
    """Runs a function that it names once for each work-item."""
    LANE = auto()
    """Means something else in code that work-items run, or something there alone."""
    VARIES = auto()
    """Its results differ between work-items whatever its operands are."""


RUNS = Role.CALL | Role.LAUNCH
"""Runs a function, once or for each work-item."""
