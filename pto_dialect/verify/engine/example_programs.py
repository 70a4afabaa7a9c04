"""Complete programs around the example statements of rules.

An example is one statement, several lines that define each other's names, a function, or a module. Names that it does
not define become constants (``%c16``, ``%cm1`` for -1, ``%true``) or function arguments of the type that the statement
states. Source: docs/reference/constraints.md, "Severity".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pto_dialect.ir.core.base import PtoOp, op_spec, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class

from .rule import Rule

_PTR_SPACES = {"A": "l0a", "B": "l0b", "C": "l0c", "T": "bt", "G": "gm", "L": "l1", "U": "ub", "F": "fb"}
_PTR_ELEMENTS = {
    "16": "f16",
    "b16": "bf16",
    "32": "f32",
    "8": "i8",
    "u8": "ui8",
    "I": "i32",
    "I4": "i4",
    "E4": "f8E4M3FN",
    "E5": "f8E5M2",
    "H8": "!pto.hif8",
    "F4": "!pto.f4E2M1x2",
    "M8": "!pto.f8E8M0",
}

POINTER_ALIASES: dict[str, str] = {
    f"!{space}{element}": f"!pto.ptr<{_PTR_ELEMENTS[element]}, {_PTR_SPACES[space]}>"
    for space, elements in {
        "A": "16 b16 32 8 u8 I4 E4 E5 H8 F4 M8",
        "B": "16 b16 32 8 u8 I4 E4 E5 H8 F4 M8",
        "C": "16 32 I",
        "T": "16 b16 32 I",
        "G": "16 b16 32 8 I",
        "L": "16 b16 32 8 u8 I I4 E4 E5 H8 F4 M8",
        "U": "16 b16 32 8 I",
        "F": "16 b16 32 I",
    }.items()
    for element in elements.split()
}
"""Typed pointers by memory space (A l0a, B l0b, C l0c, T bt, G gm, L l1, U ub, F fb) and element type."""


class TileExample(NamedTuple):
    """Fields of a tile type; ``layout`` is the block layout, the layout inside a block, and the bytes of a block."""

    loc: str
    dtype: str
    shape: tuple[int, int]
    valid: tuple[int, int]
    layout: tuple[str, str, int]

    def __str__(self) -> str:
        """Returns the type as a program spells it."""
        blayout, slayout, fractal = self.layout
        return (
            f"!pto.tile_buf<loc={self.loc}, dtype={self.dtype}, rows={self.shape[0]}, cols={self.shape[1]}, "
            f"v_row={self.valid[0]}, v_col={self.valid[1]}, blayout={blayout}, slayout={slayout}, "
            f"fractal={fractal}, pad=0>"
        )


_NZ = ("col_major", "row_major", 512)
_ZN = ("row_major", "col_major", 512)
_ACC = ("col_major", "row_major", 1024)
_ND = ("row_major", "none_box", 512)
_SCALE_LEFT = ("row_major", "row_major", 32)
_SCALE_RIGHT = ("col_major", "col_major", 32)

TILE_ALIASES: dict[str, TileExample] = {
    "!L": TileExample("left", "f16", (16, 64), (16, 64), _NZ),
    "!R": TileExample("right", "f16", (64, 16), (64, 16), _ZN),
    "!C": TileExample("acc", "f32", (16, 16), (16, 16), _ACC),
    "!Bi": TileExample("bias", "f32", (1, 16), (1, 16), _ND),
    "!Lmat": TileExample("mat", "f16", (16, 64), (16, 64), _NZ),
    "!Cvec": TileExample("vec", "f32", (16, 16), (16, 16), _ACC),
    "!Lk48": TileExample("left", "f16", (16, 64), (16, 48), _NZ),
    "!L32r": TileExample("left", "f16", (32, 64), (16, 64), _NZ),
    "!Lbig": TileExample("left", "f16", (16, 4096), (16, 4096), _NZ),
    "!Rbig": TileExample("right", "f16", (4096, 16), (4096, 16), _ZN),
    "!L0": TileExample("left", "f16", (16, 64), (0, 64), _NZ),
    "!C0": TileExample("acc", "f32", (16, 16), (0, 16), _ACC),
    "!Lbf": TileExample("left", "bf16", (16, 64), (16, 64), _NZ),
    "!Rbf": TileExample("right", "bf16", (64, 16), (64, 16), _ZN),
    "!Li8": TileExample("left", "i8", (16, 64), (16, 64), _NZ),
    "!Ri8": TileExample("right", "i8", (64, 16), (64, 16), _ZN),
    "!Lu8": TileExample("left", "ui8", (16, 64), (16, 64), _NZ),
    "!Ru8": TileExample("right", "ui8", (64, 16), (64, 16), _ZN),
    "!Ci32": TileExample("acc", "i32", (16, 16), (16, 16), _ACC),
    "!Lnone": TileExample("left", "f16", (16, 64), (16, 64), _ND),
    "!Rnz": TileExample("right", "f16", (64, 16), (64, 16), _NZ),
    "!Cnd": TileExample("acc", "f32", (16, 16), (16, 16), _ND),
    "!Cf512": TileExample("acc", "f32", (16, 16), (16, 16), _NZ),
    "!Bi16": TileExample("bias", "f16", (1, 16), (1, 16), _ND),
    "!Bi2": TileExample("bias", "f32", (2, 16), (2, 16), _ND),
    "!Bivec": TileExample("vec", "f32", (1, 16), (1, 16), _ND),
    "!Lrow": TileExample("left", "f16", (16, 64), (16, 64), ("row_major", "row_major", 512)),
    "!L1r": TileExample("left", "f16", (16, 64), (1, 64), _NZ),
    "!C1r": TileExample("acc", "f32", (16, 16), (1, 16), _ACC),
    "!L2r": TileExample("left", "f16", (16, 64), (2, 64), _NZ),
    "!C2r": TileExample("acc", "f32", (16, 16), (2, 16), _ACC),
    "!L1k": TileExample("left", "f16", (16, 64), (1, 48), _NZ),
    "!C1n": TileExample("acc", "f32", (16, 16), (1, 8), _ACC),
    "!LE": TileExample("left", "f8E4M3FN", (16, 64), (16, 64), _NZ),
    "!RE": TileExample("right", "f8E4M3FN", (64, 16), (64, 16), _ZN),
    "!LEk": TileExample("left", "f8E4M3FN", (16, 32), (16, 32), _NZ),
    "!REk": TileExample("right", "f8E4M3FN", (32, 16), (32, 16), _ZN),
    "!SL": TileExample("scaling", "!pto.f8E8M0", (16, 2), (16, 2), _SCALE_LEFT),
    "!SR": TileExample("scaling", "!pto.f8E8M0", (2, 16), (2, 16), _SCALE_RIGHT),
    "!SLv": TileExample("vec", "f16", (16, 2), (16, 2), _SCALE_LEFT),
    "!SL4": TileExample("scaling", "!pto.f8E8M0", (16, 4), (16, 4), _SCALE_LEFT),
}
"""Tile types that example statements name."""

_CONSTANT = re.compile(r"%c(m?)(\d+)")
_NUMERIC = re.compile(r"(?:si|ui|i)\d+|index|bf16|f\d\w*")
_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*)|(?P<string>\"[^\"]*\")"
    r"|(?P<results>%[\w$.\-]+(?::\d+)?(?:\s*,\s*%[\w$.\-]+(?::\d+)?)*\s*=(?!=))"
    r"|(?P<use>%[\w$.\-]+)(?:\#\d+)?|(?P<type>![A-Za-z_][\w.]*|\b(?:memref|vector)\b(?=<)"
    r"|\b(?:(?:si|ui|i)\d+|bf16|tf32|f\d\w*|index)\b)|(?P<arrow>->)|(?P<word>[\w.#@^$\-]+)|(?P<mark>.)",
    re.DOTALL,
)


class _Token(NamedTuple):
    kind: str
    text: str


def _tokens(text: str) -> Iterator[_Token]:
    """Returns the tokens of a statement; a type is one token together with its ``<...>``."""
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        assert found is not None
        kind, end = found.lastgroup or "", found.end()
        if kind == "type" and text[end : end + 1] == "<":
            end = _after_angle(text, end)
        if kind != "space":
            yield _Token(kind, found[kind] if kind == "use" else text[position:end])
        position = end


def _after_angle(text: str, start: int) -> int:
    depth = 0
    for position in range(start, len(text)):
        depth += {"<": 1, ">": -1}.get(text[position], 0)
        if depth == 0:
            return position + 1
    return len(text)


def free_names(statements: str) -> dict[str, str]:
    """Returns the names that ``statements`` use and do not define, each with the type stated for it, otherwise
    ``index``.

    Types belong to the names before their ``:`` in the order of the operation's type list; attribute dictionaries state
    no operand types.
    """
    types: dict[str, str] = {}
    defined: set[str] = set()
    uses: list[tuple[str, bool]] = []
    waiting: list[str] = []
    stating: list[int] = []
    mnemonic = ""
    depth = braces = brackets = 0
    for kind, text in _tokens(statements):
        if text in ("{", "}"):
            braces += 1 if text == "{" else -1
        elif braces > 0:
            continue
        elif kind == "results":
            defined.update(re.findall(r"%[\w$.\-]+", text))
        elif kind == "use":
            if text not in defined:
                types.setdefault(text, "")
            uses.append((text, brackets > 0))
        elif text == ":" and uses:
            stating.append(depth)
            waiting, uses = _in_type_order(mnemonic, uses), []
        elif kind == "arrow":
            stating, waiting, uses = [], [], []
        elif text in "([":
            depth += 1
            brackets += text == "["
        elif text in ")]":
            depth -= 1
            brackets -= text == "]"
            if stating and depth < stating[-1]:
                stating.pop()
        elif kind == "type" and stating and waiting:
            name = waiting.pop(0)
            if not types.get(name, "set"):
                types[name] = text
        elif kind == "word" and text.startswith("pto."):
            mnemonic, stating, waiting, uses = text, [], [], []
    return {name: stated or "index" for name, stated in types.items()}


def _in_type_order(mnemonic: str, uses: list[tuple[str, bool]]) -> list[str]:
    """Returns ``uses`` (name, whether it is in brackets) in the order of the type list of ``mnemonic``."""
    if mnemonic in OPS:
        cls = op_class(mnemonic)
        assert issubclass(cls, PtoOp)
        slots = {slot.name: slot.arity for slot in signature(cls).operands}
        spec = op_spec(cls)
        text = spec.text or tuple(slots)
        if len(text) == len(uses) and set(slots.values()) == {"1"}:
            typed = spec.typed if spec.typed is not None else text
            return [uses[text.index(name)][0] for name in typed]
    return [name for name, bracketed in uses if not bracketed]


def example_program(statements: str, target: str = "a5") -> str:
    """Returns a program for ``target`` (a5 or a2a3) that contains ``statements``.

    ``statements`` may also be a whole function (aliases and module are added) or module (aliases are added).
    """
    aliases = [
        f"{name} = {spelling}"
        for name, spelling in {**POINTER_ALIASES, **TILE_ALIASES}.items()
        if re.search(re.escape(name) + r"(?![\w.])", statements)
    ]
    if statements.lstrip().startswith(("module", "#")):
        return "\n".join((*aliases, statements, ""))
    if not statements.lstrip().startswith(("func.func", '"func.func"')):
        statements = _function(statements)
    lines = (*aliases, f'module attributes {{pto.target_arch = "{target}"}} {{', statements, "}", "")
    return "\n".join(lines)


def _function(statements: str) -> str:
    arguments: list[str] = []
    body: list[str] = []
    for name, type_ in free_names(statements).items():
        number = _CONSTANT.fullmatch(name)
        if name in ("%true", "%false") and type_ == "i1":
            body.append(f"    {name} = arith.constant {name[1:]}")
        elif number and _NUMERIC.fullmatch(type_):
            value = ("-" if number[1] else "") + number[2]
            point = "" if type_ == "index" or "i" in type_ else ".0"
            body.append(f"    {name} = arith.constant {value}{point} : {type_}")
        else:
            arguments.append(f"{name}: {type_}")
    body += [f"    {line.strip()}" for line in statements.splitlines()]
    return "\n".join((f"  func.func @example({', '.join(arguments)}) {{", *body, "    return", "  }"))


def bad_program(rule: Rule) -> str | None:
    """Returns the program that breaks ``rule``; ``None`` for a rule without such an example."""
    return None if rule.bad is None else example_program(rule.bad, rule.target)


def good_program(rule: Rule) -> str | None:
    """Returns the program that satisfies ``rule``; ``None`` for a rule without such an example."""
    return None if rule.good is None else example_program(rule.good, rule.target)
