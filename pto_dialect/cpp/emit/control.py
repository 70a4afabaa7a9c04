"""Loops, branches, sections and calls. Source: docs/reference/core-dialects.md, "Operations"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import SymbolRefAttr

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core_dialects.structured import is_unsigned

from .carried import End, Insertion, begin, bind_tensor, changes, insert, is_tensor, merge
from .ctypes import unsigned
from .errors import fail
from .expression import Expr, binary, cast, quoted
from .writer import View, Writer, emits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import Block, Operation, SSAValue


def _only_block(op: Operation, at: int = 0) -> Block:
    blocks = list(op.regions[at].blocks)
    if len(blocks) != 1:
        fail(op, f"{op.name} with several blocks has no form in C++", "write loops and branches with scf")
    return blocks[0]


def assign(targets: Sequence[Expr], values: Sequence[Expr], types: Sequence[str], w: Writer) -> None:
    """Emits assignments that happen at once."""
    pairs = [(a, b, type_) for a, b, type_ in zip(targets, values, types, strict=True) if a.text != b.text]
    changed = [target.text for target, _, _ in pairs]
    conflict = any(_names(value.text) & set(changed[:i]) for i, (_, value, _) in enumerate(pairs))
    if not conflict:
        for target, value, _ in pairs:
            w.line(f"{target.text} = {value.text};")
        return
    kept = []
    for target, value, type_ in pairs:
        name = w.names.fresh(f"next_{target.text}")
        w.line(f"{type_}{name} = {value.text};")
        kept.append((target.text, name))
    for target, name in kept:
        w.line(f"{target} = {name};")


def _names(text: str) -> set[str]:
    return set("".join(letter if letter.isalnum() or letter == "_" else " " for letter in text).split())


def _carried(op: Operation, values: Sequence[SSAValue], initial: Sequence[SSAValue | None], w: Writer) -> list[Expr]:
    """Declares the variables of values that a loop or branch gives new values."""
    found = []
    for value, first in zip(values, initial, strict=True):
        _check_carried(op, value, w)
        found.append(w.variable(value, op, None if first is None else _carried_value(first, op, w)))
    return found


def _function_of(op: Operation) -> Operation:
    """Returns the function around an operation."""
    while (parent := op.parent_op()) is not None and parent.name != "builtin.module":
        op = parent
    return op


def _check_carried(op: Operation, value: SSAValue, w: Writer) -> None:
    if isinstance(value.type, t.TileBufType) and not w.shared.placed:
        fail(op, "a tile that a loop or branch gives needs an address", "run -p assign-memory first")
    if (
        isinstance(value.type, t.TileBufType)
        and t.DYNAMIC in (value.type.valid_rows, value.type.valid_cols)
        and any(one.name == "pto.set_validshape" for one in _function_of(op).walk())
    ):
        message = "a tile that a loop or branch gives and whose valid sizes are set later has no form in C++"
        fail(op, message, "set the sizes where the tile is made")
    if is_tensor(value) and op.name == "scf.while":
        fail(op, f"a tensor that {op.name} carries has no form in C++", "make the view in the loop")


def _carried_value(value: SSAValue, op: Operation, w: Writer) -> Expr:
    """Returns a value that another variable becomes, which has the type that the program states."""
    if w.tile_types.get(value, value.type) != value.type:
        fail(op, "a window with other lines than its type says has no form in C++ here", "take whole rows of its tile")
    return w.get(value, op)


def _types(values: Sequence[SSAValue], op: Operation, w: Writer) -> list[str]:
    return [w.type(value.type, op) for value in values]


def _yield(block: Block, targets: Sequence[Expr], w: Writer, views: Sequence[View] = ()) -> None:
    last = block.last_op
    assert last is not None
    plain = [value for value in last.operands if not is_tensor(value)]
    changed, values, types = list(targets), [_carried_value(value, last, w) for value in plain], _types(plain, last, w)
    for old, value in zip(views, (value for value in last.operands if is_tensor(value)), strict=True):
        for found, more in zip((changed, values, types), changes(last, old, w.view(value, last)), strict=True):
            found.extend(more)  # pyright: ignore[reportArgumentType]
    assign(changed, values, types, w)


@emits("scf.yield", "scf.condition", "func.return")
def emit_terminator(op: Operation, w: Writer) -> None:
    """What a block ends with is part of the operation around it, but for the result of a function."""
    if op.name == "func.return" and len(op.operands):
        w.line(f"return {w.get(op.operands[0], op).text};")


@emits("scf.for")
def emit_for(op: Operation, w: Writer) -> None:
    """A loop that counts; what it carries are variables before it."""
    first, end, step, *initial = op.operands
    body = _only_block(op)
    counter, *carried = body.args
    tensors: dict[SSAValue, View] = {}
    variables: list[Expr] = []
    for value, result, start in zip(carried, op.results, initial, strict=True):
        _check_carried(op, result, w)
        value.name_hint = value.name_hint or result.name_hint
        if is_tensor(value):
            tensors[value] = begin(op, value, w.view(start, op), w)
            continue
        variable = w.variable(value, op, _carried_value(start, op, w))
        w.bind(value, variable)
        w.bind(result, variable)
        variables.append(variable)
    name = w.name(counter, "i")
    w.bind(counter, Expr(name))
    number = w.get(step, op)
    advance = f"++{name}" if number.number == 1 else f"{name} += {number.text}"
    type_ = w.type(counter.type, op)
    compared = (Expr(name), w.get(end, op))
    if is_unsigned(op):
        compared = (cast(unsigned(counter.type), compared[0]), cast(unsigned(counter.type), compared[1]))
    head = f"for ({type_}{name} = {w.get(first, op).text}; {binary('<', *compared).text}; {advance}) {{"
    with w.block(head):
        for value, view in tensors.items():
            bind_tensor(value, view, op, w)
        w.operations(body)
        _yield(body, variables, w, [tensors[value] for value in carried if value in tensors])
    for value, result in zip(carried, op.results, strict=True):
        if value in tensors and list(result.uses):
            bind_tensor(result, tensors[value], op, w)


@emits("scf.if")
def emit_if(op: Operation, w: Writer) -> None:
    """A branch; its results are variables that both sides set."""
    plain = [result for result in op.results if not is_tensor(result)]
    variables = _carried(op, plain, [None] * len(plain), w)
    for result, variable in zip(plain, variables, strict=True):
        w.bind(result, variable)
    sides = [list(region.blocks) for region in op.regions]
    start = len(w.lines)
    with w.block(f"if ({w.get(op.operands[0], op).text}) {{"):
        ends = [_side(op, 0, variables, w)]
    if len(sides) > 1 and sides[1] and (len(list(sides[1][0].ops)) > 1 or len(op.results)):
        w.lines[-1] = w.lines[-1].rstrip() + " else {"
        with w.block_after():
            ends.append(_side(op, 1, variables, w))
    if w.lines[-2:] == [f"{w.indent}}} else {{", f"{w.indent}}}"] and not len(op.results):
        w.lines[-2:] = [f"{w.indent}}}"]
    _bind_tensors(op, ends, start, w)


def _bind_tensors(op: Operation, ends: Sequence[Sequence[End]], start: int, w: Writer) -> None:
    """Says what the tensors are that a branch gives."""
    results = [result for result in op.results if is_tensor(result)]
    lines: list[Insertion] = []
    views: list[View] = []
    for result, one in zip(results, zip(*ends, strict=True), strict=True):
        view, more = merge(op, result, one, start, w)
        views.append(view)
        lines += more
    insert(lines, w)
    for result, view in zip(results, views, strict=True):
        if list(result.uses):
            bind_tensor(result, view, op, w)


def _side(op: Operation, at: int, variables: list[Expr], w: Writer) -> list[End]:
    """Emits one side of a branch; returns the tensors that it gives."""
    block = _only_block(op, at)
    w.operations(block)
    last = block.last_op
    assert last is not None
    plain = [value for value in last.operands if not is_tensor(value)]
    assign(variables, [_carried_value(value, last, w) for value in plain], _types(plain, last, w), w)
    return [End(w.view(value, last), len(w.lines)) for value in last.operands if is_tensor(value)]


@emits("scf.while")
def emit_while(op: Operation, w: Writer) -> None:
    """A loop with a condition, which is computed once more than the body runs."""
    before, after = _only_block(op, 0), _only_block(op, 1)
    variables = _carried(op, before.args, list(op.operands), w)
    for value, variable in zip(before.args, variables, strict=True):
        w.bind(value, variable)
    condition = before.last_op
    assert condition is not None
    passed = list(condition.operands)[1:]
    results: list[Expr] = []
    same = len(passed) == len(variables) and all(a is b for a, b in zip(passed, before.args, strict=True))
    if not same:
        results = _carried(op, op.results, [None] * len(op.results), w)
    lines = w.attempt(lambda: w.operations(before))
    if same and not lines:
        for inner, result, variable in zip(after.args, op.results, variables, strict=True):
            w.bind(inner, variable)
            w.bind(result, variable)
        with w.block(f"while ({w.get(condition.operands[0], op).text}) {{"):
            w.operations(after)
            _yield(after, variables, w)
        return
    with w.block("while (true) {"):
        w.lines += [f"  {line}" if not line.startswith("#") else line for line in lines]
        if not same:
            assign(results, [w.get(value, op) for value in passed], _types(passed, op, w), w)
        w.line(f"if (!({w.get(condition.operands[0], op).text}))")
        w.line("  break;")
        for inner, result, variable in zip(after.args, op.results, results or variables, strict=True):
            w.bind(inner, variable)
            w.bind(result, variable)
        w.operations(after)
        _yield(after, variables, w)


_SWITCHES = {"pto.section.cube": "__DAV_CUBE__", "pto.section.vector": "__DAV_VEC__"}


@emits(*_SWITCHES)
def emit_section(op: Operation, w: Writer) -> None:
    """Code of one core, between lines of the preprocessor."""
    w.line(f"#if defined({_SWITCHES[op.name]})")
    with w.block("{"):
        w.operations(_only_block(op))
    w.line("#endif")


@emits("func.call")
def emit_function_call(op: Operation, w: Writer) -> None:
    """A call of a function of the text."""
    callee = op.properties.get("callee")
    name = callee.root_reference.data if isinstance(callee, SymbolRefAttr) else ""
    function = w.shared.functions.get(name)
    if function is None:
        fail(op, f"the function {name} has no body, so C++ cannot call it", "define it in this module")
    if len(op.results) > 1:
        fail(op, "a function with several results has no form in C++", "inline it")
    text = f"{function}({', '.join(_carried_value(value, op, w).text for value in op.operands)})"
    if len(op.results) and list(op.results[0].uses):
        w.declare(op, Expr(text))
    else:
        w.line(f"{text};")


@emits("cf.assert")
def emit_assertion(op: Operation, w: Writer) -> None:
    """A check at run time."""
    text = getattr(op.properties.get("msg"), "data", "") or getattr(op.attributes.get("msg"), "data", "")
    w.line(f"PTO_ASSERT({w.get(op.operands[0], op).text}, {quoted(text)});")


@emits("pto.trap")
def emit_trap(op: Operation, w: Writer) -> None:
    """Stops the core."""
    w.line("trap();")


__all__: list[str] = []
