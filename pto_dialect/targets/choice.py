"""The targets by name, and how a module chooses one.

Source: docs/reference/targets.md, "Choice of the target".
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from .profile import Profile

PROFILE_NAMES: Final = ("a2a3", "a5", "cpu-sim")
OPTION_ALIASES: Final = {"a2": "a2a3", "a3": "a2a3"}

_A5_DEVICES = ("Ascend950", "Ascend910_95")
_A2A3_DEVICES = ("Ascend910",)
_ARCH_TEXTS = {"a2": "a2a3", "a3": "a2a3", "a2a3": "a2a3", "a5": "a5"}


@cache
def get_profile(name: str) -> Profile:
    """Returns the profile called ``name``: a2, a3, a2a3, a5 or cpu-sim. Raises ``ValueError`` for any other name."""
    match OPTION_ALIASES.get(name, name):
        case "a2a3":
            from .a2a3 import A2A3  # deferred: start-up

            return A2A3
        case "a5":
            from .a5 import A5  # deferred: start-up

            return A5
        case "cpu-sim":
            from .a5 import CPU_SIM  # deferred: start-up

            return CPU_SIM
    known = ", ".join((*PROFILE_NAMES, *OPTION_ALIASES))
    raise ValueError(f"unknown target, found '{name}', expected one of {known}")


class TargetWarning(NamedTuple):
    """A finding about the choice of target: rule id, text, and the name of a target that nobody knows."""

    rule: str
    message: str
    unknown: str | None = None


class TargetChoice(NamedTuple):
    """The chosen profile; whether an option or attribute named it; the diagnostic on the choice, if any."""

    profile: Profile
    explicit: bool
    warnings: tuple[TargetWarning, ...]


def resolve_target(
    option: str | None,
    module_attr_arch: str | None,
    module_attr_device_spec: str | None,
    uses_micro_level: bool,
) -> TargetChoice:
    """Chooses the profile of a module.

    ``option`` is the value of the tool option, ``module_attr_arch`` the text of ``pto.target_arch`` and
    ``module_attr_device_spec`` that of ``pto.device-spec`` (each ``None`` if absent); ``uses_micro_level`` is whether
    the module contains operations of ``MICRO_LEVELS``.

    The option has priority (``target-override`` if the module names another target), then the attributes (an unknown
    name means a2a3, ``target-unknown``), then the default: a5 for micro-level operations, else a2a3. Raises
    ``ValueError`` for an unknown option.

    Source: docs/reference/targets.md, "Choice of the target".
    """
    stated, warning = _stated_by_module(module_attr_arch, module_attr_device_spec)
    warnings = () if warning is None else (warning,)
    if option is not None:
        profile = get_profile(option)
        if stated is not None and stated != profile.arch:
            text = f"the module selects {stated}, the option {profile.name}; the option is obeyed"
            warnings = (*warnings, TargetWarning("target-override", text))
        return TargetChoice(profile, True, warnings)
    if stated is not None:
        return TargetChoice(get_profile(stated), True, warnings)
    return TargetChoice(get_profile("a5" if uses_micro_level else "a2a3"), False, ())


def target_of_device(name: str) -> str | None:
    """Returns the target of a device by its name in any case (``Ascend910B4``, ``950``); ``None`` for other names."""
    known = {"a5": _A5_DEVICES, "a2a3": _A2A3_DEVICES}
    number = name.lower().replace("-", "").removeprefix("ascend")
    begins = {target: tuple(one.lower().removeprefix("ascend") for one in names) for target, names in known.items()}
    return next((target for target, numbers in begins.items() if number.startswith(numbers)), None)


def _stated_by_module(arch: str | None, device: str | None) -> tuple[str | None, TargetWarning | None]:
    """Architecture that the attributes name (``None``: neither is present), and a finding about them."""
    if device is not None and device.startswith(_A5_DEVICES):
        return "a5", None
    if arch is not None:
        known = _ARCH_TEXTS.get(arch.lower())
        return known or "a2a3", None if known else _unknown("pto.target_arch", arch, "a2, a3 or a5")
    if device is not None:
        expected = f"a name that begins with {' or '.join(_A2A3_DEVICES + _A5_DEVICES)}"
        known_device = device.startswith(_A2A3_DEVICES)
        return "a2a3", None if known_device else _unknown("pto.device-spec", device, expected)
    return None, None


def _unknown(attribute: str, text: str, expected: str) -> TargetWarning:
    message = f"{attribute} names no known target and is read as a2a3, found '{text}', expected {expected}"
    return TargetWarning("target-unknown", message, text)
