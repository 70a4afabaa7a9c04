"""The rules that hold while a program runs and that the sanitizers check. Source: execution page, section 6.3."""

from __future__ import annotations

from .rule import ERROR, INFO, RUN, WARNING, rule
from .run_examples import RUN_EXAMPLES

_PAGE = "execution page, section 6.3"

_RULES = (
    ("race-raw", ERROR, "what one pipe writes and another reads is ordered by a flag, a barrier or a buffer number"),
    (
        "race-war",
        ERROR,
        "what one pipe reads and another overwrites is ordered by a flag, a barrier or a buffer number",
    ),
    ("race-waw", ERROR, "what two pipes write is ordered by a flag, a barrier or a buffer number"),
    ("race-cross-core", ERROR, "accesses of one place by two cores of a block are ordered by a signal between them"),
    ("race-cross-block", ERROR, "blocks do not touch what another block writes, except atomically or after a syncall"),
    ("race-simt", WARNING, "accesses of one place by two work-items are ordered by a barrier, or atomic"),
    ("l0c-handover", ERROR, "a write-back is ordered after the product it stores: flag, barrier or unit_flag"),
    ("sync-deadlock", ERROR, "every wait is ended by a signal"),
    ("sync-flag-unconsumed", WARNING, "every signal is waited for before the program ends"),
    ("sync-flag-depth", WARNING, "a flag is waited for before it is set again; a signal counter holds at most 15"),
    ("sync-buf-nesting", ERROR, "a pipe gets a buffer number before it releases it, and only once at a time"),
    ("sync-unit-flag", ERROR, "the unit flag of an accumulator is set and cleared in turn, on both sides"),
    ("sync-membar-missing", WARNING, "accesses of one place in a vector scope are ordered by mem_bar"),
    (
        "race-inverted",
        ERROR,
        "flags let operations run in the order of the text where they access one place and one of them writes it",
    ),
    (
        "race-same-pipe",
        ERROR,
        "on a2a3 a barrier, or a chain of flags, stands between operations of V that depend on each other, and between "
        "transfers of one pipe that write one place (a warning)",
    ),
    ("sync-mte3-reorder", WARNING, "stores of MTE3 to one place of global memory are ordered by a barrier on MTE3"),
    ("mem-uninit", ERROR, "what is stored to global memory, decides or addresses was computed from written memory"),
    ("mem-oob", ERROR, "accesses stay inside the buffer or memory"),
    ("mem-oob-tile", WARNING, "accesses stay inside the tile they go through"),
    ("mem-align", ERROR, "addresses have the alignment of their memory"),
    ("mem-capacity", ERROR, "tiles fit into their memory"),
    ("mem-overlap", ERROR, "tiles that are in use at the same time share no bytes"),
    ("pipe-slot", ERROR, "an entry of a queue is used between pop and free, and freed once"),
    ("run-timeout", ERROR, "a run takes no longer than --timeout allows"),
    ("shift-count", WARNING, "tiles are shifted by counts between 0 and 31; others are taken modulo 32"),
    ("numeric-nan-inf", INFO, "results are numbers"),
)

_NO_EXAMPLE = (None, None)

RUN_RULES = {
    id: rule(id, severity, RUN, text, source=_PAGE, bad=bad, good=good)
    for id, severity, text in _RULES
    for bad, good in (RUN_EXAMPLES.get(id, _NO_EXAMPLE),)
}
"""The rules by id."""

ALIASES = {
    "mad-handover": "l0c-handover",
    "mad-acc-init": "mem-uninit",
    "dma-oob": "mem-oob",
    "vec-membar": "sync-membar-missing",
}
"""Rules of single operations and the rules under which the sanitizers report them."""
