"""The tokens of a text, as the reader of programs sees them, of texts in the middle of writing as well."""

from __future__ import annotations

from functools import cache
from typing import Any

from pto_dialect.syntax.read.grammar import load_grammar
from pto_dialect.syntax.read.lexer import ProgramLexer, ProgramText, is_assembly, mask_hash_comments
from pto_dialect.syntax.read.tokens import Tok


class _Nobody:
    """A builder stub for a grammar of which only the lexer is used."""

    def __getattr__(self, name: str) -> Any:
        return None


@cache
def _lexer() -> ProgramLexer:
    lexer = load_grammar("pto.lark", ProgramLexer, _Nobody()).lexer
    assert isinstance(lexer, ProgramLexer)
    return lexer


def tokens(text: str, assembly: bool | None = None) -> list[Tok]:
    """Returns the tokens of ``text``; ``assembly`` says whether it is of that form, else the text itself does."""
    assembly = is_assembly(text) if assembly is None else assembly
    return list(_lexer().lex(ProgramText(mask_hash_comments(text) if assembly else text, assembly)))
