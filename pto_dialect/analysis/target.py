"""The target that an operation is meant for."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from pto_dialect.families import FAMILIES
from pto_dialect.ir.core.registry import family_of_name
from pto_dialect.ir.core.walk import walk
from pto_dialect.targets.choice import PROFILE_NAMES, TargetChoice, get_profile, resolve_target
from pto_dialect.targets.op_availability import MICRO_LEVELS
from pto_dialect.targets.profile import Profile

MICRO_FAMILIES = frozenset(name for name, family in FAMILIES.items() if family.level in MICRO_LEVELS)
"""Families that exist on a5 only; the default target of a module that uses one is a5."""


def uses_micro_level(module: Operation) -> bool:
    """Returns True when the module contains vector, cube, SIMT or logical-vector micro-operations."""
    names = {op.name for op in walk(module)}
    return any(family_of_name(name) in MICRO_FAMILIES for name in names)


def target_choice(op: Operation, option: str | None) -> TargetChoice:
    """Returns the target of ``op``: ``option`` if given, else that of the nearest enclosing module that names one."""
    module: Operation | None = None
    arch = device = None
    scope: Operation | None = op
    while scope is not None and arch is None and device is None:
        if isinstance(scope, ModuleOp):
            module = module or scope
            arch, device = _text(scope, "pto.target_arch"), _text(scope, "pto.device-spec")
        scope = scope.parent_op()
    stated = option is not None or arch is not None or device is not None
    micro = not stated and module is not None and uses_micro_level(module)
    return resolve_target(option, arch, device, micro)


def profile_of(op: Operation, option: str | None) -> Profile:
    """Returns the profile of the target of ``op``."""
    return target_choice(op, option).profile


def note_on_default(op: Operation, option: str | None, space: str, needed: int) -> str:
    """Returns a sentence for a memory ``space`` that is too small for ``needed`` bytes, if ``op`` runs on a chip that
    nobody named and another one has as much; empty otherwise."""
    choice = target_choice(op, option)
    if choice.explicit:
        return ""
    for name in PROFILE_NAMES:
        capacity = get_profile(name).capacity.get(space)
        if name != choice.profile.name and capacity is not None and needed <= capacity:
            return (
                f"the module names no target and runs as {choice.profile.name}; {space} of {name} has {capacity} "
                f'bytes: --target {name}, or the attribute pto.target_arch = "{name}", runs it there'
            )
    return ""


def _text(op: Operation, name: str) -> str | None:
    value = op.attributes.get(name)
    return value.data if isinstance(value, StringAttr) else None
