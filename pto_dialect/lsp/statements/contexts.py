"""What the next operation may depend on, and how often operations follow it in programs: the rows of the table."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from .history import BEGIN, END, NUMBERS, History, statements_of
from .names import orders, pipe_of, words_of

Key = tuple[str, tuple[str, ...]]
"""A context, or what has written a value, with its content."""
Counts = dict[Key, Counter[str]]
_MANY = 2
"""Flags and values that are many."""
NAMED_VALUES = 8
"""Values that nothing has used, whose names speak for operations."""
_VECTORS = 3
"""Registers that are many."""


_FULL = 6
"""The size of a region that is large."""
_DEEP = 4
"""Regions inside each other that are many."""


class Context(NamedTuple):
    """What the next operation may depend on, and the context with less content that fills up what it has not seen."""

    content: Callable[[History], tuple[str, ...]]
    wider: str = ""


def _region(history: History) -> str:
    return history.regions[-1] if history.regions else ""


def _last(history: History) -> str:
    """Returns the last operation, or the brace with the operation whose region it begins or ends."""
    return f"{_region(history)}{history.last}" if history.last in (BEGIN, END) else history.last


def _earlier(history: History, number: int) -> str:
    """Returns the operation so many before the last one or the brace."""
    at = number + (history.last not in (BEGIN, END))
    return history.done[-at] if len(history.done) >= at else ""


def _newest(history: History) -> tuple[str, str]:
    """Returns the kinds of the newest values that nothing has used."""
    kinds = [*(kind for _, kind in history.newest()), "", ""]
    return kinds[0], kinds[1]


def _newest_name(history: History) -> str:
    """Returns the last part of the name of the newest value that nothing has used."""
    words = words_of(next(reversed(history.unused), ""))
    return words[-1] if words else ""


def _place(history: History) -> tuple[str, str, str]:
    """Returns the region, how deep it is, and how many operations are in it, beyond three by powers of two."""
    number = history.sizes[-1] if history.sizes else 0
    size = number if number < 4 else min(_FULL, number.bit_length() + 1)
    return _region(history), str(min(_DEEP, len(history.regions))), str(size)


def _work(history: History) -> tuple[str, str, str]:
    """Returns the last operation, or that it orders pipes, and the last two that do not."""
    work = islice((name for name in reversed(history.done) if not orders(name)), 2)
    last, earlier = [*work, "", ""][:2]
    return "order" if orders(history.last) else _last(history), last, earlier


def _types(history: History) -> str:
    return ", ".join(sorted({kind for _, kind in history.unused.values() if kind not in NUMBERS}))


def _state(history: History) -> tuple[str, ...]:
    """Returns the flags that are set, the pipe that has just waited, the pipe of the last operation, what must end the
    region."""
    end = history.ends[-1] if history.ends else ""
    return str(min(_MANY, len(history.flags))), history.waiting, pipe_of(history.last), end


def _waiting_values(history: History) -> tuple[str, ...]:
    """Returns how many tiles that nothing has used are allocated, loaded and computed, and how many registers and
    masks."""
    found: Counter[str] = Counter()
    for name, kind in history.unused.values():
        if "tile" in kind:
            found[{"pto.alloc_tile": "allocated", "pto.tload": "loaded"}.get(name, "computed")] += 1
        else:
            found[kind.rpartition(".")[2]] += 1
    most = {"allocated": _MANY, "loaded": _MANY, "computed": _MANY, "vreg": _VECTORS, "mask": _MANY}
    return tuple(str(min(limit, found[kind])) for kind, limit in most.items())


CONTEXTS: dict[str, Context] = {
    "all": Context(lambda history: ()),
    "last": Context(lambda history: (_last(history),), "all"),
    "region": Context(lambda history: (_region(history), history.last), "last"),
    "two": Context(lambda history: (_earlier(history, 1), _last(history)), "region"),
    "three": Context(lambda history: (_earlier(history, 2), _earlier(history, 1), _last(history)), "two"),
    "work": Context(_work, "last"),
    "place": Context(_place, "region"),
    "purpose": Context(lambda history: (_region(history), *history.purpose), "all"),
    "unused types": Context(lambda history: (_region(history), _types(history)), "all"),
    "newest types": Context(lambda history: (_last(history), *_newest(history)), "last"),
    "state": Context(_state, "all"),
    "values": Context(lambda history: (_region(history), *_waiting_values(history)), "all"),
    "elements": Context(lambda history: (_region(history), " ".join(sorted(history.elements))), "all"),
    "newest name": Context(lambda history: (_last(history), _newest_name(history)), "last"),
    "newest element": Context(lambda history: (_last(history), _newest(history)[0], history.element), "last"),
}
"""The contexts by the names of the rows of the table."""
USE, USE_OF_KIND = "use", "use of kind"
"""Rows for the first operations that use a value: by what has written it and the kind of its type, and by the kind."""
WORD, PARAMETER, REMARKED = "word", "parameter", "remark"
"""Rows for the operations of functions by the parts of their names and of the names of their files, by those of their
arguments, and for operations by those of the terms in the comments above them."""
LATER = "later"
"""Rows for the operations that programs begin to use after they have begun to use another one."""
VALUE = "value"
"""Rows for the first operations that use a value, by the parts of its name."""


class Program(NamedTuple):
    """A program that is counted."""

    text: str
    aliases: Mapping[str, str]
    """The names of its types."""
    title: str
    """The name of its file."""
    weight: int
    """How many programs it counts for."""


def contents(history: History, names: Iterable[str] = CONTEXTS) -> dict[str, tuple[str, ...]]:
    """Returns the contents of contexts where the next statement begins."""
    return {name: CONTEXTS[name].content(history) for name in names}


def _seen(program: Program) -> Iterator[tuple[Key, str]]:
    """Yields what each statement of a program follows."""
    history, used = History(program.aliases), dict[str, None]()
    for statement in statements_of(program.text):
        if not statement.is_frame:
            name = statement.name
            yield from ((one, name) for one in contents(history).items())
            for made, kind in history.uses(statement):
                yield (USE, (made, kind)), name
                yield (USE_OF_KIND, (kind,)), name
            for kind, words in _speaking(history, program.title).items():
                yield from (((kind, (word,)), name) for word in words)
            yield from (((VALUE, (word,)), name) for word in parts_of_names(history.first_used(statement)))
            if name not in used:
                yield from (((LATER, (one,)), name) for one in used)
                used[name] = None
        history.follow(statement)


def parts_of_names(names: Iterable[str]) -> dict[str, None]:
    """Returns the parts of names that are letters, each once."""
    return dict.fromkeys(word for name in names for word in words_of(name))


def _speaking(history: History, title: str) -> dict[str, dict[str, None]]:
    """Returns the parts of names by which operations are counted, by the kinds of their rows."""
    return {
        WORD: parts_of_names((history.name, title)),
        PARAMETER: parts_of_names(history.arguments),
        REMARKED: parts_of_names(history.above),
    }


def terms_here(history: History, title: str, used: Iterable[str]) -> dict[str, dict[str, None]]:
    """Returns what speaks for the next operation by rows of other kinds than contexts: parts of names, and the
    operations that the program has ``used``."""
    nearest = islice(reversed(history.unused), NAMED_VALUES)
    return _speaking(history, title) | {VALUE: parts_of_names(nearest), LATER: dict.fromkeys(used)}


_NAMED = (WORD, PARAMETER, REMARKED, LATER, VALUE, "newest name")
"""Rows about names, and about whole programs, which count from two programs on: one program may use any names."""


def count(programs: Iterable[Program]) -> Counts:
    """In how many programs an operation follows what, without what is in one only."""
    counts: defaultdict[Key, Counter[str]] = defaultdict(Counter)
    found: defaultdict[Key, Counter[str]] = defaultdict(Counter)
    for program in programs:
        for key, name in set(_seen(program)):
            counts[key][name] += program.weight
            found[key][name] += 1

    def keeps(key: Key, name: str) -> bool:
        return counts[key][name] > 1 and (key[0] not in _NAMED or found[key][name] > 1)

    kept = {key: Counter({name: n for name, n in names.items() if keeps(key, name)}) for key, names in counts.items()}
    return {key: names for key, names in kept.items() if names}
