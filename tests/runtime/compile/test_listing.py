"""Generated source with the lines of the program as comments, which nothing in a program can turn into code."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from pathlib import Path

import pytest
from groups import in_groups
from hypothesis import given
from hypothesis import strategies as st

import pto_dialect
from pto_dialect.runtime.compile.compiler import comment, listing

EXAMPLES = Path(__file__).parents[3] / "examples"
ENDS = (*"\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", *"\0\x1a\ufeff\u202e\u200b")
"""What ends a line, or a text, for Python, for a terminal, an editor or ``str.splitlines``; marks of direction."""

PROGRAM = """func.func @f(%n: i32) -> i32 {{{0}
  %a = arith.addi %n, %n : i32{0}
  %b = arith.muli %a,
      %n : i32{0}
  return %b : i32{0}
}}
"""


def bare(text: str) -> list[str]:
    """The lines that are no comments."""
    return [line for line in text.splitlines() if not line.lstrip().startswith("#")]


def test_each_stretch_is_shown_under_its_line() -> None:
    kernel = pto_dialect.compile(pto_dialect.parse(PROGRAM.format("")), "f")
    lines = kernel.listing.splitlines()
    assert bare(kernel.listing) == kernel.source.splitlines()
    assert "#" not in kernel.source
    at = {line.strip(): number for number, line in enumerate(lines)}
    for shown, code in (
        ("# 1: func.func @f(%n: i32) -> i32 {", "def f_f"),
        ("# 2: %a = arith.addi %n, %n : i32", "v_a ="),
        ("# 3: %b = arith.muli %a,", "v_b ="),
        ("# 5: return %b : i32", "return"),
    ):
        assert lines[at[shown] + 1].strip().startswith(code)
        assert len(lines[at[shown]]) - len(lines[at[shown]].lstrip()) == len(lines[at[shown] + 1]) - len(
            lines[at[shown] + 1].lstrip()
        )


@pytest.mark.parametrize("end", ENDS, ids=lambda end: f"{ord(end):04x}")
@in_groups("code", ["import os", '"""', "'''", "\\", "x = (", "# coding: utf-7", "    return 1"])
def test_text_of_a_program_stays_a_comment(end: str, code: str) -> None:
    module = pto_dialect.parse(PROGRAM.format(f" // {end}{code}{end}{code}"))
    kernel = pto_dialect.compile(module, "f")
    shown = kernel.listing
    assert ast.dump(ast.parse(shown)) == ast.dump(ast.parse(kernel.source))
    assert bare(shown) == kernel.source.splitlines()
    assert end not in shown and code in shown


def test_comments_say_nothing_about_the_encoding_of_a_file() -> None:
    text = PROGRAM.format(" // -*- coding: utf-7 -*-")
    shown = pto_dialect.compile(pto_dialect.parse(text), "f").listing
    assert "coding: utf-7" in shown
    assert tokenize.detect_encoding(io.BytesIO(shown.encode()).readline)[0] == "utf-8"


@given(st.text())
def test_no_text_ends_a_comment(text: str) -> None:
    line = f"# {comment(text)}"
    assert len(line.splitlines()) == 1 and line.isprintable()
    kinds = [token.type for token in tokenize.generate_tokens(io.StringIO(f"{line}\n").readline)]
    assert kinds == [tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER]


def test_no_character_but_those_that_are_printed_stays() -> None:
    every = (chr(number) for number in range(sys.maxunicode + 1))
    assert all(char.isprintable() for char in every if char in comment(f"x{char}x"))


def test_long_lines_are_cut() -> None:
    assert comment("x" * 160) == "x" * 160
    assert comment("x" * 161) == "x" * 159 + "…"


def test_code_without_a_location_has_no_comment() -> None:
    assert listing(["'name'", "v_a = 1"], [None, None]) == "'name'\nv_a = 1\n"


@pytest.mark.parametrize("name", ["gemm", "rotary", "flash_attention"])
def test_examples_are_listed_without_a_change_of_the_code(name: str) -> None:
    places = sorted(EXAMPLES.glob(f"{name}*/{name}*.pto"))
    assert places
    module = pto_dialect.parse(places[0].read_text(encoding="utf-8"), places[0].name)
    kernel = pto_dialect.compile(module)
    assert bare(kernel.listing) == kernel.source.splitlines()
    assert kernel.listing.count("\n") > kernel.source.count("\n")
