"""Programs from their text."""

from __future__ import annotations

import os

from xdsl.dialects.builtin import ModuleOp, StringAttr

from pto_dialect.diagnostics.refused import RefusedProgram
from pto_dialect.targets.release import ATTRIBUTE

from .. import RELEASE
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
    state_release(made)
    verify(made)
    return made


def state_release(module: ModuleOp) -> None:
    """Has a module that states no release of the reference state the one that the environment names."""
    release = os.environ.get(RELEASE)
    if release and ATTRIBUTE not in module.attributes:
        module.attributes[ATTRIBUTE] = StringAttr(release)
