"""Opcodes of the assembly form with suffixes, and keys written ``#key=value``.

Source: docs/reference/language.md, "PTO-AS assembly", rules 5, 6 and 8.
"""

from __future__ import annotations

from itertools import product

_COALESCE = {"row": ("coalesce", "row"), "elem": ("coalesce", "elem")}

SUFFIX_ATTRIBUTES: dict[str, dict[str, tuple[str, str]]] = {
    "pto.mgather": {
        **_COALESCE,
        **{word: ("gatherOob", word) for word in ("clamp", "wrap", "zero")},
    },
    "pto.mscatter": {
        **_COALESCE,
        **{word: ("scatterOob", word) for word in ("skip", "clamp", "wrap")},
        **{f"atomic_{word}": ("scatterAtomicOp", word) for word in ("add", "max", "min")},
    },
}
"""Mnemonic to the meaning of its suffixes: attribute and value."""

_MOVES = ("m2l", "m2r", "m2b", "m2s", "a2v", "v2v", "s2d")
"""Suffixes of ``tmov``: the locations of source and destination, which the types of the tiles also state."""


def _with_suffixes(mnemonic: str) -> list[str]:
    """Returns all opcodes of ``mnemonic``: one suffix of each kind, in the order of the table."""
    kinds: dict[str, list[str]] = {}
    for word, (name, _) in SUFFIX_ATTRIBUTES[mnemonic].items():
        kinds.setdefault(name, []).append(word)
    first, *others = kinds.values()
    tails = product(*([None, *words] for words in others))
    return [".".join((mnemonic, word, *filter(None, tail))) for tail in tails for word in first]


SUFFIXED: dict[str, str] = {
    **{name: mnemonic for mnemonic in SUFFIX_ATTRIBUTES for name in _with_suffixes(mnemonic)},
    **{f"pto.tmov.{move}": "pto.tmov" for move in _MOVES},
}
"""Opcode with suffixes (``pto.mgather.row.clamp``) to mnemonic."""

KEYS: dict[str, tuple[str, str]] = {
    "atomic": ("atomicType", "atomic_"),
    "cmp": ("cmpMode", ""),
    "phase": ("reluPreMode", "normal_"),
}
"""Key to the attribute that it sets, and the missing part of its value."""
