"""Laying out changes white space alone, and is done after one time."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from groups import in_groups
from hypothesis import given
from hypothesis import strategies as st
from parse_helpers import parsed

from pto_dialect.syntax.compare import same_module
from pto_dialect.syntax.layout.program import WIDTH, laid_out
from pto_dialect.syntax.layout.tokens import tokens
from pto_dialect.syntax.read.lexer import is_assembly

ROOT = Path(__file__).parents[3]
FILES = sorted([*(ROOT / "examples").rglob("*.pto"), *(ROOT / "lit-tests").rglob("*.pto")])


def words(text: str) -> list[str]:
    return [token.text for token in tokens(text, is_assembly(text))]


@in_groups(("before", "after"), [
        ("func.func @f( %a :i32 , %b: i32 ){\nreturn\n}", "func.func @f(%a: i32, %b: i32) {\n  return\n}\n"),
        ("%a,%b=pto.x %c,%d:i32 , i32->i32", "%a, %b = pto.x %c, %d : i32, i32 -> i32\n"),
        ("%r:2 = scf.if %c->(i32,i32) {\n}else\n{\n}", "%r:2 = scf.if %c -> (i32, i32) {\n} else {\n}\n"),
        ("pto.tadd ins (%a,%b:!a,!b)outs( %c:!c )", "pto.tadd ins(%a, %b : !a, !b) outs(%c : !c)\n"),
        ("scf.for %i=%a\n  to %b step %c {\n}", "scf.for %i = %a to %b step %c {\n}\n"),
        ("scf.for\n  %i = %a to %b step %c {\n}", "scf.for %i = %a to %b step %c {\n}\n"),
        ("func.func @f() {\n  cf.br ^bb1\n  ^bb1:\n  return\n}",
         "func.func @f() {\n  cf.br ^bb1\n^bb1:\n  return\n}\n"),
        ("module { func.func @f() {\nreturn\n} }", "module {\n  func.func @f() {\n    return\n  }\n}\n"),
        ("module {}", "module {}\n"),
        ("\n\n// a\n\n\n\n// b\nmodule {}\n\n", "// a\n\n// b\nmodule {}\n"),
        ("module{\n// a\n}", "module {\n  // a\n}\n"),
        ("%a = x.y // one\n%abc = x.y    // two\n\n%b = x.y // three",
         "%a = x.y    // one\n%abc = x.y  // two\n\n%b = x.y  // three\n"),
        ("%a = x.y\n  // inside\n  %b : i32\nreturn", "%a = x.y\n    // inside\n    %b : i32\nreturn\n"),
        ("#m = affine_map<(d0,d1)->(d0)>\n!t= i32", "#m = affine_map<(d0, d1)->(d0)>\n!t = i32\n"),
        ('%a = "x.y"(%b){k = 1:i32}:(i32)->i32', '%a = "x.y"(%b) {k = 1:i32} : (i32) -> i32\n'),
        ('%a = "x.y"() ({\n^bb0(%c:i32):\nx.z\n}):()->i32', '%a = "x.y"() ({\n^bb0(%c: i32):\n  x.z\n}) : () -> i32\n'),
        (".arg %a : !pto.tile<8x8xf32>\n# comment\n%b=tadd %a,%a:!pto.tile<8x8xf32>",
         ".arg %a : !pto.tile<8x8xf32>\n# comment\n%b = tadd %a, %a : !pto.tile<8x8xf32>\n"),
        ("pto.x %a\n// expected-error@-1 {{no}}\n\n\nreturn  %b",
         "pto.x %a\n// expected-error@-1 {{no}}\n\n\nreturn %b\n"),
        ("pto.x %a  pto.y %b // why\n  // expected-error@-1 {{no}}",
         "pto.x %a pto.y %b  // why\n// expected-error@-1 {{no}}\n"),
        ("pto.x %a :\n  i32\n// expected-error@-2 {{no}}", "pto.x %a :\n    i32\n// expected-error@-2 {{no}}\n"),
        ("func.func @f() {   return\n  }\n// expected-error@-2 {{no}}",
         "func.func @f() { return\n}\n// expected-error@-2 {{no}}\n"),
        ("func.func @f() {\n  return   }// expected-error@-1 {{no}}\nreturn // why",
         "func.func @f() {\n  return }  // expected-error@-1 {{no}}\nreturn      // why\n"),
        ("", ""),
        ("// only", "// only\n"),
        ("}", "}\n"),
        ("module {\n  attributes {\n    a = 1,\n    b = 2\n  }\n}", None),
    ])  # fmt: skip
def test_layout(before: str, after: str | None) -> None:
    found = laid_out(before)
    assert after is None or found == after
    assert words(found) == words(before)
    assert laid_out(found) == found


LONG = "%sum = pto.x {0} : {1} -> !pto.tile_buf<vec, 16x16xf32>"


@pytest.mark.parametrize(("count", "lines"), [(3, 1), (7, 2), (12, 3), (40, 6)])
def test_long_statements_are_broken_where_clauses_and_operands_begin(count: int, lines: int) -> None:
    names, types = (", ".join(f"{word}{n}" for n in range(count)) for word in ("%v", "!t"))
    text = f"func.func @f() {{\n{LONG.format(names, types)}\n}}\n"
    found = laid_out(text).splitlines()[1:-1]
    assert len(found) == lines
    assert all(len(line) <= WIDTH for line in found)
    assert found[0].startswith("  %sum = pto.x") and all(line.startswith("      ") for line in found[1:])
    assert count < 10 or any(line.startswith("      : ") for line in found) or any(" -> " in line for line in found)


def test_text_without_a_break_point_stays_long() -> None:
    name = "%" + "a" * 150
    assert laid_out(f"pto.x {name}, {name}") == f"pto.x\n    {name},\n    {name}\n"
    deep = "(" * 500 + "%a, %b" + ")" * 500
    assert laid_out(f"pto.x{deep}") == f"pto.x{deep}\n"


@in_groups("file", FILES[:: max(len(FILES) // 40, 1)], lambda file: file.name)
def test_programs_stay_what_they_are(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    new = laid_out(text)
    assert words(new) == words(text)
    assert laid_out(new) == new
    for old_part, new_part in zip(text.split("// -----\n"), new.split("// -----\n"), strict=True):
        module, found = parsed(old_part)
        if not found:
            again, found = parsed(new_part)
            assert not found and same_module(module, again) is None


@given(st.integers(0, len(FILES) - 1), st.integers(0, 2**32))
def test_the_layout_of_the_author_does_not_matter(index: int, seed: int) -> None:
    """White space that is there becomes another one; the result is read as the same program."""
    text = FILES[index].read_text(encoding="utf-8")
    if "expected-" in text or "@LINE" in text or len(text) > 20_000:
        return
    rng = random.Random(seed)
    lines = [
        line if "//" in line else " ".join(line.split(" ")) + rng.choice(("", " ", "\n")) for line in text.split("\n")
    ]
    changed = "\n".join(rng.choice(("", "  ", "\t")) + line for line in lines)
    assert words(changed) == words(text)
    found = laid_out(changed)
    assert words(found) == words(text)
    assert laid_out(found) == found


def test_only_some_lines() -> None:
    text = "module{\n%a=x.y\n%b=x.y   :i32,\n  i32\n%c=x.y\n}\n"
    assert laid_out(text, only=[range(4, 5)]) == "module{\n%a=x.y\n  %b = x.y : i32, i32\n%c=x.y\n}\n"
    assert laid_out(text, only=[range(2, 3), range(5, 6)]) == (
        "module{\n  %a = x.y\n%b=x.y   :i32,\n  i32\n  %c = x.y\n}\n"
    )
    assert laid_out(text, only=[range(90, 91)]) == text
