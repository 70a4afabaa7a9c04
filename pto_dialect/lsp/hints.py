"""Inlay hints: pipes of operations, bytes and addresses of tiles."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types
from xdsl.ir import Operation

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.target import profile_of
from pto_dialect.ir.core.base import Pipe, is_pto
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.verify.buffers.alloc import address_operand
from pto_dialect.verify.engine.context import mnemonic_span

from .program.document import Document
from .program.type_description import size_of
from .server import Server


def hints(server: Server, document: Document, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    """Returns the hints between two positions; none where they are switched off."""
    if not server.settings.inlay_hints:
        return None
    start, end = document.offset(params.range.start), document.offset(params.range.end)
    functions = _functions(document, start, end)
    return [hint for function in functions for hint in _of_function(document, function, start, end)]


def _functions(document: Document, start: int, end: int) -> Iterator[Operation]:
    checked = document.checked
    if not checked.functions and checked.module is not None:
        yield checked.module
    for (begin, stop), function in zip(checked.pieces.functions, checked.functions, strict=True):
        if begin <= end and stop >= start:
            yield from function.operations


def _of_function(document: Document, function: Operation, start: int, end: int) -> Iterator[types.InlayHint]:
    arch = profile_of(function, document.options.target).arch
    for op in walk(function):
        span = span_of(op) if is_pto(op) else None
        name = mnemonic_span(op, span)
        if span is None or name is None or not is_pto(op):
            continue
        place = document.checked.place(name)
        if not start <= place.start <= end:
            continue
        if has_role(op, Role.TILE_ALLOCATION):
            text = _bytes(op)
        else:
            pipe = form_of(op, arch).pipe if not has_role(op, Role.PIPES) else None
            text = pipe.value.removeprefix("PIPE_") if pipe not in (None, Pipe.ALL) else ""
        if text:
            position = document.lines.position(place.end)
            yield types.InlayHint(position, text, padding_left=True, tooltip=_TOOLTIP.get(text))


_TOOLTIP = {pipe.value.removeprefix("PIPE_"): f"runs on {pipe.value}" for pipe in Pipe}


def _bytes(op: Operation) -> str:
    size = size_of(op.results[0].type)
    address = constant_of(operand) if (operand := address_operand(op)) is not None else None
    at = f" at 0x{address:x}" if isinstance(address, int) else ""
    return f"{size} bytes{at}" if size is not None else ""
