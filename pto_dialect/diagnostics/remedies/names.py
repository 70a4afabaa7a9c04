"""Words that are misspelt, foreign, or lack the sign of their kind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pto_dialect.diagnostics.fix import Fix
from pto_dialect.diagnostics.suggest import edit_distance

from .groups import values_before
from .site import Site, remedy

_MOST = 6
"""Words that are tried where any of a list may be meant."""


def _extent(site: Site, word: str | None) -> tuple[int, int]:
    """Returns where the wrong ``word`` is in what the diagnostic points at, or after it; that as a whole where it is
    not."""
    if word is None:
        return site.start, site.end
    start = site.text.find(word, site.start, max(site.end, site.statement_end))
    return (site.start, site.end) if start < 0 else (start, start + len(word))


@remedy
def replace(site: Site, old: str | None, *new: str) -> Iterator[Fix]:
    """``old`` becomes one of ``new``, the likeliest first. It is in what the diagnostic points at, or follows in the
    statement; ``None`` is all that the diagnostic points at."""
    start, end = _extent(site, old)
    for name in new:
        yield site.replaced(name, start, end)


@remedy
def choose(site: Site, old: str | None, *allowed: str) -> Iterator[Fix]:
    """As :func:`replace`, where any of ``allowed`` may be meant: the nearest, as guesses."""
    start, end = _extent(site, old)
    word = site.text[start:end].lower()
    near = sorted(allowed, key=lambda each: (not each.lower().endswith(word), edit_distance(word, each.lower(), 40)))
    for name in near[:_MOST]:
        yield site.replaced(name, start, end, safe=False)


@remedy
def similar_value(site: Site) -> Iterator[Fix]:
    """An earlier value whose name differs in one letter, as a guess."""
    names = [name for name in values_before(site) if edit_distance(site.word, name, 2) <= 2]
    for name in names[:_MOST]:
        yield site.replaced(name, safe=False)


@remedy
def insert(site: Site, text: str) -> Iterator[Fix]:
    """``text`` before what the diagnostic points at."""
    yield site.inserted(text, site.start)


@remedy
def append(site: Site, text: str) -> Iterator[Fix]:
    """``text`` after what the diagnostic points at."""
    yield site.inserted(text, site.end)


@remedy
def remove(site: Site) -> Iterator[Fix]:
    """Without what the diagnostic points at."""
    yield site.replaced("", site.start, site.end)


@remedy
def underscores(site: Site) -> Iterator[Fix]:
    """``_`` in place of hyphens."""
    yield site.replaced(site.word.replace("-", "_"))


@remedy
def replace_in_statement(site: Site, old: str, new: str) -> Iterator[Fix]:
    """The first ``old`` of the statement becomes ``new``."""
    start = site.text.find(old, site.statement_start, site.statement_end)
    if start >= 0:
        yield site.replaced(new, start, start + len(old))


@remedy
def replace_before(site: Site, old: str, new: str) -> Iterator[Fix]:
    """The last ``old`` before what the diagnostic points at becomes ``new``."""
    start = site.text.rfind(old, site.statement_start, site.start)
    if start >= 0:
        yield site.replaced(new, start, start + len(old))


@remedy
def target_name(site: Site, found: str) -> Iterator[Fix]:
    """A known target instead of ``found``, or the attribute that takes the name of a device."""
    at = site.text.find(f'"{found}"', site.start)
    key = site.text.find("pto.target_arch", site.start)
    if at < 0:
        return
    if found.lower().startswith("ascend") and key >= 0:
        yield site.replaced('"pto.device-spec"', key, key + len("pto.target_arch"))
    for name in ("a5", "a3"):
        yield site.replaced(f'"{name}"', at, at + len(found) + 2, safe=False)


@remedy
def event_name(site: Site, name: str) -> Iterator[Fix]:
    """The name of an event instead of an id, quoted as the tokens before it."""
    quoted = '", ' in site.text[site.statement_start : site.start]
    yield site.replaced(f'"{name}"' if quoted else name)


@remedy
def typed_number(site: Site, name: str, new: str) -> Iterator[Fix]:
    """The number of the attribute ``name`` with its type."""
    pattern = re.compile(rf"\b{re.escape(name)}\s*=\s*(-?\w+(?:\s*:\s*\w+)?)")
    found = pattern.search(site.text, site.statement_start, site.statement_end)
    if found is not None:
        yield site.replaced(new, *found.span(1))


@remedy
def attribute_form(site: Site, new: str) -> Iterator[Fix]:
    """The next attribute of PTO in another spelling."""
    found = re.compile(r"#pto[.\w<]*(?:<[^>]*>|[^>]*>)").search(site.text, site.start, site.statement_end)
    if found is not None:
        yield site.replaced(new, *found.span())


@remedy
def own_precision(site: Site, suffix: str, *operations: str) -> Iterator[Fix]:
    """The precision as an attribute of its operation: #pto<exp_precision ..> for pto.texp, of the enumerations that
    ``suffix`` makes of ``operations``."""
    entry = re.compile(r"(?:\w+\s*=\s*)?#pto[.<]\s*\w+[\s<]+(\w+)\s*>")
    written = next((one for one in entry.finditer(site.text, site.statement_start) if one.end() == site.end), None)
    name = re.compile(r"\bpto\.t(\w+?)s?\b").search(site.text, site.statement_start, site.statement_end)
    own = max((one for one in operations if name and name[1].endswith(one)), key=len, default=None)
    if written is not None and own is not None:
        yield site.replaced(f"precisionType = #pto<{own}{suffix} {written[1].lower()}>", *written.span())


@remedy
def quote(site: Site) -> Iterator[Fix]:
    """What the diagnostic points at, in quotes."""
    yield site.replaced(f'"{site.word}"')
