"""The target that an operation is meant for."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from ..targets.profile import Profile, resolve_target
from .module_rules import uses_micro_level


def profile_of(op: Operation, option: str | None) -> Profile:
    """The profile for ``op``: what ``option`` says, else the nearest module around it that names a target."""
    module: Operation | None = None
    place: Operation | None = op
    while place is not None:
        if isinstance(place, ModuleOp):
            module = module or place
            arch, device = _text(place, "pto.target_arch"), _text(place, "pto.device-spec")
            if arch is not None or device is not None:
                return resolve_target(option, arch, device, uses_micro_level(module)).profile
        place = place.parent_op()
    return resolve_target(option, None, None, module is not None and uses_micro_level(module)).profile


def _text(op: Operation, name: str) -> str | None:
    value = op.attributes.get(name)
    return value.data if isinstance(value, StringAttr) else None
