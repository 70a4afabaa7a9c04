"""What one chip generation allows, and how a module chooses it.

Source: docs/reference/targets.md, "Choice of the target".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from .dma_units import BurstUnit
from .element_types import is_low_precision, row_admits
from .matmul_types import Triple, mad_status, tile_key
from .memory import BaseAlignment
from .sync_resources import SyncResources
from .tcvt_pairs import PairTable, tcvt_finding
from .tile_dtypes import SIGNLESS_ONLY, DtypeTable
from .tile_layouts import LayoutRequirement
from .tile_pairs import AccStore, ElemPair, LocPair
from .tile_rules import TileRules


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The tables of one target.  Sizes are bytes; operations are named without ``pto.``."""

    name: str
    """Name of the tool option: ``a2a3``, ``a5`` or ``cpu-sim``."""
    arch: str
    """Whose rules hold: ``a2a3`` or ``a5``."""

    # memory
    capacity: Mapping[str, int | None]
    planner_limit: Mapping[str, int]
    alignment: Mapping[str, BaseAlignment]
    loc_to_space: Mapping[str, str]
    space_aliases: Mapping[str, str]
    burst_units: Mapping[str, BurstUnit]

    # matrix multiplication
    matmul_triples: frozenset[Triple]
    mx_triples: frozenset[Triple]
    mad_documented: frozenset[Triple]
    mad_undocumented: frozenset[Triple]
    mad_mx: frozenset[Triple]

    # layouts
    layouts: Mapping[str, LayoutRequirement]

    # tile operations
    tile_dtypes: DtypeTable
    documented_dtypes: DtypeTable
    gather_index: frozenset[str]
    gather_compare_eq_only: frozenset[str]
    low_precision_ops: frozenset[str]
    unavailable_ops: frozenset[str]
    foreign_levels: frozenset[str]
    foreign_prefixes: tuple[str, ...]
    tmov_pairs: frozenset[LocPair]
    textract_pairs: frozenset[LocPair]
    tinsert_pairs: frozenset[LocPair]
    tload_destinations: frozenset[str]
    tstore_sources: frozenset[str]
    acc_move: frozenset[ElemPair]
    acc_move_quant: frozenset[ElemPair]
    acc_store: AccStore
    acc_quant_mode: Mapping[ElemPair, str]
    tcvt_pairs: PairTable
    tile_rules: TileRules

    # synchronisation
    sync: SyncResources

    def dtype_allowed(self, op: str, elem: str) -> bool:
        """Whether ``op`` (with its form, e.g. ``tgather[index]``) accepts tiles of element type ``elem``.

        True for an operation without a row: its element types are not a question of the target.
        """
        row = self.tile_dtypes.get(op)
        return row is None or row_admits(row, elem, any_sign=op not in SIGNLESS_ONLY)

    def low_precision_allowed(self, op: str, elem: str) -> bool:
        """Whether ``op`` (without form) may touch a tile of type ``elem`` as far as ``tile-lowprec`` goes."""
        return op in self.low_precision_ops or not is_low_precision(elem)

    def available(self, op: str) -> bool:
        """Whether the tile operation ``op`` (without form) exists on this target."""
        return op not in self.unavailable_ops

    def is_foreign(self, op: str, level: str) -> bool:
        """Whether an operation of catalogue level ``level`` belongs to the other chip generation."""
        return level in self.foreign_levels or op.startswith(self.foreign_prefixes)

    def matmul_allowed(self, dst: str, lhs: str, rhs: str) -> bool:
        """Whether tmatmul and tgemv accept the element types; 8-bit and 32-bit integers of any sign."""
        return tile_key(dst, lhs, rhs) in self.matmul_triples

    def mx_allowed(self, dst: str, lhs: str, rhs: str) -> bool:
        """Whether the MX forms of tmatmul and tgemv accept the element types."""
        return (dst, lhs, rhs) in self.mx_triples

    def mad_status(self, lhs: str, rhs: str, dst: str) -> str | None:
        """``documented``, ``undocumented`` (warning) or ``None`` (error) for a micro-level combination."""
        return mad_status(lhs, rhs, dst)

    def tcvt_finding(self, src: str, dst: str) -> str | None:
        """The rule id that a tcvt ``src`` -> ``dst`` violates, or ``None`` for a documented pair."""
        return tcvt_finding(self.tcvt_pairs, src, dst)

    def capacity_of(self, space: str) -> int | None:
        """Bytes of a space named by pointer name or tile location; ``None`` for gm.

        Raises ``KeyError`` for an unknown name.
        """
        return self.capacity[self.space_aliases[space]]


PROFILE_NAMES: Final = ("a2a3", "a5", "cpu-sim")
OPTION_ALIASES: Final = {"a2": "a2a3", "a3": "a2a3"}

_A5_DEVICES = ("Ascend950", "Ascend910_95")
_A2A3_DEVICES = ("Ascend910",)
_ARCH_TEXTS = {"a2": "a2a3", "a3": "a2a3", "a2a3": "a2a3", "a5": "a5"}


@cache
def get_profile(name: str) -> Profile:
    """The profile called ``name``: a2, a3, a2a3, a5 or cpu-sim.  Raises ``ValueError`` for any other word."""
    match OPTION_ALIASES.get(name, name):
        case "a2a3":
            from .a2a3 import A2A3

            return A2A3
        case "a5":
            from .a5 import A5

            return A5
        case "cpu-sim":
            from .a5 import CPU_SIM

            return CPU_SIM
    known = ", ".join((*PROFILE_NAMES, *OPTION_ALIASES))
    raise ValueError(f"unknown target, found '{name}', expected one of {known}")


class TargetWarning(NamedTuple):
    """A finding about the choice of target: rule id and text."""

    rule: str
    message: str


class TargetChoice(NamedTuple):
    """The chosen profile; whether option or attribute named it; what is odd about the choice."""

    profile: Profile
    explicit: bool
    warnings: tuple[TargetWarning, ...]


def resolve_target(
    option: str | None,
    module_attr_arch: str | None,
    module_attr_device_spec: str | None,
    uses_micro_level: bool,
) -> TargetChoice:
    """Choose the profile of a module.

    ``option`` is the word of the tool option, ``module_attr_arch`` the text of ``pto.target_arch`` and
    ``module_attr_device_spec`` that of ``pto.device-spec`` (each ``None`` if absent); ``uses_micro_level``
    tells whether the module contains operations of ``MICRO_LEVELS``.

    The option wins (``target-override`` if the module says otherwise), then the attributes (text that names
    no target means a2a3, ``target-unknown``), then the default: a5 for micro-level operations, else a2a3.
    Raises ``ValueError`` for an unknown option word.
    Source: docs/reference/targets.md, "Choice of the target".
    """
    stated, warning = _stated_by_module(module_attr_arch, module_attr_device_spec)
    warnings = () if warning is None else (warning,)
    if option is not None:
        profile = get_profile(option)
        if stated is not None and stated != profile.arch:
            text = f"the module asks for {stated}, the option for {profile.name}; the option is obeyed"
            warnings = (*warnings, TargetWarning("target-override", text))
        return TargetChoice(profile, True, warnings)
    if stated is not None:
        return TargetChoice(get_profile(stated), True, warnings)
    return TargetChoice(get_profile("a5" if uses_micro_level else "a2a3"), False, ())


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
    return TargetWarning("target-unknown", message)
