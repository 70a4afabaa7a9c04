"""Text of documentation brought to the forms that the grammar reads; only done where schematic text is allowed.

Pages of the instruction manual write placeholders for types (``!pto.vreg<NxT>``, ``dtype``) and use notations besides
those of programs: destinations first and no prefix (``vabs %r, %s, %m``), ``ins(..) outs(..)`` for every operation,
operations that the dialect does not have. Each statement is rewritten in its place; no line moves.

Source: level1-and-assembly page, sections 2.3, 7 and 8.
"""

from __future__ import annotations

import re

from ..ir.aliases import MNEMONIC_ALIASES
from ..ir.attributes import ENUMS
from ..ir.base import op_spec, signature
from ..ir.index import OPS
from ..ir.registry import op_class
from ..ir.types import PLAIN_TYPES
from .enum_spelling import ASSEMBLY_ENUM, respelled
from .type_forms import PTO_FORMS

ANY = "!manual.type<...>"
"""A type of which a page says nothing; any name will do for the parser."""

UNSUPPORTED = frozenset(
    word
    for words in (
        "tfusedmuladd tfusedmuladdrelu tmuladddst taddreluconv tadddeqrelu tsubrelu tpairreducesum tinterleave",
        "tdeinterleave timg2col tpack talias tquant_dn tquant_hif4 tmatmul_mx_hif4 setfmatrix tsetfmatrix",
        "set_img2col_rpt set_img2col_padding tset_img2col_rpt tset_img2col_padding sethf32mode settf32mode",
        "tsethf32mode tsettf32mode vrec vrsqrt vmov vbcnt vcls vsubs vands vors vxors vaddrelu vsubrelu vshift vperm",
        "vslide vtranspose vsort32 vsld vsst vstu vbroadcast vidu tmov.s2d copy_vreg_to_ub",
    )
    for word in words.split()
)
"""Operations that the manual describes and the dialect does not have; they become operations of dialect ``manual``."""

OTHER_FORMS = {
    "pto.tcolargmax": "the manual also has a result for the value",
    "pto.tcolargmin": "the manual also has a result for the value",
    "pto.trandom": "the manual gives key and counter as tiles, the dialect as six numbers",
    "pto.ttri": "an older page has two tiles, and the diagonal may be left out",
    "pto.textract_fp": "an older page leaves out fp",
    "pto.tgetval": "the manual gives the number in outs(..)",
    "pto.psel": "the manual has a mask besides the selecting predicate",
    **dict.fromkeys(("pto.pand", "pto.por", "pto.pxor", "pto.pnot"), "an older page leaves out the mask"),
    **dict.fromkeys(("pto.pge_b8", "pto.pge_b16", "pto.pge_b32"), "an older page has a number in place of the pattern"),
    **dict.fromkeys(("pto.plt_b8", "pto.plt_b16", "pto.plt_b32"), "an older page leaves out the remaining count"),
    **dict.fromkeys(
        ("pto.sync.set", "pto.sync.wait", "pto.set_intra_block", "pto.wait_intra_block"),
        "the manual has numbers of cores and events, the dialect a pipe and a number",
    ),
    **dict.fromkeys(("pto.get_buf", "pto.rls_buf"), "the manual has the number as a value before the pipe"),
    **dict.fromkeys(
        ("pto.vcvt", "pto.vtrc", "pto.vdup", "pto.vusqz", "pto.vsts", "pto.vadd"), "the manual leaves out the mask"
    ),
    **dict.fromkeys(("pto.vpack", "pto.vexpdif"), "the manual leaves out the part"),
    **dict.fromkeys(("pto.vmull", "pto.vaddreluconv", "pto.vmulconv", "pto.pstu"), "the manual has other operands"),
    **dict.fromkeys(("pto.vsldb", "pto.vsstb"), "the manual has one stride, the dialect two"),
    **dict.fromkeys(("pto.vstas", "pto.vstus"), "the manual has an offset between brackets or a mode"),
    **dict.fromkeys(("pto.subview", "pto.treshape"), "the manual has operands and outs(..) in place of sizes"),
}
"""Operations that some pages write with other operands than the dialect has, and what is different. Such a statement
becomes an operation of dialect ``manual`` as well."""

