"""Rules about flags and barriers of programs that have them. Source: docs/reference/synchronisation.md,
"Judging a program".
"""

from __future__ import annotations

from pto_dialect.verify.engine.rule import INFO, REMOVE_SYNC, SYNC, rule

_PAGE = 'docs/reference/synchronisation.md, "Judging a program"'


REDUNDANT = rule(
    "sync-redundant",
    INFO,
    SYNC,
    "with judge=true: every flag and barrier orders something that nothing else does",
    _PAGE,
)
SERIALISING = rule(
    "sync-serialising", INFO, SYNC, "with judge=true: no pipe waits for work that nothing it does depends on", _PAGE
)
UNDECIDED = rule(
    "sync-undecided",
    INFO,
    SYNC,
    "check-sync covers all control-flow paths of a function; with judge=true the order is proved for all trip counts",
    _PAGE,
)
REMOVED = rule(
    "sync-removed", INFO, REMOVE_SYNC, "every flag and barrier orders something that nothing else does", _PAGE
)
KEPT = rule("sync-kept", INFO, REMOVE_SYNC, "the flags and barriers of a function can be followed", _PAGE)
