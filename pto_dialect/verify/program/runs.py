"""Rules that the sanitizers check at run time. Source: docs/reference/instrumentation.md, "Findings"."""

from __future__ import annotations

from ..engine.pages import FINDINGS
from ..engine.rule import ERROR, INFO, RUN, WARNING, rule
from ..examples.run_errors import with_number

_RULES = (
    ("race-raw", ERROR, "what one pipe writes and another reads is ordered by a flag, a barrier or a buffer id"),
    (
        "race-war",
        ERROR,
        "what one pipe reads and another overwrites is ordered by a flag, a barrier or a buffer id",
    ),
    ("race-waw", ERROR, "what two pipes write is ordered by a flag, a barrier or a buffer id"),
    (
        "race-cross-core",
        ERROR,
        "accesses of one location by two cores of a block are ordered by a signal between them",
    ),
    ("race-cross-block", ERROR, "blocks do not touch what another block writes, except atomically or after a syncall"),
    ("race-task", ERROR, "tasks that touch the same memory, one of them writing it, wait for each other"),
    ("race-simt", WARNING, "accesses of one memory location by two work-items are ordered by a barrier, or atomic"),
    ("l0c-handover", ERROR, "a write-back is ordered after the product it stores: flag, barrier or unit_flag"),
    ("sync-deadlock", ERROR, "every wait is ended by a signal"),
    ("sync-flag-unconsumed", WARNING, "every signal is waited for before the program ends"),
    ("sync-flag-depth", WARNING, "a flag is waited for before it is set again; a signal counter holds at most 15"),
    ("sync-buf-nesting", ERROR, "a pipe gets a buffer id before it releases it, and only once at a time"),
    ("sync-unit-flag", ERROR, "the unit flag of an accumulator is set and cleared in turn, on both sides"),
    ("sync-membar-missing", WARNING, "accesses of one memory location in a vector scope are ordered by mem_bar"),
    (
        "race-inverted",
        ERROR,
        "flags keep the order of the text where operations access one memory location and one of them writes it",
    ),
    (
        "race-same-pipe",
        ERROR,
        "on a2a3 a barrier, or a chain of flags, is between operations of V that depend on each other, and between "
        "transfers of one pipe that write one memory location (a warning)",
    ),
    (
        "cache-lost-update",
        WARNING,
        "a line of 64 bytes of global memory that the data cache of a scalar unit has changed is written by nobody "
        "else until it is written back",
    ),
    (
        "cache-stale-read",
        WARNING,
        "the scalar unit invalidates lines of its data cache that others have written before it reads them again",
    ),
    (
        "cache-unflushed-store",
        WARNING,
        "what the scalar unit stores to global memory is written back from its data cache before others read it",
    ),
    ("sync-mte3-reorder", WARNING, "stores of MTE3 to one location of global memory are ordered by a barrier on MTE3"),
    ("mem-uninit", ERROR, "what is stored to global memory, decides or addresses was computed from written memory"),
    ("mem-oob", ERROR, "accesses stay inside the buffer or memory"),
    ("mem-oob-tile", WARNING, "accesses stay inside the tile they go through"),
    ("mem-align", ERROR, "addresses have the alignment of their memory"),
    ("mem-capacity", ERROR, "tiles fit into their memory"),
    ("capacity-dynamic", ERROR, "tiles and memrefs that the allocator places fit into their memory together"),
    ("mem-overlap", ERROR, "tiles that are in use at the same time share no bytes"),
    (
        "stream-flush",
        ERROR,
        "an unaligned stream of stores ends with a flush (vstas, vstar): until then its last bytes are not in memory",
    ),
    (
        "stream-address",
        ERROR,
        "an unaligned stream of stores continues, and is flushed, where its last store has left it; a load of a stream "
        "begins in the block that vldas, or the load before it, has left in the state",
    ),
    ("pipe-slot", ERROR, "an entry of a queue is used between pop and free, and freed once"),
    ("run-timeout", ERROR, "a run takes no longer than --timeout allows"),
    ("run-memory", ERROR, "a run takes no more memory than there is"),
    (
        "shift-count",
        WARNING,
        "tiles are shifted by counts between 0 and 31; others are taken modulo 32",
        with_number("tshl", 32),
        with_number("tshl", 31),
    ),
    (
        "zero-divisor",
        WARNING,
        "tiles of integers are divided by other numbers than zero",
        with_number("tdiv", 0),
        with_number("tdiv", 3),
    ),
    ("division-by-zero", ERROR, "integers are divided by other numbers than zero, and zero has no negative power"),
    ("scf-step", ERROR, "the step of a loop is positive"),
    ("race-cross-rank", ERROR, "ranks do not touch what a peer writes, except atomically or after a signal"),
    ("memref-shape", ERROR, "a memref is copied to one of the same extents"),
    ("comm-shape", ERROR, "the members of a group share the elements of a transfer evenly"),
    ("assertion", ERROR, "what cf.assert asserts is true"),
    ("trap", ERROR, "the program does not reach pto.trap"),
    ("print-format", ERROR, "the format of pto.print has at most one conversion, which is one of a number"),
    ("unmodelled", ERROR, "the pages say what an operation computes, and the tools model it"),
    ("numeric-nan-inf", INFO, "results are numbers"),
)

RUN_RULES = {
    id: rule(id, severity, RUN, text, source=FINDINGS, **dict(zip(("bad", "good"), programs, strict=False)))
    for id, severity, text, *programs in _RULES
}
"""The run rules by id."""
