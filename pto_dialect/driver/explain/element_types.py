"""Element types that an operation takes, on each target: from the tables of the targets, else as the rules say of the
example with each of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.ir.core.base import Effect, op_spec, signature
from pto_dialect.ir.core.registry import op_class
from pto_dialect.targets.choice import get_profile
from pto_dialect.targets.profile import Profile
from pto_dialect.targets.vcvt_contract import VCVT_CONTRACT

from .examples import Example
from .page import Block, Table, Text
from .running import findings

_TARGETS = ("a2a3", "a5")
_TRIED = ("f32", "f16", "bf16", "i32", "i16", "i8", "i64", "ui32", "ui16", "ui8", "si32", "si16", "si8")
_BITS = re.compile(r"\d+")
_LANES = 2048


def element_types(example: Example) -> list[Block]:
    """Returns the blocks of the section; none for operations without elements."""
    name = example.name.removeprefix("pto.")
    if name.startswith(("tmatmul", "tgemv")):
        return [Table(("target", "destination", "left", "right"), tuple(_products(".mx" in name)))]
    if name in ("mad", "mad_acc", "mad_bias") or name.startswith("mad_mx"):
        return [Table(("", "left", "right", "destination"), tuple(_mads(get_profile("a5"), "mx" in name)))]
    if name == "tcvt":
        return [Table(("target", "from", "to"), tuple(_pairs()))]
    if name == "vcvt":
        return [Table(("from", "to", "rnd", "sat", "part"), tuple(_contract()))]
    rows = list(_tiles(name))
    if rows:
        return [Table(("form", *_TARGETS), tuple(rows))]
    declared = signature(op_class(example.name))
    # What has no values, such as a flag, has no elements, whatever other statements of its example have.
    # Handles and queues take what fits in size; what the example has besides would decide about that.
    spec = op_spec(op_class(example.name))
    if spec.effect in (Effect.HANDLE, Effect.CHANNEL) or "fifo" in (*spec.state_reads, *spec.state_writes):
        return []
    return _measured(example) if declared.operands or declared.results else []


def _types(names: Iterable[str]) -> str:
    def width(name: str) -> tuple[int, str]:
        found = _BITS.search(name)
        return int(found[0]) if found else 0, name

    return " ".join(f"`{name}`" for name in sorted(names, key=width)) or "–"


def _tiles(name: str) -> Iterator[tuple[str, ...]]:
    tables = [get_profile(target).tile_dtypes for target in _TARGETS]
    for key in dict.fromkeys(key for table in tables for key in table):
        if key == name or key.startswith(f"{name}["):
            form = key.partition("[")[2].removesuffix("]") or "all"
            yield (form, *(_types(table.get(key, ())) for table in tables))


def _products(scaled: bool) -> Iterator[tuple[str, ...]]:
    for target in _TARGETS:
        profile = get_profile(target)
        for triple in sorted(profile.mx_triples if scaled else profile.matmul_triples):
            yield (target, *(f"`{name}`" for name in triple))


def _mads(profile: Profile, scaled: bool) -> Iterator[tuple[str, ...]]:
    groups = (
        [("documented", profile.mad_mx)]
        if scaled
        else [("documented", profile.mad_documented), ("with a warning", profile.mad_undocumented)]
    )
    for label, triples in groups:
        for triple in sorted(triples):
            yield (label, *(f"`{name}`" for name in triple))


def _pairs() -> Iterator[tuple[str, ...]]:
    for target in _TARGETS:
        for source, others in sorted(get_profile(target).tcvt_pairs.items()):
            yield target, f"`{source}`", _types(others)


def _contract() -> Iterator[tuple[str, ...]]:
    for (source, target), wanted in VCVT_CONTRACT.items():
        parts = " ".join(f"`{part}`" for part in wanted.parts) or "–"
        yield f"`{source}`", f"`{target}`", wanted.rounding or "–", "yes" if wanted.saturation else "–", parts


_ELEMENT = re.compile(r"(?:(?<=x)|(?<=ptr<)|(?<=[ (]))(?:bf16|f16|f32|[su]?i(?:8|16|32|64))(?=[>,) \n]|$)")


def _measured(example: Example) -> list[Block]:
    """Tries the example with each element type in turn."""
    text = example.program
    own = next((m[0] for m in re.finditer(r"(?<=[0-9]x)(?:bf16|f16|f32|[su]?i(?:8|16|32|64))\b", text)), None)
    if own is None:
        return []
    taken: list[str] = []
    warned: list[str] = []
    for element in dict.fromkeys((own, *_TRIED)):
        found = [one for one in findings(_with(text, own, element)) if one.rule != "op-deprecated"]
        if not found:
            taken.append(element)
        elif all(one.severity is not Severity.ERROR for one in found):
            warned.append(element)
    rows = [("accepted", _types(taken)), *([("with a warning", _types(warned))] if warned else [])]
    note = f"Found by checking the example on {example.target} with each type instead of `{own}`."
    return [Text(note), Table(("", "element types"), tuple(rows))]


def _with(text: str, own: str, element: str) -> str:
    """Returns ``text`` with another element type, and registers and predicates that fit."""
    changed = _ELEMENT.sub(lambda found: element if found[0] == own else found[0], text)
    bits = int(_BITS.findall(element)[-1])
    changed = re.sub(rf"!pto\.vreg<\d+x{element}>", f"!pto.vreg<{_LANES // bits}x{element}>", changed)
    if "!pto.vreg<" in text:
        changed = re.sub(r"!pto\.mask<b\d+>", f"!pto.mask<b{min(bits, 32)}>", changed)
        changed = re.sub(r"(pset|pge|plt)_b\d+", rf"\1_b{min(bits, 32)}", changed)
    return changed
