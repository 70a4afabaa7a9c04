"""Enumerations as the assembly form spells them: ``#pto.cmp<EQ>`` for ``#pto<cmp eq>``.

Source: docs/reference/language.md, "PTO-AS assembly", rule 7.
"""

from __future__ import annotations

import re

from pto_dialect.ir.core.attributes import ENUMS

ASSEMBLY_ENUM = re.compile(r"#pto\.(cmp|round_mode|reduce_op|notify_op)<\s*(\w+)\s*>")


def respelled(found: re.Match[str]) -> str:
    """Returns a match of ``ASSEMBLY_ENUM`` as the dialect spells it; an unknown value is unchanged."""
    kind, value = found.groups()
    return ENUMS[kind].spell(next((word for word in ENUMS[kind].values if _plain(word) == _plain(value)), value))


def _plain(word: str) -> str:
    return word.lower().replace("_", "")
