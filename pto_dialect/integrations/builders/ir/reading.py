"""Programs from their text."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.refused import RefusedProgram

from .context import Context, need_context
from .errors import refused
from .structure import CONTEXT


def read_module(text: str | bytes, context: Context | None) -> ModuleOp:
    """Returns the module with this text, verified. Raises ``MLIRError`` for a text with errors."""
    from pto_dialect.api import parse  # deferred: start-up

    from .checks import verify  # deferred: start-up

    of = need_context(context)
    asm = text.decode() if isinstance(text, bytes) else text
    if not isinstance(asm, str):
        raise TypeError(f"asm is a string, found {type(asm).__name__}")
    try:
        made = parse(asm)
    except RefusedProgram as error:
        raise refused(error.diagnostics) from None
    setattr(made, CONTEXT, of)
    verify(made)
    return made