_PLACEHOLDER = re.compile(
    r"\.\.\.|…|\b(?:[A-Z][A-Z]?\d?|T_\w+|dtype|rows|cols|loc|DstType|SrcType|MASK|ESIZE)\b(?!\s*=\s*\w)"
    r"|(?:^|x)(?:[A-Z]\w?|rows|cols)x|x(?:[A-Z]|dtype)\b"
)
_TYPE = re.compile(r"(?<![\w#])!?pto\.([a-z]\w*(?:\.[a-z]\w*)?)<((?:[^<>]|<[^<>]*>)*)>")
_BARE_TYPE = re.compile(r"(?<=[:,(>|])(\s*)(?:dtype|scalar|T_\w+|[TUSG]\d?)(?=\s*(?:[,)\n|]|->|$))")
_BARE_POINTER = re.compile(r"!pto\.ptr(?!\s*<)")
_OPEN_ENUM = re.compile(r"#pto<\s*(\w+)\s+x+\s*>|#pto\.(\w+)<\s*x+\s*>")
_SCHEMATIC_SIGNATURE = re.compile(r":\s*\.\.\.\s*->\s*\.\.\.")
_MEMREF = re.compile(r"(?<![.\w])memref<\.\.\.>")
_ELEMENT_FIRST = re.compile(r"\s*([a-z]+\d+|predicate)\s*,\s*(\d+(?:\s*,\s*\d+)*|\d+(?:x\d+)+)\s*")
_PAGE_COMMENT = re.compile(r"[ \t]--[ \t][^\n]*|^[ \t]*#(?![\w.]*[<=]|[\w.]+[ \t]*=)[^\n]*", re.MULTILINE)

_OTHER_STATEMENTS = ("//", "}", "^", '"', "%", "return", "scf.", "arith.", "func.", "pto.")
"""What a line begins with that does not continue the statement above."""

_NAMES = r"%[\w$.\-]+(?::\d+)?(?:\s*,\s*%[\w$.\-]+)*"
_STATEMENT = re.compile(
    rf"^(?P<lead>[ \t]*)(?P<results>{_NAMES}\s*=\s*)?"
    r"(?P<name>(?:pto\.)?[A-Za-z]\w*(?:\.[A-Za-z]\w*)*)(?=[ \t]|\[|\(|$)",
    re.MULTILINE,
)
_PREDICATE_MOVES = {name: name for name in ("pldi", "plds", "psti", "psts")} | {"pld": "plds", "pst": "psts"}
"""Loads and stores of predicates, whose pages write the offset as an operand of its own, or leave it out."""
_PREDICATE_ADDRESS = re.compile(
    r"(?P<before>.*?)(?P<pointer>%(?!mask|m\d)[\w$.]+)(?!\[|[\w$.])(?:\s*,\s*(?P<offset>%?[\w$.]+)(?=\s*[,:)]))?",
    re.DOTALL,
)
_TYPES = re.compile(r"\s*:(?!:)")
_TYPES_AT_END = re.compile(r"\s*:\s*\w+(?:\s*,\s*\w+)*\s*(?=//|$)", re.MULTILINE)
_INS_OUTS = re.compile(
    r"\s*(?:ins\((?P<ins>.*?)\))?\s*(?P<middle>\"[^\"]*\")?\s*outs\((?P<outs>.*)\)\s*(?P<tail>\{.*\})?\s*$", re.DOTALL
)


def normalise(text: str) -> str:
    """``text`` with placeholders and notations of documentation replaced; every statement stays on its first line."""
    text = _PAGE_COMMENT.sub(lambda found: " " * len(found.group()), text)
    text = _SCHEMATIC_SIGNATURE.sub(": ...", text)
    text = _MEMREF.sub(ANY, text)
    text = _TYPE.sub(_known_type, text)
    text = _BARE_TYPE.sub(lambda found: f"{found[1]}{ANY}", text)
    text = _BARE_POINTER.sub("!pto.ptr<...>", text)
    text = ASSEMBLY_ENUM.sub(respelled, text)
    text = _OPEN_ENUM.sub(_first_enumerator, text)
    starts = [found for found in _STATEMENT.finditer(text) if _mnemonic(found["name"]) is not None]
    pieces: list[str] = []
    done = 0
    for position, found in enumerate(starts):
        end = starts[position + 1].start() if position + 1 < len(starts) else len(text)
        end = _end_of_statement(text, found.end(), end)
        statement = text[found.end() : end]
        rewritten = _rewritten(found, statement)
        pieces += [
            text[done : found.start()],
            rewritten + "\n" * (text.count("\n", found.start(), end) - rewritten.count("\n")),
        ]
        done = end
    return "".join(pieces) + text[done:]


