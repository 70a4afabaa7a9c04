"""The lexer of programs.

One regular expression matches the next token; words are then looked up: an operation name becomes the terminal of its
shape, a keyword its own terminal, everything else ``WORD``.  See ``grammar/pto.lark`` for the terminals that represent
whole comma lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pto_dialect.ir.core.aliases import MNEMONIC_ALIASES
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core_dialects.core_ops import CORE_SHAPES
from pto_dialect.patterns import portable

from ..text import starts_line
from .locations import STRING, location_end
from .tokens import BARE_ID, SPACE, SSA, SUFFIX_ID, USE, Tok, balanced, fits_64_bits, without_comments

_BRACKETS = balanced(5)
_SCALAR = r"(?:[su]?i\d+|bf16|f16|f32|f64|tf32|f8E\w+|index|none)(?![\w.$])(?!\s*=)"
_TYPE = rf"(?:![A-Za-z_][\w.]*+(?:{_BRACKETS})?|(?:memref|vector|tensor|complex|tuple)\s*{_BRACKETS}|{_SCALAR})"
_NAMELESS = rf"<(?![<\{{]){_BRACKETS[1:]}"
"""A pointer or tile type without its name, as MLIR prints where an operation allows no other."""
_ITEM = rf"{SSA}(?::\d{{1,4}}(?!\d)|\#\d{{1,4}}(?!\d))?"

_TOKEN = re.compile(
    portable(rf"""{SPACE}(?:
     (?P<MARK>[(){{}}\[\],:;])
    |(?P<VALUES>{_ITEM}(?:{SPACE},{SPACE}{_ITEM})*+)(?P<EQUALS>{SPACE}=(?!=))?
    |(?P<TYPE_ALIAS>!{BARE_ID}\s*=(?!=))
    |(?P<TYPES>{_TYPE}(?:{SPACE},{SPACE}{_TYPE})*+)
    |(?P<ANGLE>{_NAMELESS}(?:{SPACE},{SPACE}(?:{_NAMELESS}|{_TYPE}))*+)
    |(?P<BODY>(?:dense|dense_resource|array|strided|affine_map|opaque){_BRACKETS}
      |affine_set{SPACE}<(?:[^<>]|[<>]=)*+>)
    |(?P<FLAGS>(?:overflow|fastmath)\s*<[^<>]*>)
    |(?P<LOC>loc\((?:[^()"]++|{STRING}|\((?:[^()"]++|{STRING}|\([^()"]*\))*\))*+\))
    |(?P<GROUP>(?:ins|outs){SPACE}\()
    |(?P<WORD>\.?{BARE_ID})
    |(?P<ATTRIBUTE_ALIAS>\#{BARE_ID}\s*=(?!=))
    |(?P<HASH>\#[A-Za-z_][\w.$]*(?:{_BRACKETS})?)
    |(?P<FLOAT>-?\d+\.\d*(?:[eE][+-]?\d+)?|-?\d+[eE][+-]?\d+)
    |(?P<INTEGER>-?(?:0x[0-9a-fA-F]+|\d+))
    |(?P<STRING>"(?:[^"\\\n]++|\\.)*+")
    |(?P<SYMBOL>@(?:{BARE_ID}|"(?:[^"\\\n]++|\\.)*+")(?:::@(?:{BARE_ID}|"(?:[^"\\\n]++|\\.)*+"))*)
    |(?P<BLOCK>\^{SUFFIX_ID})
    |(?P<PUNCT><<<|>>>|->|\.\.\.|[=<>])
    |(?P<BAD>.)
    |(?P<END>\Z)
    )"""),
    re.VERBOSE | re.DOTALL,
)
_BINDING = rf"{SSA}{SPACE}={SPACE}{USE}"
_BINDINGS = re.compile(portable(rf"{SPACE}{_BINDING}(?:{SPACE},{SPACE}{_BINDING})*+"), re.DOTALL)
_VALUE_FOLLOWS = re.compile(rf"{SPACE}%")
_SYMBOL_FOLLOWS = re.compile(rf"{SPACE}@")
_OPERATION_LIKE = re.compile(r"[a-z_]\w*\.[a-z]")
_DICTIONARY_FOLLOWS = re.compile(rf"{SPACE}[=,}}]")
_ASSEMBLY = re.compile(
    portable(
        r"\n[ \t]*+(?:\.(?:[aA][rR][gG]|[cC][oO][nN][sS][tT])\b"
        r"|(?:%[\w.$, %:]++=[ \t]*+)?+(?:[tT](?![oO]\b)[a-zA-Z]\w*|[mM](?i:gather|scatter))(?:\.\w+)*+[ \t]++[%#])"
    )
)
"""A statement of the assembly form after the end of a line; a search for a character skips the text between. The upper
bound of a loop (`to %n`) may start a line in any form."""
_HASH_COMMENT = re.compile(r"^[ \t]*#(?![\w.]*[<=]|[\w.]+[ \t]*=)[^\n]*", re.MULTILINE)

_COMMA_LISTS = frozenset(("USES", "RESULTS", "BINDINGS", "TYPES", "ANGLE"))
"""Tokens that hold a whole list; comments between its entries may contain commas themselves."""

_SHARED_RULES = {
    **dict.fromkeys(("OP_DPS_INNER", "OP_DPS_KEYED", "OP_DPS_MASK", "OP_DPS_TLOAD", "OP_INS_ONLY"), "OP_DPS"),
    **dict.fromkeys(("OP_FLAT_VOID", "OP_FLAT_VALUE"), "OP_FLAT"),
    "OP_INDEXED_STORE": "OP_INDEXED",
    "OP_BRACE_FIELDS": "OP_PAREN",
}
"""Shapes that one grammar rule reads together."""


def terminal_of(name: str) -> str:
    """Returns the terminal of a PTO operation."""
    shape = OPS[name][2]
    return _SHARED_RULES.get(shape, shape)


OPERATION_TERMINALS: dict[str, str] = {
    **{name: terminal_of(name) for name in OPS},
    **{
        alias: terminal_of(name) for alias, name in MNEMONIC_ALIASES.items() if name in OPS and alias.startswith("pto.")
    },
    **CORE_SHAPES,
}
"""Terminal of every operation name."""


def is_assembly(text: str) -> bool:
    """Returns whether the text contains statements of the assembly form (directives, or tile operations without a
    prefix)."""
    first, end, _ = text.partition("\n")
    return _ASSEMBLY.search(text) is not None or _ASSEMBLY.match(f"\n{first}{end}") is not None


def mask_hash_comments(text: str) -> str:
    """Returns the text with ``# comment`` lines of documents replaced by blanks of equal length (only used for assembly
    and schematic text)."""
    return _HASH_COMMENT.sub(lambda m: " " * len(m.group()), text)


class ProgramLexer:
    """Yields the tokens of a program; ``cursor`` is the start of the token last handed to the parser."""

    def __init__(self, literals: dict[str, str]) -> None:
        self.words = {**literals, **OPERATION_TERMINALS}

    def lex(self, data: ProgramText) -> Iterator[Tok]:
        """Returns the tokens of a program."""
        data.lexer = self
        return self.tokens(data)

    def tokens(self, data: ProgramText) -> Iterator[Tok]:
        """Returns the tokens from ``data.position`` on."""
        tokens = self._scan(data)
        return self._opcodes(tokens, data.text) if data.assembly else tokens

    def _scan(self, data: ProgramText) -> Iterator[Tok]:
        text = data.text
        words = self.words
        matches = _TOKEN.finditer(text, data.position)
        while True:
            # Every alternative is a named group, and at each position one of them matches.
            found = next(matches)
            kind: str = found.lastgroup  # pyright: ignore[reportAssignmentType]
            if kind == "MARK":
                # One character, and half of all tokens.
                data.cursor = start = found.end() - 1
                spelling = text[start]
                yield Tok(words[spelling], spelling, start)
                continue
            if kind == "EQUALS":
                start, position = found.start("VALUES"), found.end()
                if _VALUE_FOLLOWS.match(text, position) and (pairs := _BINDINGS.match(text, start)):
                    kind, position = "BINDINGS", pairs.end()
                    matches = _TOKEN.finditer(text, position)
                else:
                    kind = "RESULTS"
                spelling = text[start:position]
            else:
                start, position = found.span(kind)
                spelling = text[start:position]
                if kind == "PUNCT":
                    kind = words[spelling]
                elif kind == "VALUES":
                    kind = "USES"
                elif kind == "GROUP":
                    kind = "INS" if spelling[0] == "i" else "OUTS"
                elif kind == "WORD":
                    kind = words.get(spelling) or _unknown_keyword(spelling, text, position)
                    if spelling == "loc" and (end := location_end(text, position)) is not None:
                        kind, position = "LOC", end
                        spelling = text[start:position]
                        matches = _TOKEN.finditer(text, position)
                        data.locations[start] = spelling
                elif kind == "LOC":
                    data.locations[start] = spelling
                elif kind == "INTEGER" and len(spelling) > 16 and not fits_64_bits(spelling):
                    kind = "BAD"
                elif kind == "END":
                    data.cursor = len(text)
                    return
            data.cursor = start
            if kind in _COMMA_LISTS and "//" in spelling:
                spelling = without_comments(spelling)
            yield Tok(kind, spelling, start)

    def _opcodes(self, tokens: Iterator[Tok], text: str) -> Iterator[Tok]:
        """Converts opcodes without prefix to operations: words after a result list or at the start of a line.

        ``#key=`` inside a line belongs to the statement there; at its start it defines an alias.
        """
        previous = ""
        for token in tokens:
            if token.type in ("WORD", "OP_UNKNOWN") and (previous == "RESULTS" or starts_line(text, token.start)):
                name = assembly_mnemonic(token.text)
                if name is not None:
                    token.type, token.value = terminal_of(name), name
                elif token.type == "WORD":
                    token.type = "OP_UNKNOWN"
            elif token.type == "ATTRIBUTE_ALIAS" and not starts_line(text, token.start):
                token.type = "ASSEMBLY_KEY"
            previous = token.type
            yield token


def first_token(text: str, position: int) -> tuple[str, str]:
    """Returns kind (name of a group of the regular expression) and spelling of the token at ``position``."""
    found = _TOKEN.match(text, position)
    kind = found.lastgroup if found is not None else None
    return (kind, found[kind]) if found is not None and kind is not None else ("END", "")


def _unknown_keyword(spelling: str, text: str, position: int) -> str:
    """Returns whether a dotted word is an unknown operation: it is not a key or bare value in a dictionary.

    ``constant @f`` is how MLIR prints ``func.constant``; without a symbol it is like any other.
    """
    if spelling == "constant" and _SYMBOL_FOLLOWS.match(text, position):
        return OPERATION_TERMINALS["func.constant"]
    dotted = "." in spelling and not _DICTIONARY_FOLLOWS.match(text, position)
    return "OP_UNKNOWN" if dotted and _OPERATION_LIKE.match(spelling) else "WORD"


class ProgramText:
    """The text under parse: where lexing starts or resumes, the last token passed on, and whether opcodes without
    prefix are recognized. ``locations`` are those that were read, by their start."""

    __slots__ = ("assembly", "cursor", "lexer", "locations", "position", "text")

    lexer: ProgramLexer

    def __init__(self, text: str, assembly: bool) -> None:
        self.text = text
        self.assembly = assembly
        self.position = 0
        self.cursor = 0
        self.locations: dict[int, str] = {}


_OTHER_OPCODES = frozenset(("pto.tsync", "pto.tassign", "pto.tprint", "pto.treshape"))
"""Operations of tiles that the assembly form has and that have no destination."""


def assembly_mnemonic(word: str) -> str | None:
    """Returns the operation that an assembly opcode (any case, the ``pto.`` prefix optional) names, if it is one of
    tiles."""
    name = word.lower()
    name = name if name.startswith("pto.") else f"pto.{name}"
    name = MNEMONIC_ALIASES.get(name, name)
    shape = OPS[name][2] if name in OPS else ""
    # Spellings in the text: which opcodes the assembly form has, not what the operations do.
    return name if shape.startswith("OP_DPS") or name in _OTHER_OPCODES else None
