"""docs/reference/words.md: enumerations and quoted words."""

from __future__ import annotations

from pto_dialect.ir.core import words
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.kinds import Kind

from .markdown import WRITTEN_BY, code, table


def quoted() -> list[tuple[str, Kind]]:
    """Lists of quoted words by their name in the package, words in code."""
    return [(name, kind) for name, kind in vars(words).items() if name.isupper() and isinstance(kind, Kind)]


def page() -> str:
    """The whole page."""
    lines = [
        "# Words",
        "",
        "Every enumeration of the dialect and every quoted word. [language.md](language.md#attributes) says how",
        "they are written.",
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
        "## Quoted words",
        "",
        *table(
            ("list", "words"),
            ((name.lower().replace("_", " "), code(kind.words)) for name, kind in quoted()),
        ),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"
