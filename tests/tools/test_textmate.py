"""The editors' grammar: up to date, and right about the examples.

All patterns match within a line, so what an editor does with them is short: at each location the leftmost match, of
several there the first pattern of the file.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from groups import each

from pto_dialect.driver.reference.textmate import GRAMMAR, SCOPE, area_of, render
from pto_dialect.ir.core.aliases import DEPRECATED
from pto_dialect.ir.core.index import OPS
from pto_dialect.verify.engine.unread_attributes import KNOWN_ATTRIBUTES

CHECKOUT = Path(__file__).parents[2]
EXAMPLES = sorted((CHECKOUT / "examples").rglob("*.pto"))


class Tokenizer:
    """Applies a TextMate grammar that has match patterns only."""

    def __init__(self, grammar: dict[str, Any]) -> None:
        self.patterns = [(re.compile(each["match"]), each) for each in grammar["patterns"]]

    def line(self, text: str) -> list[tuple[str, str]]:
        """The coloured parts of a line with their scopes (without the language's suffix)."""
        found: list[tuple[str, str]] = []
        position = 0
        while position < len(text):
            matches = [(match, each) for regex, each in self.patterns if (match := regex.search(text, position))]
            if not matches:
                break
            match, each = min(matches, key=lambda entry: entry[0].start())
            if "name" in each:
                found.append((match.group(), each["name"].removesuffix(".pto")))
            for number, capture in each.get("captures", {}).items():
                found.append((match.group(int(number)), capture["name"].removesuffix(".pto")))
            position = max(match.end(), position + 1)
        return found

    def scopes(self, text: str) -> dict[str, str]:
        """Scope of each coloured part of a line."""
        return dict(self.line(text))


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(json.loads(GRAMMAR.read_text(encoding="utf-8")))


def test_the_file_is_up_to_date() -> None:
    assert GRAMMAR.read_text(encoding="utf-8") == render()


def test_the_extension_names_the_grammar() -> None:
    package = json.loads((GRAMMAR.parent / "package.json").read_text(encoding="utf-8"))
    (language,), (grammar,) = package["contributes"]["languages"], package["contributes"]["grammars"]
    assert language["extensions"] == [".pto"]
    assert (grammar["language"], grammar["scopeName"]) == (language["id"], SCOPE)
    assert (GRAMMAR.parent / grammar["path"]).samefile(GRAMMAR)
    configuration = json.loads((GRAMMAR.parent / language["configuration"]).read_text(encoding="utf-8"))
    assert configuration["comments"]["lineComment"] == "//"


def test_patterns_are_in_the_common_part_of_both_kinds_of_regular_expressions() -> None:
    for pattern in json.loads(render())["patterns"]:
        assert set(pattern) <= {"match", "name", "captures"}
        # Neither Python's named groups nor possessive quantifiers and atomic groups of the lexer.
        assert "(?P" not in pattern["match"]
        assert not re.search(r"\(\?>|[+*?]\+", pattern["match"])


@each("name", sorted(OPS), lambda name: OPS[name][0])
def test_every_operation(name: str, tokenizer: Tokenizer) -> None:
    expected = "invalid.deprecated.operation" if name in DEPRECATED else f"support.function.{area_of(OPS[name][0])}"
    assert tokenizer.line(f"    %0 = {name} %a, %b")[2] == (name, expected)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name + "/" + path.stem)
def test_examples(path: Path, tokenizer: Tokenizer) -> None:
    for line in path.read_text(encoding="utf-8").splitlines():
        parts = tokenizer.line(line)
        assert not [part for part in parts if part[1].startswith("invalid.illegal")], line
        code = line.partition("//")[0]
        values = re.findall(r"%[\w$.\-]+", re.sub(r'"[^"]*"', "", code))
        assert [
            text.partition("#")[0].partition(":")[0] for text, scope in parts if scope == "variable.other"
        ] == values
        operations = re.findall(r"(?<![\w.!#\"%])pto\.[a-z]\w*(?:\.\w+)*", code)
        coloured = [text for text, scope in parts if scope.startswith(("support.function", "invalid.deprecated"))]
        assert [text for text in coloured if text.startswith("pto.")] == [
            name for name in operations if name not in KNOWN_ATTRIBUTES
        ], line
        comment = re.search(r'//(?![^"]*"$).*', line)
        if comment is not None and '"' not in line:
            assert parts[-1] == (comment.group(), "comment.line.double-slash"), line


