"""Rules about flags and barriers of programs that have them. Source: docs/reference/synchronisation.md,
"Judging a program".
"""

from __future__ import annotations

from pto_dialect.verify.engine.rule import INFO, REMOVE_SYNC, SYNC, rule
from pto_dialect.verify.examples.types import PART, TILE

_PAGE = 'docs/reference/synchronisation.md, "Judging a program"'


def _flags(word: str, source: str, target: str, number: int = 0) -> str:
    return f'  pto.{word}_flag["PIPE_{source}", "PIPE_{target}", "EVENT_ID{number}"]\n'


def _program(*between: str, more: str = "") -> str:
    """A load and a sum with the given synchronization in between."""
    return (
        f"func.func @f(%p: {PART}{more}) {{\n"
        f"  %x = pto.alloc_tile : {TILE}\n  %y = pto.alloc_tile : {TILE}\n"
        f"  pto.tload ins(%p : {PART}) outs(%x : {TILE})\n"
        + "".join(between)
        + f"  pto.tadd ins(%x, %x : {TILE}, {TILE}) outs(%x : {TILE})\n  return\n}}\n"
    )


_LOAD = f"  pto.tload ins(%p : {PART}) outs(%y : {TILE})\n"
_PAIR = (_flags("set", "MTE2", "V"), _flags("wait", "MTE2", "V"))
_TWICE = _program(*_PAIR, *(line.replace("ID0", "ID1") for line in _PAIR))
_SHARED = _program(_LOAD, *_PAIR)
_EXACT = _program(_PAIR[0], _LOAD, _PAIR[1])
_COMPUTED = _program(
    '  pto.set_flag_dyn["PIPE_MTE2", "PIPE_V", %n]\n',
    '  pto.wait_flag_dyn["PIPE_MTE2", "PIPE_V", %n]\n',
    more=", %n: index",
)

REDUNDANT = rule(
    "sync-redundant",
    INFO,
    SYNC,
    "with judge=true: every flag and barrier orders something that nothing else does",
    source=_PAGE,
    bad=_TWICE,
    good=_program(*_PAIR),
)
SERIALISING = rule(
    "sync-serialising",
    INFO,
    SYNC,
    "with judge=true: no pipe waits for work that nothing it does depends on",
    source=_PAGE,
    bad=_SHARED,
    good=_EXACT,
)
UNDECIDED = rule(
    "sync-undecided",
    INFO,
    SYNC,
    "check-sync covers all control-flow paths of a function; with judge=true the order is proved for all trip counts",
    source=_PAGE,
    bad=_COMPUTED,
    good=_program(*_PAIR),
)
REMOVED = rule(
    "sync-removed",
    INFO,
    REMOVE_SYNC,
    "every flag and barrier orders something that nothing else does",
    source=_PAGE,
    bad=_TWICE,
    good=_program(*_PAIR),
)
KEPT = rule(
    "sync-kept",
    INFO,
    REMOVE_SYNC,
    "the flags and barriers of a function can be followed",
    source=_PAGE,
    bad=_COMPUTED,
    good=_program(*_PAIR),
)