def _indexed(found: re.Match[str]) -> str:
    """``%pointer, %offset`` as ``%pointer[%offset]``."""
    offset = found["offset"] or "%zero"
    return f"{found['before']}{found['pointer']}[{offset if offset.startswith('%') else '%' + offset}]"


def _end_of_statement(text: str, start: int, limit: int) -> int:
    """Where a statement ends: before an empty line, a comment line, or a line that is none of its continuation."""
    position = text.find("\n", start, limit)
    while 0 <= position < limit:
        line_end = text.find("\n", position + 1, limit)
        line = text[position + 1 : limit if line_end < 0 else line_end].strip()
        if not line or line.startswith(_OTHER_STATEMENTS):
            return position
        position = line_end
    return limit if not text[start:limit].endswith("\n") else limit - 1


def _known_type(found: re.Match[str]) -> str:
    """A type whose parameters are placeholders, or that is none of the dialect, with ``...`` for its parameters."""
    name, body = found.groups()
    if f"pto.{name}" in PLAIN_TYPES:
        return f"!pto.{name}"
    if f"pto.{name}" not in PTO_FORMS:
        return f"!manual.{name}<...>" if found[0].startswith("!") else found[0]
    element_first = _ELEMENT_FIRST.fullmatch(body)
    if element_first is not None and name in ("tile", "memref", "vreg", "tensor_view", "partition_tensor_view"):
        element, dims = element_first.groups()
        return f"!pto.{name}<{'x'.join(re.findall(r'[0-9]+', dims))}x{element}>" if element != "predicate" else ANY
    if name == "tile_buf" and (element_first is not None or "RowMajor" in body):
        return "!pto.tile_buf<...>"
    return f"!pto.{name}<...>" if _PLACEHOLDER.search(body) else f"!pto.{name}<{body}>"


def _first_enumerator(found: re.Match[str]) -> str:
    kind = found[1] or found[2]
    return ENUMS[kind].spell(ENUMS[kind].values[0]) if kind in ENUMS else found[0]


def _mnemonic(word: str) -> str | None:
    """The operation that a word at the start of a statement names; ``None`` for other words."""
    name = word.lower().removeprefix("pto.")
    if name in _PREDICATE_MOVES:
        return f"pto.{_PREDICATE_MOVES[name]}"
    if name in UNSUPPORTED:
        return name
    full = MNEMONIC_ALIASES.get(f"pto.{name}", f"pto.{name}")
    return full if full in OPS else None


def _rewritten(found: re.Match[str], rest: str) -> str:
    """One statement in a form that the grammar reads."""
    head = f"{found['lead']}{found['results'] or ''}"
    name = _mnemonic(found["name"])
    assert name is not None
    if name in UNSUPPORTED:
        return f"{found['lead']}{_foreign(name, found['results'] or '', rest)}"
    if name.removeprefix("pto.") in _PREDICATE_MOVES.values():
        rest = _PREDICATE_ADDRESS.sub(_indexed, rest, count=1)
    if name in OTHER_FORMS and not _is_dialect_form(name, found, rest):
        return f"{found['lead']}{_foreign(name.removeprefix('pto.'), found['results'] or '', rest)}"
    shape = OPS[name][2]
    as_written = f"{head}{found['name']}{rest}"
    if shape.startswith("OP_DPS"):
        return as_written
    if shape in ("OP_COMM_GROUP", "OP_PAREN") and not rest.lstrip().startswith(("(", "{")):
        # The pages leave out the buffers that the operations of the dialect need.
        return f"{found['lead']}{_foreign(name.removeprefix('pto.'), found['results'] or '', rest)}"
    if shape.startswith("OP_SYNC"):
        return f"{head}{name}{_TYPES_AT_END.sub('', rest)}"
    if name == "pto.tassign" and not found["results"]:
        return f"{found['lead']}{name} {_typed(rest)[0].strip().removeprefix('ins(')} : ..."
    parts = _INS_OUTS.fullmatch(rest)
    if parts is not None and not found["results"]:
        return f"{found['lead']}{_flat(name, parts)}"
    if found["name"].startswith("pto.") or found["results"]:
        return f"{head}{name}{rest}"
    return f"{found['lead']}{_destination_first(name, rest)}"


