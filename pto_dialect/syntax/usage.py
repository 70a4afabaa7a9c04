"""The syntax of an operation on one line, for messages about incorrect statements.

The line is made from the declaration: ``%value = pto.vlds %source[%offset] : type -> type``. Optional parts are in
``[..]``. Source: docs/reference/language.md, "Shapes".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from pto_dialect.ir.core.aliases import MNEMONIC_ALIASES
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import PtoOp, Shape, Slot, op_spec, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core_dialects.core_ops import CORE_SHAPES

_FLAT = frozenset((Shape.FLAT_VOID, Shape.FLAT_VALUE, Shape.FLAT_TOKEN, Shape.FLAT_SUFFIX, Shape.LEAD_STRING))
_INDEXED = frozenset((Shape.INDEXED, Shape.INDEXED_STORE))
_DPS = frozenset((Shape.DPS, Shape.DPS_INNER, Shape.DPS_KEYED, Shape.DPS_MASK, Shape.DPS_TLOAD, Shape.INS_ONLY))
_LONGEST = 160

_CORE = {
    "OP_FOR": "scf.for %i = %from to %to step %by {",
    "OP_IF": "scf.if %condition {",
    "OP_FUNC": "func.func @name(%argument: type) {",
    "OP_MODULE": 'module attributes {pto.target_arch = "a5"} {',
    "OP_CONSTANT": "%c = arith.constant 1 : index",
    "OP_CALL": "%r = func.call @name(%argument) : (type) -> type",
    "OP_BRANCH": "cf.br ^block(%value : type)",
    "OP_COND_BRANCH": "cf.cond_br %condition, ^then, ^else",
}
_OTHER = {
    Shape.PIPE_INIT: "{id = 0, dir_mask = 1, slot_size = 1024} (%buffer : type)",
    Shape.COMM_GROUP: "(%dst, %src, buf(%tile) : types)",
    Shape.LAUNCH: "@kernel<<<%x, %y, %z>>>(%arguments) : (types) -> ()",
    Shape.DMA_BURST: "%source, %destination, .. nburst(%count, %src_stride, %dst_stride) : types",
    Shape.ACC_STORE: "%source, %destination, .., clauses : types",
    Shape.MAD: "%left, %right, %acc, %m, %n, %k clauses : types",
    Shape.SUBVIEW: "%source[%row, %col] sizes [16, 16] : type",
    Shape.ALLOC: "[addr = %addr] [valid_row = %rows] [valid_col = %cols] : type",
}


def view_lists(name: str) -> tuple[str, ...]:
    """Returns the names of the lists in brackets of the operation ``name``; none for operations that have no such
    lists."""
    if name not in OPS or OPS[name][2] != Shape.VIEW_LISTS:
        return ()
    return tuple(slot.name for slot in signature(op_class(name)).operands if slot.arity == "*")


@cache
def usage(name: str) -> str | None:
    """Returns the form of the operation ``name``; ``None`` where no single line describes it."""
    name = MNEMONIC_ALIASES.get(name, name)
    if name not in OPS:
        form = _CORE.get(CORE_SHAPES.get(name, ""))
        return f"the form is {form}" if form else None
    cls = op_class(name)
    assert issubclass(cls, PtoOp)
    form = _form(cls)
    return f"the form is {form}" if form is not None and len(form) <= _LONGEST else None


def only_word(name: str) -> str | None:
    """Returns the enumerator in angle brackets that is all the operation ``name`` takes; ``None`` where that is no
    form."""
    name = MNEMONIC_ALIASES.get(name, name)
    if name not in OPS:
        return None
    cls = op_class(name)
    assert issubclass(cls, PtoOp)
    declared, tokens = signature(cls), op_spec(cls).tokens
    alone = op_spec(cls).shape is Shape.SYNC_TOKEN and len(tokens) == 1 and not declared.operands
    word = _word(cls, tokens[0]) if alone else None
    return f"<{word}>" if word else None


def value_form(name: str) -> str | None:
    """Returns the form of the tile operation ``name`` on values; ``None`` for other operations."""
    name = MNEMONIC_ALIASES.get(name, name)
    if name not in OPS:
        return None
    cls = op_class(name)
    assert issubclass(cls, PtoOp)
    spec = op_spec(cls)
    if spec.shape not in _DPS:
        return None
    slots = {slot.name: slot for slot in signature(cls).operands}
    return value_usage(name, [slots[word] for word in spec.text or tuple(slots) if word not in spec.outs])


def value_usage(spelling: str, inputs: Sequence[Slot]) -> str:
    """Returns the form of a tile operation on values, as ``spelling`` with its ``inputs``."""
    given = [slot for slot in inputs if slot.arity != "?"]
    return f"the form is %result = {spelling} {_names(given)} : ({_types(given)}) -> type"


def _form(cls: type[PtoOp]) -> str | None:
    spec = op_spec(cls)
    shape = spec.shape
    slots = {slot.name: slot for slot in signature(cls).operands}
    order = [slots[name] for name in spec.text or tuple(slots)]
    name = cls.name
    results = [slot for slot in signature(cls).results if slot.arity == "1"]
    begin = f"{_names(results)} = " if results else ""
    if shape in _DPS:
        inputs = [slot for slot in order if slot.name not in spec.outs and slot.arity != "?"]
        outputs = [slot for slot in order if slot.name in spec.outs and (slot.arity != "?" or slot.name == "dst")]
        outs = f" outs({_names(outputs)} : {_types(outputs)})" if outputs else ""
        if results:
            outs += f" outs : {_types(results)}"
        return f"{begin}{name} ins({_names(inputs)} : {_types(inputs)}){outs}"
    if shape in (Shape.SYNC_BRACKET, Shape.SYNC_TOKEN):
        tokens = [f"<{_word(cls, token) or token}>" for token in spec.tokens if token in signature(cls).attributes]
        tokens += [f"%{slot.name}" for slot in order if slot.arity == "1"]
        return f"{name}[{', '.join(tokens)}]" if shape is Shape.SYNC_BRACKET else f"{name} {', '.join(tokens)}"
    if shape in _FLAT or shape in _INDEXED:
        return begin + _flat(cls, order, results)
    if shape in (Shape.NULLARY, Shape.NULLARY_TYPED, Shape.NULLARY_ARROW):
        mark = {Shape.NULLARY: "", Shape.NULLARY_TYPED: " : ", Shape.NULLARY_ARROW: " -> "}[shape]
        return begin + name + (mark + _types(results) if mark else "")
    if shape in (Shape.PAREN, Shape.BRACE_FIELDS):
        given = [slot for slot in order if slot.arity != "?"]
        arrow = f" -> {_types(results)}" if results else ""
        return f"{begin}{name}({_names(given)} : {_types(given)}){arrow}" if given else None
    tail = _OTHER.get(shape)
    if shape is Shape.VIEW_LISTS:
        first, second = view_lists(name)
        tail = f"%source, {first} = [%a, %b], {second} = [%c, %d] : type"
    return None if tail is None else f"{begin}{name}{'' if tail[0] == '(' else ' '}{tail}"


def _flat(cls: type[PtoOp], order: list[Slot], results: list[Slot]) -> str:
    spec = op_spec(cls)
    given = [slot for slot in order if slot.arity != "?"]
    typed = spec.typed if spec.typed is not None else tuple(slot.name for slot in order)
    shown = [slot for slot in given if slot.name in typed]
    words = [f'"{_word(cls, token) or token}"' for token in spec.tokens if token in signature(cls).attributes]
    if spec.shape is Shape.LEAD_STRING:
        text = ", ".join((*words[:1], *(f"%{slot.name}" for slot in given)))
    elif spec.shape in _INDEXED:
        text = _indexed(given)
    else:
        text = ", ".join((*(f"%{slot.name}" for slot in given), *(words if spec.shape is Shape.FLAT_TOKEN else ())))
    tail = f" : {_types(shown)}" if shown or (results and not spec.fixed_results) else ""
    if results and not spec.fixed_results:
        tail = f"{tail} -> {_types(results)}" if shown else f" : {_types(results)}"
    return f"{cls.name} {text}{tail}"


def _indexed(given: list[Slot]) -> str:
    """Returns operands with the offset in brackets after its base."""
    names = [slot.name for slot in given]
    index = next((n for n in names if n in ("offset", "index", "indices", "position")), None)
    if index is None or names.index(index) == 0:
        return ", ".join(f"%{n}" for n in names)
    position = names.index(index)
    parts = [f"%{n}" for n in names]
    parts[position - 1] += f"[%{index}]"
    del parts[position]
    return ", ".join(parts)


_EXAMPLES = {
    "src_pipe": "PIPE_MTE2",
    "dst_pipe": "PIPE_V",
    "pipe": "PIPE_ALL",
}
"""Example enumerators of a token, where the first one of its kind would be a poor example."""


def _word(cls: type[PtoOp], name: str) -> str | None:
    """Returns the first enumerator of a token attribute."""
    kind = signature(cls).attributes[name].kind
    if kind.enums == ("pipe",) and name in _EXAMPLES:
        return _EXAMPLES[name]
    if kind.words:
        return kind.words[0]
    return next((ENUMS[enum].values[0] for enum in kind.enums), None)


def _names(slots: Sequence[Slot]) -> str:
    return ", ".join(f"%{slot.name}" for slot in slots)


def _types(slots: Sequence[Slot]) -> str:
    return ", ".join("type" for _ in slots)
