"""Long types are read in a time that grows with their length, not with its square."""

from __future__ import annotations

import time

import pytest

from pto_dialect.syntax.types.parser import TypeLexer

SHORT, TIMES = 100_000, 8


def seconds(unit: str, length: int) -> float:
    lexer = TypeLexer({sign: "SIGN" for sign in "<>(),=?:"})
    text = unit * (length // len(unit))
    begun = time.process_time()
    assert sum(1 for _ in lexer.lex(text)) >= length // len(unit)
    return time.process_time() - begun


@pytest.mark.parametrize("unit", ["vec, ", "a=b, ", "memref\n", "(", "1 ", "-> ", "memref<"])
def test_a_long_type(unit: str) -> None:
    assert seconds(unit, SHORT * TIMES) < 3 * TIMES * max(seconds(unit, SHORT), 0.005)


def test_keywords_before_signs() -> None:
    lexer = TypeLexer({sign: sign for sign in "<>(),=?:"})
    kinds = [token.type for token in lexer.lex("memref \n<a \t= b, f32 x, tensor = c, tensor d")]
    assert kinds == [
        "BUILTIN",
        "<",
        "KEY",
        "=",
        "WORD",
        ",",
        "SCALAR",
        "WORD",
        ",",
        "KEY",
        "=",
        "WORD",
        ",",
        "WORD",
        "WORD",
    ]
