"""Writes the editors' grammar, ``grammar/pto.tmLanguage.json``, from the tables of operations, types and words.

Run as ``python -m pto_dialect.driver.reference.textmate``. Every pattern is a match within one line, in the part of the
syntax of regular expressions that editors and Python share, so that tests can apply it as an editor does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pto_dialect.families import FAMILIES
from pto_dialect.ir.clauses import clause_keywords
from pto_dialect.ir.core.aliases import DEPRECATED, MNEMONIC_ALIASES
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.types import BUILTIN_SCALARS, PLAIN_TYPES
from pto_dialect.ir.core_dialects.core_ops import CORE_SHAPES, KNOWN_DIALECTS
from pto_dialect.ir.tile.clauses import NO_SCRATCH
from pto_dialect.syntax.read.lexer import assembly_mnemonic
from pto_dialect.syntax.types.forms import PTO_FORMS
from pto_dialect.verify.engine.unread_attributes import KNOWN_ATTRIBUTES

GRAMMAR = Path(__file__).resolve().parents[3] / "grammar" / "pto.tmLanguage.json"
SCOPE = "source.pto"

AREAS = ("tile", "cube", "vector", "simt", "transfer", "sync", "control")
"""Areas of the dialect in the order of the patterns; each area has a scope of its own."""
_AREA_OF_FOLDER = {"buffers": "transfer", "scalar": "control", "vmi": "vector"}
"""Areas of the folders of families that have another name than their area."""
_AREA_OF_FAMILY = {
    **dict.fromkeys(("matmul", "gemv", "views"), "tile"),
    **dict.fromkeys(("dma", "comm", "pipes"), "transfer"),
}
"""Areas of families that belong elsewhere than the others of their folder."""

_CLAUSES = (
    *("ins", "outs", "sizes", "strides", "offsets", "valid", "addr", "valid_row", "valid_col"),
    *("split", "signed", "unsigned"),
    *("mode", "clip"),
    NO_SCRATCH,
    *clause_keywords(),
)
_KEYWORDS = "module return call attributes private public nested to step iter_args else do default case loc"


def _words(names: Iterable[str]) -> str:
    """Returns an alternation in which no name hides a longer one."""
    return "|".join(re.escape(name) for name in sorted(set(names), key=lambda name: (-len(name), name)))


def _operations(names: Iterable[str], scope: str) -> dict[str, str]:
    return {"match": rf"(?<![\w.%@#!$])(?:{_words(names)})(?![\w.])", "name": f"{scope}.pto"}


def area_of(family: str) -> str:
    """Returns the area of an operation family."""
    folder = (FAMILIES[family].operations or "").partition(".")[0]
    return _AREA_OF_FAMILY.get(family) or _AREA_OF_FOLDER.get(folder, folder)


def _by_area() -> list[dict[str, str]]:
    names: dict[str, list[str]] = {area: [] for area in AREAS}
    for name, (family, _, _) in OPS.items():
        if name not in DEPRECATED:
            names.setdefault(area_of(family), []).append(name)
    for alias, name in MNEMONIC_ALIASES.items():
        if name in OPS:
            names.setdefault(area_of(OPS[name][0]), []).append(alias)
    return [_operations(found, f"support.function.{area}") for area, found in names.items()]


def _assembly_opcodes() -> list[str]:
    names = {name.removeprefix("pto.") for name in (*OPS, *MNEMONIC_ALIASES)}
    return [name for name in names if assembly_mnemonic(name) is not None]


def patterns() -> list[dict[str, Any]]:
    """Expressions and the scopes of what they match, in the order in which they are tried."""
    types = [name.removeprefix("pto.") for name in (*PTO_FORMS, *PLAIN_TYPES)]
    scalars = _words(BUILTIN_SCALARS)
    opcodes = _words(_assembly_opcodes())
    words = {value for spec in ENUMS.values() for value in spec.values if not value.islower() or "_" in value}
    return [
        {"match": r"//[ ]?-----.*$", "name": "comment.line.double-slash.separator.pto"},
        {"match": r"//.*$", "name": "comment.line.double-slash.pto"},
        {"match": r'"(?:[^"\\]|\\.)*"', "name": "string.quoted.double.pto"},
        {"match": r'"(?:[^"\\]|\\.)*$', "name": "invalid.illegal.unclosed-string.pto"},
        {"match": r'@(?:[\w$.\-]+|"(?:[^"\\]|\\.)*")', "name": "entity.name.function.pto"},
        {"match": r"%[\w$.\-]+(?:[#:]\d+)?", "name": "variable.other.pto"},
        {"match": r"\^[\w$.\-]+", "name": "entity.name.label.pto"},
        {"match": rf"!pto\.(?:{_words(types)})(?![\w.])", "name": "storage.type.pto"},
        {"match": r"!pto\.[\w.]+", "name": "invalid.illegal.unknown-type.pto"},
        {"match": r"![A-Za-z_][\w.]*", "name": "storage.type.other.pto"},
        {"match": r"#[A-Za-z_][\w.]*", "name": "constant.other.attribute.pto"},
        {
            "match": r"(?<![\w.])(?:(?:\d+|\?)x)+(?:(?:\d+|\?)(?![\w.])|(?=[A-Za-z!]))",
            "name": "constant.numeric.dimensions.pto",
        },
        {"match": rf"(?:(?<=[\d?]x)|(?<![\w.%@#$]))(?:{scalars})(?![\w.])", "name": "storage.type.scalar.pto"},
        {"match": r"(?<![\w.%])(?:memref|vector|tensor|complex|tuple)(?=\s*<)", "name": "storage.type.shaped.pto"},
        {"match": r"(?<![\w.])\.(?:arg|const)\b", "name": "keyword.control.directive.pto"},
        _operations(KNOWN_ATTRIBUTES, "entity.other.attribute-name"),
        _operations(DEPRECATED, "invalid.deprecated.operation"),
        *_by_area(),
        _operations((name for name in CORE_SHAPES if "." in name), "keyword.other.operation"),
        {
            "match": rf"(?<![\w.%@#!$])(?:{_words(KNOWN_DIALECTS)})\.[A-Za-z][\w.]*(?!\s*=)",
            "name": "invalid.illegal.unknown-operation.pto",
        },
        {
            "match": rf"(?i)(?:^\s*|=\s*)({opcodes})(?=\s+[%#])",
            "captures": {"1": {"name": "support.function.tile.assembly.pto"}},
        },
        {"match": r"(?<![\w.])[A-Za-z_][\w.]*(?=\s*=(?!=))", "name": "entity.other.attribute-name.pto"},
        {"match": rf"(?<![\w.])(?:{_words(_CLAUSES)})(?![\w.])", "name": "keyword.other.clause.pto"},
        {"match": rf"(?<![\w.])(?:{_words(_KEYWORDS.split())})(?![\w.])", "name": "keyword.control.pto"},
        {"match": rf"(?<![\w.])(?:{_words(words)})(?![\w.])", "name": "constant.language.enumerator.pto"},
        {"match": r"(?<![\w.])(?:true|false|dense|unit)(?![\w.])", "name": "constant.language.pto"},
        {"match": r"(?<![\w.])-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][+\-]?\d+)?)", "name": "constant.numeric.pto"},
        {"match": r"->|<<<|>>>|[=:]", "name": "keyword.operator.pto"},
    ]


def render() -> str:
    """Returns the text of the grammar file for what is declared now."""
    grammar = {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "PTO",
        "scopeName": SCOPE,
        "fileTypes": ["pto"],
        "patterns": patterns(),
    }
    return json.dumps(grammar, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Rewrites the grammar file."""
    GRAMMAR.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
