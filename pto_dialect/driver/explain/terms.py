"""Pages of terms that are not operations: types and their keys, enumerations and their enumerators, clauses, pipes,
memories, layouts, targets."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator

from pto_dialect.ir.clauses import CLAUSES, clauses_of
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import Pipe, PtoOp, op_spec, signature
from pto_dialect.ir.core.registry import all_op_classes
from pto_dialect.syntax.types.forms import PTO_FORMS
from pto_dialect.targets.choice import get_profile
from pto_dialect.targets.tile_layouts import TileLayout

from ..reference.clauses import written
from ..reference.operations import computes
from .layouts import BY_NAME, order, picture
from .page import Block, Code, Page, Section, Table, Text, code, codes, plain
from .type_keys import KEYS, key_page, key_section

Maker = Callable[[], Page]

_TARGETS = ("a2a3", "a5")
_FEW = 60
"""How many operations are listed."""
_PIPES = {
    "S": "the scalar unit: control flow, addresses, single elements",
    "V": "the vector unit: arithmetic on tiles in the unified buffer and on registers",
    "M": "the cube unit: matrix products from L0A and L0B into L0C",
    "MTE1": "transfers from L1 into L0A, L0B, the bias table and the unified buffer",
    "MTE2": "transfers from global memory onto the chip",
    "MTE3": "transfers from the unified buffer out",
    "FIX": "the fixpipe: accumulators out of L0C, with conversion and relu",
    "ALL": "all pipes of the core",
}
_MEMORIES = {
    "gm": "global memory, which all cores share",
    "ub": "the unified buffer of a vector core",
    "l1": "the staging buffer of a cube core before L0",
    "l0a": "left operands of matrix products",
    "l0b": "right operands of matrix products",
    "l0c": "accumulators of matrix products",
    "bt": "the bias table",
    "fb": "parameters of the fixpipe",
}
_TYPES = {
    "pto.ptr": ("PtrType", "!pto.ptr<f16, ub>"),
    "pto.tensor_view": ("TensorViewType", "!pto.tensor_view<?x?xf32>"),
    "pto.partition_tensor_view": ("PartitionViewType", "!pto.partition_tensor_view<16x16xf32>"),
    "pto.tile_buf": ("TileBufType", "!pto.tile_buf<vec, 16x16xf32, valid=?x16>"),
    "pto.multi_tile_buf": ("MultiTileBufType", "!pto.multi_tile_buf<!pto.tile_buf<vec, 16x16xf32>, count=2>"),
    "pto.tile": ("TileType", "!pto.tile<16x16xf32>"),
    "pto.vreg": ("VRegType", "!pto.vreg<64xf32>"),
    "pto.mask": ("MaskType", "!pto.mask<b32>"),
    "pto.vmi.vreg": ("VmiVRegType", "!pto.vmi.vreg<128xf32>"),
    "pto.vmi.mask": ("VmiMaskType", "!pto.vmi.mask<128xb32>"),
    "pto.eventid_array": ("EventIdArrayType", "!pto.eventid_array<4>"),
    "pto.local_array": ("LocalArrayType", "!pto.local_array<4xi32>"),
    "pto.struct": ("StructType", "!pto.struct<i32, f32>"),
}


def terms() -> dict[str, Maker]:
    """Returns what makes the page of each term, by its name; names are lower case."""
    found: dict[str, Maker] = {}
    for name, layout in BY_NAME.items():
        found[name.lower()] = lambda name=name, layout=layout: _layout(name, TileLayout(*layout, 512))
    for name in PTO_FORMS:
        if name in _TYPES:
            found[name] = found[name.removeprefix("pto.")] = lambda name=name: _type(name)
    for name, cls in t.PLAIN_TYPES.items():
        short = name.removeprefix("pto.")
        found[name.lower()] = found[short.lower()] = lambda name=name, cls=cls: _plain_type(name, cls)
    for name in ENUMS:
        found.setdefault(name, lambda name=name: _enum(name))
    for keyword in sorted({keyword for table in CLAUSES.values() for row in table.rows for keyword in row.keywords}):
        found.setdefault(keyword, lambda keyword=keyword: _clause(keyword))
    for pipe in Pipe:
        short = pipe.value.removeprefix("PIPE_")
        found[pipe.value.lower()] = found[short.lower()] = lambda pipe=pipe: _pipe(pipe)
    for name in _MEMORIES:
        found[name] = lambda name=name: _memory(name)
    for location, space in get_profile("a5").loc_to_space.items():
        found[location] = lambda location=location, space=space: _location(location, space)
    for target in _TARGETS:
        found[target] = lambda target=target: _target(target)
    for name, spec in ENUMS.items():
        for value in spec.values:
            found.setdefault(value.lower(), lambda name=name: _enum(name))
    for key in KEYS:
        other = found.get(key)
        found[key] = lambda key=key, other=other: key_page(key) if other is None else _with_key(other(), key)
    return found


def _with_key(page: Page, key: str) -> Page:
    """Returns the page of another term with the key of tile types that has the same name."""
    *sections, source = page.sections
    return page._replace(sections=(*sections, key_section(key), source))


def _lists(classes: list[type[PtoOp]]) -> Block:
    return Table(
        ("operation", "computes"), tuple((f"[`{cls.name}`]({cls.name}.md)", plain(computes(cls))) for cls in classes)
    )


def _layout(name: str, layout: TileLayout) -> Page:
    rows = []
    for target in _TARGETS:
        for location, wanted in get_profile(target).layouts.items():
            if layout[:2] == wanted.native[:2]:
                rows.append((target, f"`{location}`", f"{wanted.native.fractal} bytes a block"))
    blocks: list[Block] = [Text(f"`blayout={layout.blayout}`, `slayout={layout.slayout}`. {order(layout)}")]
    blocks.append(picture(layout))
    sections = [Section("Order of the elements", tuple(blocks))]
    if rows:
        sections.append(Section("Native in", (Table(("target", "location", "blocks"), tuple(rows)),)))
    sections.append(Section("Source", (Text("[Layouts](../reference/layouts.md)"),)))
    return Page(name, "a layout of tiles: the numbers are positions in memory", tuple(sections))


def _sentence(cls: type) -> str:
    text = inspect.getdoc(cls) or ""
    return plain(" ".join(text.split("\n\n")[0].split()).rstrip(".:"))


def _type(name: str) -> Page:
    class_name, example = _TYPES[name]
    cls = getattr(t, class_name)
    users = [
        other for other in all_op_classes() if any(_takes(slot.kind.label, name) for slot in signature(other).operands)
    ]
    sections = [Section("Example", (Code("mlir", example),))]
    if 0 < len(users) <= _FEW:
        sections.append(Section("Operations", (_lists(users),)))
    elif users:
        sections.append(Section("Operations", (Text(f"{len(users)} operations take it."),)))
    sections.append(Section("Source", (Text("[Types](../reference/language.md#types)"),)))
    return Page(f"!{name}", _sentence(cls), tuple(sections))


def _takes(label: str, name: str) -> bool:
    return f"!{name}" in label.replace(",", " ").split()


def _plain_type(name: str, cls: type) -> Page:
    source = Section("Source", (Text("[Types](../reference/language.md#types)"),))
    return Page(f"!{name}", _sentence(cls), (Section("Example", (Code("mlir", f"!{name}"),)), source))


def _enum(name: str) -> Page:
    spec = ENUMS[name]
    users = [
        (cls, slot)
        for cls in all_op_classes()
        for slot in signature(cls).attributes.values()
        if name in slot.kind.enums
    ]
    sections = [Section("Values", (Text(codes(spec.values)), Code("mlir", spec.spell(spec.values[0]))))]
    if users:
        rows = tuple((f"[`{cls.name}`]({cls.name}.md)", f"`{slot.name}`", plain(computes(cls))) for cls, slot in users)
        sections.append(Section("Operations", (Table(("operation", "attribute", "computes"), rows),)))
    sections.append(Section("Source", (Text("[Enumerators](../reference/enumerators.md)"),)))
    return Page(spec.spell(".."), "an enumeration", tuple(sections))


def _clause(keyword: str) -> Page:
    rows: list[tuple[str, ...]] = []
    summary = ""
    for cls in all_op_classes():
        for taken in clauses_of(cls):
            if keyword in taken.row.keywords:
                summary = summary or taken.row.summary
                rows.append(
                    (f"[`{cls.name}`]({cls.name}.md)", codes(written(taken.row, [cls])), plain(taken.row.summary))
                )
    return Page(
        keyword,
        f"a clause: {plain(summary)}",
        (
            Section("Operations", (Table(("operation", "written", "meaning"), tuple(rows)),)),
            Section("Source", (Text("[Clauses](../reference/clauses.md)"),)),
        ),
    )


def _pipe(pipe: Pipe) -> Page:
    classes = [cls for cls in all_op_classes() if pipe in (op_spec(cls).pipe, *op_spec(cls).pipes)]
    short = pipe.value.removeprefix("PIPE_")
    return Page(
        pipe.value,
        f"a queue of a core: {_PIPES[short]}",
        (
            Section("Operations", (_lists(classes),) if classes else (Text("None has it by itself."),)),
            Section("Source", (Text("[Pipes of operations](../reference/execution.md#pipes-of-operations)"),)),
        ),
    )


def _memory_rows(space: str) -> Iterator[tuple[str, ...]]:
    for target in _TARGETS:
        profile = get_profile(target)
        size = profile.capacity.get(space)
        yield target, f"{size} bytes" if size else "–", f"{profile.alignment[space].error} bytes"


def _memory(space: str) -> Page:
    locations = [name for name, own in get_profile("a5").loc_to_space.items() if own == space]
    blocks: list[Block] = [Table(("target", "size", "aligned to"), tuple(_memory_rows(space)))]
    if locations:
        blocks.append(Text(f"Tiles there have the location {codes(locations)}."))
    blocks.append(Code("mlir", f"!pto.ptr<f32, {space}>"))
    parts = space.split("_")
    users = [cls for cls in all_op_classes() if parts[0] in cls.name.removeprefix("pto.").replace(".", "_").split("_")]
    sections = [Section("Size", tuple(blocks))]
    if users:
        sections.append(Section("Operations that name it", (_lists(users),)))
    sections.append(Section("Source", (Text("[Places](../reference/language.md#places)"),)))
    return Page(space, f"a memory: {_MEMORIES.get(space, 'on chip')}", tuple(sections))


def _location(location: str, space: str) -> Page:
    rows = []
    layouts: list[Block] = []
    for target in _TARGETS:
        wanted = get_profile(target).layouts.get(location)
        if wanted is not None:
            name = next(key for key, layout in BY_NAME.items() if layout == wanted.native[:2])
            rows.append((target, name, code(str(wanted.native.fractal)), order(wanted.native)))
            if not layouts:
                layouts.append(picture(wanted.native))
    return Page(
        location,
        f"a location of tiles, in {space}: {_MEMORIES.get(space, '')}",
        (
            Section("Layout", (Table(("target", "layout", "bytes of a block", "order"), tuple(rows)), *layouts)),
            Section("Memory", (Table(("target", "size", "aligned to"), tuple(_memory_rows(space))),)),
            Section("Source", (Text("[Places](../reference/language.md#places)"),)),
        ),
    )


def _target(target: str) -> Page:
    profile = get_profile(target)
    rows = tuple(
        (f"`{space}`", f"{size} bytes" if size else "–", _MEMORIES.get(space, "scales of MX operands"))
        for space, size in profile.capacity.items()
    )
    return Page(
        target,
        "a target, chosen with --target or pto.target_arch",
        (
            Section("Memories", (Table(("memory", "size", ""), rows),)),
            Section("Not there", (Text(codes(sorted(f"pto.{name}" for name in profile.unavailable_ops))),)),
            Section("Source", (Text("[Tables of the targets](../reference/target-tables.md)"),)),
        ),
    )
