"""The switch for all code that exists for speed alone.

Each acceleration calls :func:`enabled` with its name before it does anything. ``PTO_PLAIN=1`` in the environment, or
``--plain`` on the command line, disables all of them, ``PTO_PLAIN=replay,templates`` those that it names: programs take
longer, and nothing else differs.
"""

import os

VARIABLE = "PTO_PLAIN"

OPTION = "--plain"

ACCELERATIONS = {
    "class-code": "compiled functions of dataclasses and named tuples come from the cache folder",
    "regex-code": "compiled regular expressions come from the cache folder",
    "module-code": "code of modules comes from few files in the cache folder",
    "parse-tables": "tables of the grammar come with a wheel, or from the cache folder",
    "results": "a program that was checked before is not checked again",
    "host-code": "compiled orchestrations of PyPTO come from the cache folder",
    "cpp-code": "LLVM IR of C++ kernels comes from the cache folder",
    "cpp-headers": "compiled headers for C++ kernels come from the cache folder",
    "server": "a server answers, where the user wants one",
    "exit": "a command leaves its memory to the system when it ends",
    "collector": "the garbage collector pauses while a program is read, checked, changed or printed",
    "definitions": "xDSL makes the definition of an operation class when something needs it",
    "formats": "xDSL reads assembly formats of core operations when something needs them",
    "construction": "operations are made and appended without the checks of xDSL",
    "locations": "the location of an operation is made when something needs it",
    "templates": "statements, headers and types like earlier ones are not parsed again",
    "verdicts": "pure rules are applied once to structurally equal operations",
    "held": "operands and sums of matrix products are arrays instead of bytes of a memory",
    "conversions": "common conversions take fewer passes than the definition",
    "blocks": "the memories of a block serve the next block or launch",
    "worker-pool": "worker processes serve later launches",
    "replay": "a repeated launch is a list of numpy calls",
    "shadow": "cells of shadow memory that were accessed together share a record",
    "times": "a run for times alone computes no contents",
    "watched-launches": "a repeated launch without findings is not instrumented again",
}
"""All accelerations by name, with what each does."""

_named = [name for name in os.environ.get(VARIABLE, "").split(",") if name not in ("", "0")]

UNKNOWN = [] if _named == ["1"] else [name for name in _named if name not in ACCELERATIONS]
"""Names in ``PTO_PLAIN`` that no acceleration has."""

_disabled = frozenset(ACCELERATIONS if _named == ["1"] else _named)


def enabled(name: str) -> bool:
    """Returns whether the acceleration ``name`` may be used."""
    return name not in _disabled


def switch(on: bool) -> bool:
    """Enables or disables all accelerations in this process and those that it starts; returns whether all were enabled.

    Modules that are loaded already keep the classes and patches that they have made.
    """
    global _disabled
    before = not _disabled
    _disabled = frozenset(() if on else ACCELERATIONS)
    os.environ[VARIABLE] = "0" if on else "1"
    return before
