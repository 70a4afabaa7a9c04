"""``--explain``: the page of a rule, an operation or a term, else the results of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pto_dialect.diagnostics.suggest import did_you_mean
from pto_dialect.ir.core.aliases import MNEMONIC_ALIASES
from pto_dialect.ir.core.index import OPS

if TYPE_CHECKING:
    from pto_dialect.verify.engine.rule import Rule

    from .page import Page

_MOST = 3


class UnknownTermError(ValueError):
    """There is nothing of this name, and no operation that has to do with it."""


class Found(NamedTuple):
    """What a term names: ``kind`` is operation, rule, term, page or results; one of the others is what there is to
    show. ``results`` are the names, kinds and sentences of a search."""

    kind: str
    name: str
    page: Page | None = None
    rule: Rule | None = None
    text: str = ""
    results: tuple[tuple[str, str, str], ...] = ()


def explain(word: str) -> str:
    """Returns the text about ``word``: an operation (with ``pto.`` or without), a rule, a type, an enumeration or one
    of its enumerators, a clause, a pipe, a memory, a location, a layout, a target; a page of the documentation or a
    part of it (``docs/cycles.md``, ``cycles``, ``cycles#your-own-measurements``); an operation of a core dialect, a
    pass; sections of one of these pages (``tadd#operands``, ``tadd syntax example``); else the results of a search.

    Raises :class:`UnknownTermError` with similar names.
    """
    found = look_up(word)
    if found.rule is not None:
        from .rules import explain as explain_rule  # deferred: start-up

        return explain_rule(found.rule)
    if found.kind == "page":
        return found.text
    from .terminal import render  # deferred: start-up

    return render(found.page if found.page is not None else _results(found))


def explain_json(word: str) -> str:
    """Returns the same as a JSON document: ``{"version": 1, "kind", "name", ..}`` with the ``summary`` and ``sections``
    of an operation or term, the fields of a rule, the Markdown ``text`` of a page, or the ``results`` of a search."""
    import json  # deferred: start-up

    from .page import as_data  # deferred: start-up

    found = look_up(word)
    data: dict[str, object] = {"version": 1, "kind": found.kind, "name": found.name}
    if found.rule is not None:
        from .rules import as_data as rule_data  # deferred: start-up

        data |= rule_data(found.rule)
    elif found.page is not None:
        data |= as_data(found.page)
    elif found.kind == "page":
        data["text"] = found.text
    else:
        data["results"] = [dict(zip(("name", "kind", "about"), row, strict=True)) for row in found.results]
    return json.dumps(data, indent=2) + "\n"


def look_up(word: str) -> Found:
    """Returns what ``word`` names. Raises :class:`UnknownTermError`."""
    word = word.strip()
    found = _named(word) or _part(word)
    if found is not None:
        return found
    from .rules import known_rules  # deferred: start-up
    from .terms import terms  # deferred: start-up

    names = [name for name in terms() if f"pto.{name}" not in OPS]
    near = did_you_mean(word, [*OPS, *known_rules(), *names], _MOST)
    if near and " " not in word and not _is_question(word):
        raise UnknownTermError(f"there is nothing called '{word}'; did you mean {' or '.join(near)}?")
    return _found(word, near)


def _named(word: str) -> Found | None:
    """Returns what exactly ``word`` names; ``None`` for nothing."""
    name = operation_named(word)
    if name is not None:
        from .operation import operation_page  # deferred: start-up

        return Found("operation", name, operation_page(name))
    from .rules import known_rules  # deferred: start-up

    rules = known_rules()
    if word in rules:
        return Found("rule", word, rule=rules[word])
    from .terms import terms  # deferred: start-up

    known = terms()
    key = word.lower().removeprefix("!").removeprefix("#").partition("<")[0].strip()
    if key in known:
        return Found("term", key, known[key]())
    return _guide(word)


def _guide(word: str) -> Found | None:
    """Returns a page of the documentation, or a name from elsewhere."""
    from .other_names import other_page  # deferred: start-up
    from .search.guides import UnknownPartError, page_text  # deferred: start-up

    try:
        text = page_text(word)
    except UnknownPartError as error:
        if other_page(word.partition("#")[0]) is not None:
            return None
        raise UnknownTermError(str(error)) from None
    if text is not None:
        return Found("page", word, text=text)
    page = other_page(word)
    return Found("term", page.title, page) if page is not None else None


def _part(word: str) -> Found | None:
    """Sections of a page: ``tadd#operands``, of an operation also ``tadd operands``; ``None`` for other words."""
    from .other_names import other_page  # deferred: start-up
    from .parts import UnknownSectionError, part_of  # deferred: start-up

    name, mark, wanted = word.partition("#") if "#" in word.lstrip("#!") else word.partition(" ")
    if not name or not wanted.strip() or (mark == " " and operation_named(name) is None and other_page(name) is None):
        return None
    found = _named(name)
    if found is None:
        return None
    page = found.page or other_page(name)
    if page is None:
        raise UnknownTermError(f"the page of {found.name} has no parts")
    try:
        return Found("term" if found.page is None else found.kind, found.name, part_of(page, wanted))
    except UnknownSectionError as error:
        if mark == " ":
            return None
        raise UnknownTermError(str(error)) from None


def operation_named(word: str) -> str | None:
    """Returns the operation that ``word`` names; ``None`` for other words."""
    for name in (word, f"pto.{word}", word.lower(), f"pto.{word.lower()}"):
        if name in OPS:
            return name
        if name in MNEMONIC_ALIASES and MNEMONIC_ALIASES[name] in OPS:
            return MNEMONIC_ALIASES[name]
    return None


def _is_question(word: str) -> bool:
    """Returns whether this is more likely a search of one term than a misspelt name."""
    from .search.ranking import known  # deferred: start-up

    return not word.startswith("pto.") and known(word)


def _found(question: str, near: list[str]) -> Found:
    from .search.ranking import search  # deferred: start-up

    documents = search(question)
    if not documents:
        hint = (
            f"; did you mean {' or '.join(near)}?"
            if near
            else "; pto opt --list-ops and pto opt --list-rules list all names"
        )
        raise UnknownTermError(f"there is nothing called '{question}'{hint}")
    rows = tuple((one.key, one.kind, one.summary or "; ".join(one.phrases[:2])) for one in documents)
    return Found("results", question, results=rows)


def _results(found: Found) -> Page:
    """Returns the results of a search as a page."""
    from .page import Page, Section, Table  # deferred: start-up

    rows = tuple((f"`{key}`", kind, about) for key, kind, about in found.results)
    sections = (Section("Results", (Table(("name", "kind", "about"), rows),)),)
    return Page(f"'{found.name}' is no name; these have to do with it", "", sections)
