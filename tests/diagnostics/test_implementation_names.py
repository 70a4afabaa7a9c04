"""No message shows a name of the implementation, whatever is wrong with the text.

Programs of the examples lose or double a piece of their text; the tables of wrong statements have their own tests.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from pto_dialect.api import check
from pto_dialect.diagnostics.diagnostic import Severity

from .implementation_names import RAW_WORDS

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = ("gemm/gemm.pto", "spmv/spmv.pto", "topk_routing/topk_routing.pto", "token_quant/token_quant.pto")
PIECE = re.compile(r"//[^\n]*|[%!#@^]?[\w.]+|->|\S")
NOTHING_EXPECTED = re.compile(r"unexpected (?!.*expected)")
OF_TEXT = re.compile(r"'[^']*'|\"[^\"]*\"|[%!#@^][\w.$#-]+(?:<[^<>]*>)?")
"""What messages show of the program itself."""


def head(path: str) -> str:
    """The aliases and the first function of an example, as a program."""
    text = (EXAMPLES / path).read_text()
    second = [found.start() for found in re.finditer(r"^  func\.func ", text, re.MULTILINE)][1:2]
    return text[: second[0]].rstrip() + "\n}\n" if second else text


def damaged(text: str, rng: random.Random) -> tuple[str, int]:
    """``text`` without a piece, with one twice, or with two exchanged; and the line of the damage."""
    pieces = [found for found in PIECE.finditer(text) if not found.group().startswith("//")]
    place = rng.randrange(len(pieces) - 1)
    piece, following = pieces[place], pieces[place + 1]
    kind = rng.randrange(3)
    if kind == 0:
        new = ""
    elif kind == 1:
        new = f"{piece.group()} {piece.group()}"
    else:
        between = text[piece.end() : following.start()]
        new = following.group() + between + piece.group()
    end = following.end() if kind == 2 else piece.end()
    return text[: piece.start()] + new + text[end:], text.count("\n", 0, piece.start()) + 1


@pytest.mark.parametrize("path", PROGRAMS)
def test_damaged_programs(path: str) -> None:
    rng = random.Random(path)
    text = head(path)
    once = near = 0
    for _ in range(25):
        wrong, line = damaged(text, rng)
        errors = [d for d in check(wrong).diagnostics if d.severity is Severity.ERROR]
        for error in errors:
            told = OF_TEXT.sub("", f"{error.message} {error.help or ''}")
            assert not RAW_WORDS.search(told), error
            assert error.help is not None or not NOTHING_EXPECTED.match(error.message), error
        once += len(errors) <= 1
        near += not errors or any(e.span is not None and abs(e.span.line - line) <= 1 for e in errors)
    assert once >= 20 and near >= 20
