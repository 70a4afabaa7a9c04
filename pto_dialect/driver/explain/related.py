"""Operations that do the same at another level, or nearly the same."""

from __future__ import annotations

import re
from functools import cache

from pto_dialect.ir.core.aliases import MNEMONIC_ALIASES
from pto_dialect.ir.core.index import OPS

_MOST = 8


@cache
def aliases() -> dict[str, tuple[str, ...]]:
    """Other spellings of operations, by the operation."""
    found: dict[str, list[str]] = {}
    for alias, name in MNEMONIC_ALIASES.items():
        found.setdefault(name, []).append(alias)
    return {name: tuple(spelled) for name, spelled in found.items()}


@cache
def _stems() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name in OPS:
        found.setdefault(stem(name), []).append(name)
    return {key: tuple(names) for key, names in found.items()}


def stem(name: str) -> str:
    """Returns what operations of several levels have in common: ``add`` of ``pto.tadd``, ``pto.vmi.vadd``,
    ``pto.vmi.addf``."""
    text = name.removeprefix("pto.").removeprefix("vmi.").removeprefix("ub.").partition(".")[0]
    text = re.sub(r"_(?:acc|bias|raw|mx|fp|b8|b16|b32|dyn|x|y|z)\b", "", text)
    if name.startswith("pto.vmi.") and re.fullmatch(r"\w+[fi]", text) and not text.startswith("v"):
        text = text[:-1]
    return text[1:] if text[0] in "tv" and len(text) > 3 else text


def related(name: str) -> tuple[str, ...]:
    """Returns at most eight operations related to ``name``: the same stem, the stem with one letter more, then the
    family."""
    own = stem(name)
    near = [other for key in (own, f"{own}s", own.removesuffix("s"), f"{own}c") for other in _stems().get(key, ())]
    family = OPS[name][0]
    members = [other for other in OPS if OPS[other][0] == family]
    parts = [other for other in members if stem(other).startswith(own) or own.startswith(stem(other))]
    names = list(OPS)
    at = names.index(name)
    beside = [other for other in names[max(at - 3, 0) : at + 4] if OPS[other][0] == family]
    return tuple(other for other in dict.fromkeys([*near, *parts, *beside]) if other != name)[:_MOST]
