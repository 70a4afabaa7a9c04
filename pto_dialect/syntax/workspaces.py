"""Assignment of values to the operands of ``syncall``, which their types identify."""

from __future__ import annotations

from xdsl.ir import SSAValue

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.placement import location

_NAMES = {"ub": "ub_workspace", "vec": "ub_workspace", "l1": "l1_workspace", "mat": "l1_workspace"}


def workspace_name(value: SSAValue) -> str:
    """Returns the name of the ``syncall`` operand that ``value`` is."""
    if value.type in (t.I32, t.INDEX):
        return "used_cores"
    space = getattr(value.type, "space", None) or location(value)
    return _NAMES.get(space or "", "gm_workspace")
