"""Completions inside types, in attributes of modules and functions and in RUN lines: words from tables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from pto_dialect.analysis.type_facts import ENTRY_ATTRIBUTES, KERNEL_KIND, SIMT_ENTRY
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.types import BUILTIN_SCALARS, PLAIN_TYPES
from pto_dialect.passes.registry import PASS_TABLE
from pto_dialect.passes.stages import ALL, STAGES, USUAL
from pto_dialect.syntax.types.forms import LOCS, LONG_KEYS, WORDS_OF_KEYS

Kind = types.CompletionItemKind
_TILE = re.compile(r"!pto\.(?:tile_buf|tile)<([^<>\n]*)\Z")
_FRAME = re.compile(r"\b(module|func\.func)\b[^\n]*?\battributes\s*\{([^{}\n]*)\Z")
_RUN = re.compile(r"//\s*RUN:[^\n]*\Z")
RUN_COMMANDS = ("pto-opt %s", "not pto-opt %s", "pto-run %s")
"""Commands that RUN lines begin with."""
RUN_OPTIONS = ("-p ", "--lower=", "--verify-only", "--split-input-file", "--target=", "--print-op-generic", "--werror")
"""Options of ``pto-opt`` that RUN lines have, with the space or equals sign before their value."""
_KERNEL_KINDS = tuple(ENUMS["kernel_kind"].spell(value) for value in ENUMS["kernel_kind"].values)
ATTRIBUTES: dict[str, dict[str, tuple[str, ...]]] = {
    "module": {
        "pto.target_arch": ('"a5"', '"a2a3"', '"a2"', '"a3"'),
        KERNEL_KIND: _KERNEL_KINDS,
        "pto.backend": ('"emitc"', '"vpto"'),
    },
    "func.func": {
        **dict.fromkeys(ENTRY_ATTRIBUTES, ()),
        KERNEL_KIND: _KERNEL_KINDS,
        SIMT_ENTRY: (),
    },
}
"""Attributes of modules and functions, and their values; none for those that are only present or absent."""
_PASSES = re.compile(r"(?:-p[ =]?|-{1,2}pass(?:es|-pipeline)[ =])['\"]?(?:builtin\.module\()?([\w{}=,\- ]*)\Z")
_STAGES = re.compile(r"--lower=[\w,]*\Z")


def tile_words(text: str, end: int) -> Iterator[types.CompletionItem] | None:
    """Keys and values of a tile type that is open at ``end``; ``None`` elsewhere."""
    match = _TILE.search(text, max(0, end - 400), end)
    return None if match is None else _tile_words(match[1])


def _tile_words(written: str) -> Iterator[types.CompletionItem]:
    *before, last = written.split(",")
    key, equals, _ = last.partition("=")
    if equals:
        for word in WORDS_OF_KEYS.get(key.strip(), ()):
            yield types.CompletionItem(word, kind=Kind.EnumMember)
        if key.strip() == "dtype":
            for name in (*BUILTIN_SCALARS, *(f"!{name}" for name in PLAIN_TYPES)):
                yield types.CompletionItem(name, kind=Kind.Class)
        return
    keys = [part.partition("=")[0].strip() for part in before if "=" in part]
    if not before:
        yield from (types.CompletionItem(name, kind=Kind.EnumMember) for name in LOCS)
    last_key = max((LONG_KEYS.index(one) for one in keys if one in LONG_KEYS), default=-1)
    for name in LONG_KEYS[last_key + 1 :]:
        yield types.CompletionItem(name, kind=Kind.Property, insert_text=f"{name}=")


def frame_words(text: str, end: int) -> Iterator[types.CompletionItem] | None:
    """Returns the attributes of a module or function whose dictionary is open at ``end``, and their values; ``None``
    elsewhere."""
    match = _FRAME.search(text, text.rfind("\n", 0, end) + 1, end)
    return None if match is None else _frame_words(ATTRIBUTES[match[1]], match[2])


def _frame_words(known: dict[str, tuple[str, ...]], written: str) -> Iterator[types.CompletionItem]:
    *before, last = written.split(",")
    key, equals, _ = last.partition("=")
    if equals:
        for word in known.get(key.strip(), ()):
            yield types.CompletionItem(word, kind=Kind.EnumMember)
        return
    present = {part.partition("=")[0].strip() for part in before}
    for name, values in known.items():
        if name not in present:
            yield types.CompletionItem(name, kind=Kind.Property, insert_text=f"{name} = " if values else name)


def run_line_items(text: str, end: int) -> Iterator[types.CompletionItem]:
    """Passes, their options and stages in a RUN line; nothing in other comments."""
    line = _RUN.search(text, text.rfind("\n", 0, end) + 1, end)
    if line is None:
        return
    words = line[0].partition("RUN:")[2].split("|")[-1]
    if not words.strip() or (len(words.split()) == 1 and words[-1] != " "):
        yield from (types.CompletionItem(name, kind=Kind.Function) for name in RUN_COMMANDS)
        return
    if re.search(r"\s-[\w-]*\Z", words):
        yield from (
            types.CompletionItem(name.rstrip(" ="), kind=Kind.Property, insert_text=name) for name in RUN_OPTIONS
        )
        return
    if _STAGES.search(line[0]):
        for name in (*STAGES, USUAL, ALL):
            yield types.CompletionItem(name, kind=Kind.EnumMember)
        return
    match = _PASSES.search(line[0])
    if match is None:
        return
    name, brace, options = match[1].rpartition(",")[2].partition("{")
    opened = match[1].rpartition("{")
    if opened[1] and "}" not in opened[2]:
        name, brace, options = opened[0].rpartition(",")[2], "{", opened[2]
    if not brace:
        for one, entry in PASS_TABLE.items():
            yield types.CompletionItem(one, kind=Kind.Function, detail=entry.summary)
        return
    known = PASS_TABLE[name.strip()].options if name.strip() in PASS_TABLE else {}
    option, equals, _ = options.rpartition(" ")[2].partition("=")
    if equals:
        yield from (types.CompletionItem(value, kind=Kind.EnumMember) for value in known.get(option, ()))
    else:
        yield from (types.CompletionItem(one, kind=Kind.Property, insert_text=f"{one}=") for one in known)
