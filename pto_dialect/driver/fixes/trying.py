"""Which proposals help: the program is checked with each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.fix import Edit, Fix, edited, separate

from . import apart
from .proposals import proposals

Check = Callable[[str], Sequence[Diagnostic]]
"""The diagnostics of a text; all have their source locations in that text."""

_DEPTH = 4
"""Mistakes of one statement that are fixed together, where each hides the next one."""

_MOST_CHECKS = 80
"""Checks for one diagnostic."""

_TOGETHER = 3
"""Diagnostics of a text of which those with one safe proposal each are fixed with one check."""

_CHARACTERS = 4_000_000
"""What checks of all diagnostics of a text may read where fixes are only offered."""

_AGAIN = 200_000
"""What the first checks may read of diagnostics that were not fixed in their function alone."""


class Tried(NamedTuple):
    """A fix that helps, the text with it, and the diagnostics of that text."""

    fix: Fix
    text: str
    found: Sequence[Diagnostic]
    steps: int = 1


class Budget:
    """Checks that are left."""

    def __init__(self, number: int) -> None:
        self.number = number

    def spend(self) -> bool:
        """Takes one; False when there is none."""
        self.number -= 1
        return self.number >= 0


def score(found: Sequence[Diagnostic]) -> tuple[int, int, int]:
    """Returns the numbers of errors, warnings and remarks."""
    numbers = [sum(diag.severity is severity for diag in found) for severity in Severity]
    return numbers[Severity.ERROR], numbers[Severity.WARNING], numbers[Severity.INFO]


def helpful(
    diagnostic: Diagnostic,
    before: Sequence[Diagnostic],
    check: Check,
    budget: Budget | None = None,
    *,
    unsafe: bool = True,
) -> list[Tried]:
    """Returns the fixes of ``diagnostic``, one of ``before``, with which less is found than before; the best is the
    first.

    Where several are equally good, none of them is safe. ``budget`` limits the checks; guesses are tried if ``unsafe``.
    """
    assert diagnostic.span is not None
    text = diagnostic.span.source.text
    budget = Budget(_MOST_CHECKS) if budget is None else budget
    found = list(_helpful(text, diagnostic, before, check, budget, _DEPTH, unsafe))
    found.sort(key=_rank)
    # Two ways may lead to one text.
    texts: dict[str, Tried] = {}
    for tried in found:
        texts.setdefault(tried.text, tried)
    found = list(texts.values())
    safe = [tried for tried in found if tried.fix.safe]
    best = [tried for tried in safe if _rank(tried) == _rank(safe[0])]
    if len({"".join(tried.text.split()) for tried in best}) > 1:
        return [tried._replace(fix=tried.fix._replace(safe=False)) for tried in found]
    return [tried for number, tried in enumerate(found) if tried not in best[1:] or not number]


def _rank(tried: Tried) -> tuple[bool, tuple[int, int, int], int]:
    return not tried.fix.safe, score(tried.found), tried.steps


def _helpful(
    text: str,
    diagnostic: Diagnostic,
    before: Sequence[Diagnostic],
    check: Check,
    budget: Budget,
    depth: int,
    unsafe: bool,
) -> Iterator[Tried]:
    known = {(diag.rule, diag.message) for diag in before}
    for fix in proposals(diagnostic):
        if not (fix.safe or unsafe):
            continue
        if not budget.spend():
            return
        new = edited(text, fix.edits)
        found = check(new)
        if score(found) < score(before):
            yield Tried(fix, new, found)
            continue
        if depth == 1 or score(found) != score(before):
            continue
        shown = [diag for diag in found if (diag.rule, diag.message) not in known and diag.span is not None]
        if len(shown) != 1:
            continue
        for deeper in _helpful(new, shown[0], found, check, budget, depth - 1, unsafe):
            title = f"{fix.title}; {deeper.fix.title}"
            yield Tried(
                Fix(title, (_change(text, deeper.text),), fix.safe and deeper.fix.safe), *deeper[1:3], deeper.steps + 1
            )
            break


def _change(old: str, new: str) -> Edit:
    """Returns the one edit that makes ``new`` of ``old``."""
    start = 0
    least = min(len(old), len(new))
    while start < least and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < least - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return Edit(start, len(old) - tail, new[start : len(new) - tail])


def offered(found: Sequence[Diagnostic], check: Check) -> list[Diagnostic]:
    """Returns ``found``, all in one text, with those fixes that help, the likeliest first.

    In a long text with many mistakes the last ones may remain without.
    """
    text = next((diag.span.source.text for diag in found if diag.span is not None), "")
    total = Budget(_CHARACTERS // max(1, len(text)))
    # A run shows the first errors only; fixes may uncover others.
    before = check(text)
    told: list[Diagnostic] = []
    for diag in found:
        if diag.span is not None and total.number > 0:
            own = Budget(min(_MOST_CHECKS, total.number))
            tried = helpful(diag, before, check, own)
            total.number -= min(_MOST_CHECKS, total.number) - max(0, own.number)
            diag = diag._replace(fixes=tuple(each.fix for each in tried))
        told.append(diag)
    return told


class Made(NamedTuple):
    """A fix that was made: the line that it was made for, from 1, and its title."""

    line: int
    title: str


class Fixed(NamedTuple):
    """A text after all fixes, those that were made, and its diagnostics."""

    text: str
    applied: tuple[Made, ...]
    found: Sequence[Diagnostic]


def fixed(text: str, check: Check, *, unsafe: bool = False, most: int = 500) -> Fixed:
    """Returns ``text`` with the fixes of all diagnostics that have one, repeated until none helps any more.

    Fixes that are not safe are made only where ``unsafe``. At most ``most`` are made.
    """
    found = check(text)
    first = _function_by_function(text, found, check, unsafe, most)
    if first is None:
        return _fixed(text, found, check, unsafe, most)
    done, hopeless = first
    rest = _fixed(done.text, done.found, check, unsafe, most - len(done.applied), hopeless)
    return rest._replace(applied=(*done.applied, *rest.applied))


Key = tuple[str, str, int]
"""Identifies a diagnostic while fixes are made before it: rule, message, distance from the end."""


def _key(text: str, diagnostic: Diagnostic) -> Key:
    assert diagnostic.span is not None
    return diagnostic.rule, diagnostic.message, len(text) - diagnostic.span.start


def _function_by_function(
    text: str, found: Sequence[Diagnostic], check: Check, unsafe: bool, most: int
) -> tuple[Fixed, set[Key]] | None:
    """Returns ``text`` with fixes of functions that can be fixed separately, and what is not tried again.

    ``None`` where there are no such functions, and where the whole text is not better by all of it.
    """
    functions = apart.functions(text, found) if found else None
    if functions is None:
        return None
    applied: list[Made] = []
    new: dict[int, str] = {}
    less = 0
    for number in sorted(functions.reported):
        part = functions.apart(number)
        told = check(part.text)
        if not functions.is_same_report(number, part, told):
            continue
        own = _fixed(part.text, told, check, unsafe, most - len(applied), inside=part.has)
        function = part.function(own.text)
        if function is None:
            continue
        new[number] = function
        less += sum(score(told)) - sum(score(own.found))
        # The lines before a function differ there, and the whole text has more.
        start = functions.pieces.functions[number][0]
        shift = text.count("\n", 0, start) - part.text.count("\n", 0, part.before)
        applied += [made._replace(line=made.line + shift) for made in own.applied]
    whole = functions.with_texts(new)
    after = check(whole) if applied else found
    if sum(score(after)) != sum(score(found)) - less:
        return None
    again = apart.functions(whole, after)
    hopeless: set[Key] = set()
    if again is not None and len(applied) < most:
        same = (number for number, function in new.items() if again.texts[number : number + 1] == [function])
        left = {_key(whole, one) for number in same for one in again.reported.get(number, ())}
        if len(left) * len(whole) > _AGAIN:
            hopeless = left
    return Fixed(whole, tuple(applied), after), hopeless


def _fixed(
    text: str,
    found: Sequence[Diagnostic],
    check: Check,
    unsafe: bool,
    most: int,
    hopeless: set[Key] | None = None,
    inside: apart.Inside = lambda _: True,
) -> Fixed:
    """Returns ``text`` with diagnostics ``found``, with at most ``most`` fixes of what is ``inside`` and not
    ``hopeless``."""
    applied: list[Made] = []
    hopeless = set() if hopeless is None else hopeless
    if len(found) > _TOGETHER and most > 0:
        chosen = [one for one in found if one.span is not None and inside(one) and _key(text, one) not in hopeless]
        text, applied, found = _plain_ones(text, chosen, found, check)
    while len(applied) < most:
        for diagnostic in found:
            if diagnostic.span is None or not inside(diagnostic):
                continue
            key = _key(text, diagnostic)
            if key in hopeless:
                continue
            tried = next((t for t in helpful(diagnostic, found, check, unsafe=unsafe) if t.fix.safe or unsafe), None)
            if tried is None:
                hopeless.add(key)
                continue
            applied.append(Made(diagnostic.span.line, tried.fix.title))
            text, found = tried.text, tried.found
            break
        else:
            break
    return Fixed(text, tuple(applied), found)


def _plain_ones(
    text: str, chosen: Sequence[Diagnostic], found: Sequence[Diagnostic], check: Check
) -> tuple[str, list[Made], Sequence[Diagnostic]]:
    """Makes the fixes of all ``chosen`` diagnostics with one safe proposal together, if each of them helps."""
    only: dict[Fix, Diagnostic] = {}
    for diagnostic in chosen:
        safe = [fix for fix in proposals(diagnostic) if fix.safe]
        if len(safe) == 1:
            only.setdefault(safe[0], diagnostic)
    fixes = separate(only)
    if len(fixes) > 1:
        new = edited(text, [edit for fix in fixes for edit in fix.edits])
        after = check(new)
        if sum(score(after)) <= sum(score(found)) - len(fixes) and score(after) < score(found):
            lines = [only[fix].span for fix in fixes]
            made_ones = [Made(span.line, fix.title) for span, fix in zip(lines, fixes, strict=True) if span is not None]
            return new, made_ones, after
    return text, [], found
