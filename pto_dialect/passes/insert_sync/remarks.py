"""Remarks about flags that order more than the accesses between two pipes need.

Source: docs/reference/synchronisation.md, "Multi-buffers", "Event ids".
"""

from __future__ import annotations

from collections.abc import Iterator

from pto_dialect.diagnostics.diagnostic import Diagnostic, Note
from pto_dialect.ir.core.location import span_of
from pto_dialect.passes.accesses.items import PIPES, Flag, Sequence
from pto_dialect.verify.engine.rule import read_rules

from .events import all_flags, all_sequences
from .rings import EVENTS

_RULES = read_rules("passes")
SHARED = _RULES["insert-sync-shared-flag"]


def remarks(sequence: Sequence) -> Iterator[Diagnostic]:
    """Yields the remarks on the flags of a sequence that serve several dependences, and on the barriers that replace
    some."""
    for flag in all_flags(sequence):
        if flag.shared:
            yield _remark(flag)
    for one in all_sequences(sequence):
        for index in sorted(one.full):
            message = f"a barrier of all pipes replaces a flag: two pipes have {EVENTS} event ids"
            yield SHARED.at(one.items[index].op, message)


def _remark(flag: Flag) -> Diagnostic:
    source, target = (f"PIPE_{PIPES[number].name}" for number in (flag.source, flag.target))
    what = "slots" if flag.about_slots else "dependences"
    numbers = f"EVENT_ID{flag.event}"
    if flag.count > 1:
        numbers = f"each of {numbers} to EVENT_ID{flag.event + flag.count - 1}"
    message = f"{numbers} from {source} to {target} serves several {what}: {flag.shared}"
    # A flag that is waited for at the end of an iteration is so before the first operation of the next one.
    before = flag.sequence.items[flag.before % len(flag.sequence.items)].op
    later = "in the iteration before" if flag.carried else "before it"
    if flag.carried and flag.slot is not None:
        later = "in the last iteration with the same slot"
    cost = Note(f"{target} waits here for all that {source} has done for them {later}", span_of(before))
    help = "fewer slots, or an index that is the counter modulo their number" if flag.about_slots else None
    return SHARED.at(before, message, (cost,), help)