def test_a_statement(tokenizer: Tokenizer) -> None:
    code = "  pto.tadd ins(%a, %b : !pto.tile_buf<vec, 16x64xf32, valid=?x4>) outs(%c : memref<?x8xbf16>) {k = true}"
    assert tokenizer.line(f"{code} // x") == [
        ("pto.tadd", "support.function.tile"),
        ("ins", "keyword.other.clause"),
        ("%a", "variable.other"),
        ("%b", "variable.other"),
        (":", "keyword.operator"),
        ("!pto.tile_buf", "storage.type"),
        ("16x64x", "constant.numeric.dimensions"),
        ("f32", "storage.type.scalar"),
        ("valid", "entity.other.attribute-name"),
        ("=", "keyword.operator"),
        ("?x4", "constant.numeric.dimensions"),
        ("outs", "keyword.other.clause"),
        ("%c", "variable.other"),
        (":", "keyword.operator"),
        ("memref", "storage.type.shaped"),
        ("?x8x", "constant.numeric.dimensions"),
        ("bf16", "storage.type.scalar"),
        ("k", "entity.other.attribute-name"),
        ("=", "keyword.operator"),
        ("true", "constant.language"),
        ("// x", "comment.line.double-slash"),
    ]


@pytest.mark.parametrize(
    ("line", "part", "scope"),
    [
        ("%c = tmatmul %a, %b : !pto.tile<2x2xf32>", "tmatmul", "support.function.tile.assembly"),
        ("TADD %c, %a, %b", "TADD", "support.function.tile.assembly"),
        (".arg %a : !pto.tile<2x2xf32>", ".arg", "keyword.control.directive"),
        ("func.func @f(%a: i32) -> i32 attributes {pto.entry} {", "func.func", "keyword.other.operation"),
        ("func.func @f(%a: i32) -> i32 attributes {pto.entry} {", "@f", "entity.name.function"),
        ("cf.br ^bb1(%a : index)", "^bb1", "entity.name.label"),
        ("%0 = arith.constant 0x1F : i64", "0x1F", "constant.numeric"),
        ("%0 = arith.constant -1.5e-3 : f32", "-1.5e-3", "constant.numeric"),
        ("pto.set_flag[<PIPE_V>, <PIPE_M>, <EVENT_ID0>]", "PIPE_V", "constant.language.enumerator"),
        ("pto.tcmp ins(%a {cmpMode = #pto<cmp gt>} : !T) outs(%b : !T)", "#pto", "constant.other.attribute"),
        ("pto.tfoo %a", "pto.tfoo", "invalid.illegal.unknown-operation"),
        ("arith.addx %a", "arith.addx", "invalid.illegal.unknown-operation"),
        ("pto.bind_tile %a", "pto.bind_tile", "invalid.deprecated.operation"),
        ("%a = pto.x : !pto.tyle<2xf32>", "!pto.tyle", "invalid.illegal.unknown-type"),
        ('pto.pset_b32 "PAT_ALL', '"PAT_ALL', "invalid.illegal.unclosed-string"),
        ('pto.pset_b32 "a \\" // b"', '"a \\" // b"', "string.quoted.double"),
        ("// -----", "// -----", "comment.line.double-slash.separator"),
    ],
)
def test_parts(line: str, part: str, scope: str, tokenizer: Tokenizer) -> None:
    assert tokenizer.scopes(line)[part] == scope
