"""Colours of `.pto` programs on the site: the grammar for editors as a lexer of Pygments."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups
from pygments.lexers import LEXERS
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    _TokenType,
)

from pto_dialect.driver.reference.textmate import patterns

__all__ = ("PtoLexer",)

NAMES = ("mlir", "pto")
"""Languages of code blocks that are coloured."""
_TOKENS: tuple[tuple[str, _TokenType], ...] = (
    ("comment", Comment.Single),
    ("string", String),
    ("entity.name.function", Name.Function),
    ("entity.name.label", Name.Label),
    ("entity.other.attribute-name", Name.Attribute),
    ("variable", Name.Variable),
    ("storage.type", Keyword.Type),
    ("constant.numeric", Number),
    ("constant.other.attribute", Name.Attribute),
    ("constant.language", Name.Constant),
    ("keyword.operator", Operator),
    ("keyword.other.operation", Name.Function),
    ("support.function", Name.Function),
    ("invalid.deprecated", Name.Function),
    ("keyword", Keyword),
)
"""Tokens by the beginning of a scope; all others are plain."""


def token_of(scope: str) -> _TokenType:
    """The token of a scope of the grammar."""
    return next((token for start, token in _TOKENS if scope.startswith(start)), Name)


class PtoLexer(RegexLexer):
    """Programs in every form of the language."""

    name = "PTO"
    aliases: ClassVar[Sequence[str]] = NAMES
    filenames: ClassVar[Sequence[str]] = ("*.pto",)
    tokens: ClassVar = {
        "root": [
            *(
                (each["match"], token_of(each["name"]))
                if "name" in each
                # The name follows what is matched before it.
                else (each["match"].replace("(?:^\\s*|=\\s*)", "(^\\s*|=\\s*)"), bygroups(Text, Name.Function))
                for each in patterns()
            ),
            (r"\s+", Text),
            (r"[A-Za-z_][\w.$]*", Name),
            (r"[^\sA-Za-z_]", Punctuation),
        ]
    }


def register() -> None:
    """Makes the lexer known to what colours code."""
    folder = str(Path(__file__).parent)
    if folder not in sys.path:
        sys.path.append(folder)
    LEXERS["PtoLexer"] = (__name__, PtoLexer.name, NAMES, tuple(PtoLexer.filenames), ())
