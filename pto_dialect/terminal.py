"""Text for terminals and for the logs of services: nothing in it moves the cursor, reorders a line or is a command.

Everything that commands write to standard output and standard error passes through :func:`shown`. A start imports it,
so it imports nothing until there is something to escape.
"""

from __future__ import annotations

_COLORS = r"\x1b\[(?:0|1|1;3[1-6])m"
"""What :mod:`pto_dialect.diagnostics.render` paints with."""
_COMMANDS = r"^[ \t]*:(?=:)|##(?=\[)"
"""Starts of lines, and texts anywhere in them, that GitHub executes."""
_ANNOTATION = r"^::(?:error|warning|notice) (?:file|title)="
"""Of those, what :mod:`pto_dialect.diagnostics.formats_ci` writes."""

_PLAIN = bytes((*range(0x20, 0x7F), *b"\n\t"))
"""Characters of ASCII that a terminal shows as they are."""


def shown(text: str, *, colors: bool = False, annotations: bool = False) -> str:
    """Returns ``text`` with everything escaped that a terminal would not show as it is, ends of lines and tabs aside.

    ``colors`` lets the colours of our own messages through, ``annotations`` our own annotations for GitHub.
    """
    if _is_plain(text):
        return text
    import re  # deferred: start-up

    own = [pattern for wanted, pattern in ((colors, _COLORS), (annotations, _ANNOTATION)) if wanted]
    kept = "|".join(own) or r"(?!)"
    pattern = rf"(?P<own>{kept})|(?P<command>{_COMMANDS})|[^\x20-\x7e\n\t]"

    def escape(found: re.Match[str]) -> str:
        one = found[0]
        if found["own"] is not None:
            return one
        if found["command"] is not None:
            # This form is one of JSON as well.
            return f"{one[:-1]}\\u{ord(one[-1]):04x}"
        return one if one.isprintable() else one.encode("unicode_escape").decode("ascii")

    return re.sub(pattern, escape, text, flags=re.MULTILINE)


def _is_plain(text: str) -> bool:
    if "::" in text or "##[" in text:
        return False
    if text.isascii():
        return not text.encode("ascii").translate(None, delete=_PLAIN)
    return text.replace("\n", "").replace("\t", "").isprintable()
