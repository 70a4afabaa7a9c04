"""docs/reference/enumerators.md: enumerations and quoted keywords."""

from __future__ import annotations

from pto_dialect.ir.core import words
from pto_dialect.ir.core.aliases import ATTRIBUTE_ALIASES
from pto_dialect.ir.core.attributes import ENUM_ALIASES, ENUMS
from pto_dialect.ir.core.kinds import Kind

from .markdown import WRITTEN_BY, code, table


def quoted() -> list[tuple[str, Kind]]:
    """Lists of quoted keywords by their name in the package."""
    return [(name, kind) for name, kind in vars(words).items() if name.isupper() and isinstance(kind, Kind)]


def _synonyms() -> list[tuple[str, str, str]]:
    """Returns where another spelling is accepted, the spelling and its canonical form, in code style."""
    rows = [
        *((f"`#pto` {name}", alias, word) for name, words in ENUM_ALIASES.items() for alias, word in words.items()),
        *((name.lower().replace("_", " "), *pair) for name, kind in quoted() for pair in kind.synonyms.items()),
        *((f"attributes of `{op}`", *pair) for op, names in ATTRIBUTE_ALIASES.items() for pair in names.items()),
    ]
    return [(where, f"`{alias}`", f"`{word}`") for where, alias, word in rows]


def page() -> str:
    """Returns the whole page."""
    lines = [
        "# Enumerators",
        "",
        "Every enumeration of the dialect and every quoted keyword. [language.md](language.md#attributes) describes",
        "their syntax.",
        "",
        WRITTEN_BY,
        "",
        "## Enumerations of form B",
        "",
        "`#pto.name<value>`",
        "",
        *table(
            ("name", "values"),
            ((f"`{e.name}`", code(e.values)) for e in ENUMS.values() if e.bracketed),
        ),
        "## Enumerations of form S",
        "",
        "`#pto<name value>`",
        "",
        *table(
            ("name", "values"),
            ((f"`{e.name}`", code(e.values)) for e in ENUMS.values() if not e.bracketed),
        ),
        "## Quoted keywords",
        "",
        *table(
            ("list", "keywords"),
            ((name.lower().replace("_", " "), code(kind.words)) for name, kind in quoted()),
        ),
        "## Other spellings",
        "",
        "Every form of the text may have them; the printer writes the canonical spelling.",
        "",
        *table(("where", "other spelling", "means"), _synonyms()),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"
