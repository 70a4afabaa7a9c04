"""Programs from their text."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.refused import RefusedProgram

from .context import Context, need_context
from .errors import refused
from .structure import CONTEXT
from .texts import plain_text


def read_module(text: str | bytes, context: Context | None) -> ModuleOp:
    """Returns the module with this text, verified. Raises ``MLIRError`` for a text with errors."""
    from pto_dialect.api import parse  # deferred: start-up

    from .checks import verify  # deferred: start-up

    of = need_context(context)
    try:
        made = parse(plain_text(text, "asm"))
    except RefusedProgram as error:
        raise refused(error.diagnostics) from None
    setattr(made, CONTEXT, of)
    verify(made)
    return made
