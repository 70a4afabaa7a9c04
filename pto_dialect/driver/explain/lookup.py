"""``--explain``: the page of a rule, an operation or a term, else the results of a search."""

from __future__ import annotations

from pto_dialect.diagnostics.suggest import did_you_mean
from pto_dialect.ir.core.aliases import MNEMONIC_ALIASES
from pto_dialect.ir.core.index import OPS

_MOST = 3


class UnknownWordError(ValueError):
    """There is nothing of this name, and no operation that has to do with it."""


def explain(word: str) -> str:
    """The text about ``word``: an operation (with ``pto.`` or without), a rule, a type, an enumeration or one of its
    enumerators, a clause, a pipe, a memory, a location, a layout, a target; a page of the documentation
    (``docs/cycles.md`` or ``cycles``); else the results of a search.

    Raises :class:`UnknownWordError` with similar names.
    """
    word = word.strip()
    name = operation_named(word)
    if name is not None:
        from .operation import operation_page  # deferred: start-up
        from .terminal import render  # deferred: start-up

        return render(operation_page(name))
    from .rules import explain as explain_rule  # deferred: start-up
    from .rules import known_rules  # deferred: start-up

    rules = known_rules()
    if word in rules:
        return explain_rule(rules[word])
    from .terminal import render  # deferred: start-up
    from .terms import terms  # deferred: start-up

    known = terms()
    key = word.lower().removeprefix("!").removeprefix("#").partition("<")[0].strip()
    if key in known:
        return render(known[key]())
    from .search.guides import page_text  # deferred: start-up

    page = page_text(word)
    if page is not None:
        return page
    near = did_you_mean(word, [*OPS, *rules, *(name for name in known if f"pto.{name}" not in OPS)], _MOST)
    if near and " " not in word and not _is_question(word):
        raise UnknownWordError(f"there is nothing called '{word}'; did you mean {' or '.join(near)}?")
    return _found(word, near)


def operation_named(word: str) -> str | None:
    """The operation that ``word`` names; ``None`` for other words."""
    for name in (word, f"pto.{word}", word.lower(), f"pto.{word.lower()}"):
        if name in OPS:
            return name
        if name in MNEMONIC_ALIASES and MNEMONIC_ALIASES[name] in OPS:
            return MNEMONIC_ALIASES[name]
    return None


def _is_question(word: str) -> bool:
    """Whether this is more likely a search of one term than a misspelt name."""
    from .search.ranking import known  # deferred: start-up

    return not word.startswith("pto.") and known(word)


def _found(question: str, near: list[str]) -> str:
    from .page import Page, Section, Table  # deferred: start-up
    from .search.ranking import search  # deferred: start-up
    from .terminal import render  # deferred: start-up

    documents = search(question)
    if not documents:
        hint = f"; did you mean {' or '.join(near)}?" if near else "; --list-ops and --list-rules list all names"
        raise UnknownWordError(f"there is nothing called '{question}'{hint}")
    rows = tuple((f"`{document.key}`", document.kind, document.summary) for document in documents)
    sections = (Section("Results", (Table(("name", "kind", "about"), rows),)),)
    return render(Page(f"'{question}' is no name; use --explain with one of these", "", sections))
