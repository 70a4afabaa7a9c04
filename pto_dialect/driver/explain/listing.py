"""``--list-ops``: the operations, optionally of one family and one target."""

from __future__ import annotations

from collections.abc import Iterator

from pto_dialect.diagnostics.suggest import nearest_or
from pto_dialect.families import FAMILIES
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class
from pto_dialect.runtime.kernels.refusals import reason

from ..aligned import aligned
from ..reference.operations import TITLES, computes, pipe, shape, targets

_ALIASES = {"a2": "a2a3", "a3": "a2a3", "cpu-sim": "a5"}


class UnknownFamilyError(ValueError):
    """There is no family of operations of this name."""


def _chosen(family: str | None, target: str | None) -> Iterator[str]:
    if family is not None and family not in TITLES:
        hint = nearest_or(family, TITLES, f"one of {', '.join(TITLES)}", 3)
        raise UnknownFamilyError(f"there is no family '{family}'; {hint}")
    for name in OPS:
        if family is None or OPS[name][0] == family:
            cls = op_class(name)
            if target is None or _ALIASES.get(target, target) in targets(cls).split(", "):
                yield name


def list_operations(family: str | None = None, target: str | None = None) -> str:
    """Returns a line for each operation: name, family, pipe, targets, what it computes. Raises
    ``UnknownFamilyError``."""
    rows = [
        (name, OPS[name][0], pipe(op_class(name)), targets(op_class(name)) or "–", computes(op_class(name)))
        for name in _chosen(family, target)
    ]
    heads = ("operation", "family", "pipe", "targets", "computes")
    return "".join(f"{line}\n" for line in aligned((heads, *rows), "<<<<<"))


def list_operations_json(family: str | None = None, target: str | None = None) -> str:
    """Returns the same as JSON: ``{"version": 1, "operations": [{"name", "family", "level", "pipe", "targets", "shape",
    "computes", "runs"}]}``. Raises ``UnknownFamilyError``."""
    import json  # deferred: start-up

    operations = [
        {
            "name": name,
            "family": OPS[name][0],
            "level": FAMILIES[OPS[name][0]].level,
            "pipe": pipe(op_class(name)),
            "targets": [word for word in targets(op_class(name)).split(", ") if word],
            "shape": shape(op_class(name)),
            "computes": computes(op_class(name)),
            "runs": reason(name) is None,
        }
        for name in _chosen(family, target)
    ]
    return json.dumps({"version": 1, "operations": operations}, indent=2) + "\n"
