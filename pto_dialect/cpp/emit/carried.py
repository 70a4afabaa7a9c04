"""Tensors that loops and branches give: no variables themselves, but where they begin and how large they are may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from pto_dialect.ir.core import types as t

from .buffers import declare_tensor
from .ctypes import element
from .errors import fail
from .expression import Expr
from .writer import View, Writer

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue


def is_tensor(value: SSAValue) -> bool:
    """Returns whether a value is a view of global memory or a part of one."""
    return isinstance(value.type, t.ShapedView)


def bind_tensor(value: SSAValue, view: View, op: Operation, w: Writer) -> None:
    """Says what tensor a value is; parts are declared here."""
    if isinstance(value.type, t.PartitionViewType):
        declare_tensor(op, view, w, value)
    else:
        w.bind(value, view)


class End(NamedTuple):
    """What one side of a branch gives, and the number of lines before its end."""

    view: View
    position: int


class Insertion(NamedTuple):
    """A line that belongs before another one, and by how many levels it is deeper than the branch."""

    position: int
    text: str
    deeper: int


def merge(op: Operation, result: SSAValue, ends: Sequence[End], start: int, w: Writer) -> tuple[View, list[Insertion]]:
    """Returns the tensor that both sides of a branch give. What differs between them gets a variable, with lines before
    the branch, which begins at line ``start``, and at the end of each side."""
    first, *others = (end.view for end in ends)
    if any((one.layout, one.element) != (first.layout, first.element) for one in others):
        fail(op, "a tensor of two layouts has no form in C++", "use it in both branches")
    lines: list[Insertion] = []
    hint = result.name_hint or "view"

    def one_of(given: Sequence[Expr], type_: str, what: str) -> Expr:
        if len({each.text for each in given}) == 1:
            return given[0]
        name = w.names.fresh(f"{hint}_{what}")
        lines.append(Insertion(start, f"{type_}{name};", 0))
        lines.extend(
            Insertion(end.position, f"{name} = {each.text};", 1) for end, each in zip(ends, given, strict=True)
        )
        return Expr(name)

    views = [end.view for end in ends]
    base = one_of([view.base for view in views], f"__gm__ {element(first.element, op)} *", "at")
    sizes = [one_of(each, "int64_t ", "size") for each in zip(*(view.sizes for view in views), strict=True)]
    strides = [one_of(each, "int64_t ", "stride") for each in zip(*(view.strides for view in views), strict=True)]
    return first._replace(base=base, sizes=tuple(sizes), strides=tuple(strides)), lines


def insert(lines: Sequence[Insertion], w: Writer) -> None:
    """Inserts lines in their order, from the end, so that positions before stay what they are."""
    for one in sorted(reversed(lines), key=lambda line: -line.position):
        w.insert(one.position, one.text, one.deeper)


def begin(op: Operation, value: SSAValue, view: View, w: Writer) -> View:
    """Declares what a loop may change of a tensor: all that is not constant."""
    hint = value.name_hint or "view"

    def variable(given: Expr, type_: str, what: str) -> Expr:
        if given.number is not None:
            return given
        name = w.names.fresh(f"{hint}_{what}")
        w.line(f"{type_}{name} = {given.text};")
        return Expr(name)

    base = variable(view.base, f"__gm__ {element(view.element, op)} *", "at")
    sizes = tuple(variable(one, "int64_t ", "size") for one in view.sizes)
    return view._replace(
        base=base, sizes=sizes, strides=tuple(variable(one, "int64_t ", "stride") for one in view.strides)
    )


def changes(op: Operation, old: View, new: View) -> tuple[list[Expr], list[Expr], list[str]]:
    """Returns the variables of a tensor that a loop carries, what they become, and their types."""
    if (old.layout, old.element) != (new.layout, new.element) or len(old.sizes) != len(new.sizes):
        fail(op, "a loop that carries tensors of two layouts has no form in C++", "make the view in the loop")
    pairs = [(old.base, new.base, f"__gm__ {element(old.element, op)} *")]
    pairs += [(a, b, "int64_t ") for a, b in zip((*old.sizes, *old.strides), (*new.sizes, *new.strides), strict=True)]
    if any(a.number is not None and a.number != b.number for a, b, _ in pairs):
        fail(op, "a loop that carries tensors of two sizes has no form in C++", "make the view in the loop")
    left = [pair for pair in pairs if pair[0].number is None]
    return [a for a, _, _ in left], [b for _, b, _ in left], [type_ for _, _, type_ in left]


__all__ = ["End", "begin", "bind_tensor", "changes", "insert", "is_tensor", "merge"]