def _is_dialect_form(name: str, found: re.Match[str], rest: str) -> bool:
    """Whether a statement of one of ``OTHER_FORMS`` has the operands, words and results that the dialect wants."""
    declared = signature(op_class(name))
    spec = op_spec(op_class(name))
    operands = _TYPES.split(rest, maxsplit=1)[0].partition("outs(")[0]
    values = len(re.findall(r"%[\w$.\-]+|[,(\s]-?\d+(?=\s*[,:)]|$)", operands))
    names = found["results"] or (re.findall(r"outs\(([^:)]*)", rest) or [""])[0]
    results = len(re.findall(r"%[\w$.\-]+", names))
    if not (found["results"] or "outs(" in rest) and not found["name"].startswith("pto."):
        results = sum(slot.arity == "1" for slot in declared.results)
        values -= results
    outs = [slot for slot in declared.operands if slot.name in spec.outs and slot.arity != "1"]
    least = declared.required
    most = None if declared.maximum is None else declared.maximum - len(outs)
    words = [key for key in spec.tokens if key in declared.attributes and declared.attributes[key].arity == "1"]
    spelled = len(re.findall(r"[\"<\[]\s*\"?[A-Za-z_]\w*", operands))
    if name in ("pto.subview", "pto.treshape") and ("outs(" in rest or ("sizes" not in rest and name == "pto.subview")):
        return False
    if name == "pto.treshape":
        return "->" in rest or not rest.strip().startswith("%")
    if name in ("pto.vstas", "pto.vstus") and "[" in rest:
        return False
    if results > (declared.maximum_results or results):
        return False
    return least <= values and (most is None or values <= most) and len(words) <= spelled


def _flat(name: str, parts: re.Match[str]) -> str:
    """``name ins(..) outs(..)`` as ``%r = name .. : types -> types``."""
    inputs, input_types = _typed(parts["ins"] or "")
    results, result_types = _typed(parts["outs"])
    operands = ", ".join(part for part in (parts["middle"], inputs) if part)
    types = f"{input_types} -> {result_types}" if input_types else result_types
    return f"{results} = {name} {operands} {parts['tail'] or ''} : {types}"


def _typed(group: str) -> tuple[str, str]:
    """The values and the types of ``%a, %b : A, B``."""
    values, _, types = group.partition(" :")
    return values.strip(), types.strip().removeprefix("(").removesuffix(")") if types.strip().startswith(
        "("
    ) else types.strip()


def _destination_first(name: str, rest: str) -> str:
    """``name %r, %a, "W" : T`` as ``%r = name %a, "W" : ...``: the first operands are the results."""
    number = sum(slot.arity == "1" for slot in signature(op_class(name)).results)
    operands, _, _ = rest.partition(" :")
    values = [value.strip() for value in operands.split(",")]
    if number == 0 or len(values) <= number:
        return f"{name} {operands.strip()} : ..."
    return f"{', '.join(values[:number])} = {name} {', '.join(values[number:])} : ..."


def _foreign(name: str, results: str, rest: str) -> str:
    """An operation that the dialect does not have, in generic form: its values, all of unknown type."""
    outs = re.search(r"\bouts\(([^:)]*)", rest)
    operands, _, _ = rest.partition(" :")
    values = re.findall(r"%[\w$.\-]+", operands.partition("outs(")[0])
    names = re.findall(r"%[\w$.\-]+", results or (outs[1] if outs else ""))
    head = f"{', '.join(names)} = " if names else ""
    types = ", ".join([ANY] * len(values))
    outputs = ", ".join([ANY] * len(names))
    return f'{head}"manual.{name}"({", ".join(values)}) : ({types}) -> ({outputs})'
