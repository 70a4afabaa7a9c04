"""The release of the reference that an operation is meant for.

Source: docs/reference/releases.md, "Choice of the release".
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from pto_dialect.targets.release import ATTRIBUTE, Release, newest, release_named


def release_of(op: Operation) -> Release:
    """Returns the release that the nearest enclosing module of ``op`` names; the newest known one by default."""
    scope: Operation | None = op
    while scope is not None:
        stated = scope.attributes.get(ATTRIBUTE)
        if isinstance(stated, StringAttr) and isinstance(scope, ModuleOp):
            return release_named(stated.data) or newest()
        scope = scope.parent_op()
    return newest()


def set_release(module: ModuleOp, text: str | None) -> None:
    """Sets the release of ``module`` and its nested modules to the one of an option, if given."""
    if text is None:
        return
    stated = StringAttr(str(release_named(text) or text))
    for op in module.walk():
        if op is module or (isinstance(op, ModuleOp) and ATTRIBUTE in op.attributes):
            op.attributes[ATTRIBUTE] = stated
