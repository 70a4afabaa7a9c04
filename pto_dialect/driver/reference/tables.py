"""docs/reference/target-tables.md: the tables of the targets as the tools check them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pto_dialect.targets.a2a3 import A2A3
from pto_dialect.targets.a5 import A5
from pto_dialect.targets.dma_units import BurstUnit
from pto_dialect.targets.fixpipe_modes import QUANT_MODES
from pto_dialect.targets.memory import MX_SCALE_ADDRESS_DIVISOR, SPACE_OWNER, SPACES
from pto_dialect.targets.profile import Profile
from pto_dialect.targets.sync_resources import SyncResources
from pto_dialect.targets.tcvt_pairs import PairTable
from pto_dialect.targets.tile_dtypes import DtypeTable
from pto_dialect.targets.vcvt_contract import VCVT_CONTRACT
from pto_dialect.targets.vector_unit import LANES, VL_BYTES

from .markdown import WRITTEN_BY, code, table

_PROFILES = (A2A3, A5)
_OWNERS = {"device": "device", "aic": "cube core", "aiv": "each vector core"}


def _by_width(names: Iterable[str]) -> list[str]:
    """Element types, integers first, then floats by width and name."""

    def key(name: str) -> tuple[bool, int, str]:
        digits = "".join(filter(str.isdigit, name.partition("E")[0]))
        return not name.lstrip("su").startswith("i"), int(digits or 0), name

    return sorted(names, key=key)


def _size(number: int | None) -> str:
    if number is None:
        return "that of the buffers"
    return f"{number // 1024} KiB ({number})" if number and number % 1024 == 0 else str(number)


def _memories() -> list[str]:
    locations = {space: loc for loc, space in A5.loc_to_space.items()}
    rows = [
        (
            f"`{space}`",
            f"`{locations[space]}`" if space in locations else "–",
            *(_size(profile.capacity[space]) for profile in _PROFILES),
            *(str(number) for number in A5.alignment[space]),
            _OWNERS[SPACE_OWNER[space]],
        )
        for space in SPACES
    ]
    heads = ("memory", "tile location", "bytes on a2a3", "bytes on a5", "aligned to", "should be", "of")
    limits = ", ".join(
        f"{_size(limit)} of `{space}` on {profile.name}"
        for profile in _PROFILES
        for space, limit in profile.planner_limit.items()
    )
    return [
        "## Memories",
        "",
        "An address that is no multiple of *aligned to* is an error, of *should be* a warning. (Evidence: header.)",
        "",
        *table(heads, rows),
        f"Beyond {limits} there is a warning. The scales of an operand are at its byte address",
        f"divided by {MX_SCALE_ADDRESS_DIVISOR}. MX scale tiles have the location `scaling` too.",
        "",
    ]


def _unit(unit: BurstUnit) -> str:
    return f"{unit.bytes}, {'start to start' if unit.stride == 'start' else 'gaps'}"


def _transfers() -> list[str]:
    rows = [
        (f"`{name}`", *(_unit(profile.burst_units[name]) for profile in _PROFILES)) for name in sorted(A5.burst_units)
    ]
    return [
        "## Units of transfers",
        "",
        "Bytes for each unit of a burst's length, and the meaning of strides in that unit.",
        "",
        *table(("operation", "a2a3", "a5"), rows),
    ]


def _triples(profile: Profile) -> list[tuple[str, str, str]]:
    groups: dict[tuple[str, str], set[str]] = {}
    for kind, triples in (("tmatmul, tgemv", profile.matmul_triples), ("with .mx", profile.mx_triples)):
        for dst, lhs, rhs in triples:
            groups.setdefault((kind, dst), set()).add(f"{lhs} · {rhs}")
    return [(kind, dst, ", ".join(sorted(pairs))) for (kind, dst), pairs in sorted(groups.items())]


def _products() -> list[str]:
    rows = [(profile.name, *row) for profile in _PROFILES for row in _triples(profile)]
    groups = (
        ("documented", A5.mad_documented),
        ("warning", A5.mad_undocumented),
        ("MX", A5.mad_mx),
    )
    micro = [
        (kind, ", ".join(sorted(f"{lhs} · {rhs} → {dst}" for lhs, rhs, dst in triples))) for kind, triples in groups
    ]
    return [
        "## Matrix products",
        "",
        "Operands and destination of products of tiles, with `.acc` and `.bias` too; `i8` means every sign, with",
        "a warning for `ui8`. (Evidence: manual, reference.)",
        "",
        *table(("target", "operations", "destination", "operands"), rows),
        "Operands and destination of `mad*` (a5). (Evidence: manual; reference for the second row.)",
        "",
        *table(("", "combinations"), micro),
    ]


def _types(table_: DtypeTable, name: str) -> str:
    found = table_.get(name, frozenset())
    return " ".join(_by_width(found)) or "–"


def _elements() -> list[str]:
    groups: dict[tuple[str, str], list[str]] = {}
    for name in A5.tile_dtypes:
        groups.setdefault((_types(A2A3.tile_dtypes, name), _types(A5.tile_dtypes, name)), []).append(name)
    rows = [(code(names), *types) for types, names in groups.items()]
    return [
        "## Element types of tile operations",
        "",
        "`iN` stands for every sign; a dash says that the form does not exist. Forms of an operation have brackets.",
        "(Evidence: reference, both versions; known results.)",
        "",
        *table(("operations", "a2a3", "a5"), rows),
        f"Low-precision tiles on a5: {code(sorted(A5.low_precision_ops))}.",
        "",
        f"Not on a2a3: {code(sorted(A2A3.unavailable_ops))}. Not on a5: {code(sorted(A5.unavailable_ops))}.",
        "",
        "Pairs of locations:",
        "",
        *table(
            ("operation", "a2a3", "a5"),
            (
                (f"`{name}`", *(_pairs(getattr(profile, f"{name}_pairs")) for profile in _PROFILES))
                for name in ("tmov", "textract", "tinsert")
            ),
        ),
    ]


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    by_source: dict[str, list[str]] = {}
    for source, target in sorted(pairs):
        by_source.setdefault(source, []).append(target)
    return "; ".join(f"{source} → {', '.join(targets)}" for source, targets in by_source.items())


def _conversions() -> list[str]:
    sources = _by_width({*A2A3.tcvt_pairs, *A5.tcvt_pairs})

    def targets(pairs: PairTable, source: str) -> str:
        return " ".join(_by_width(pairs.get(source, ()))) or "–"

    clauses: dict[tuple[str, str, str, str], list[str]] = {}
    for (source, target), wanted in VCVT_CONTRACT.items():
        key = (source, wanted.rounding or "–", "yes" if wanted.saturation else "–", " ".join(wanted.parts) or "–")
        clauses.setdefault(key, []).append(target)
    return [
        "## Conversions of tcvt",
        "",
        "Documented destinations; other pairs of plain types are a warning, others with a low-precision type an error.",
        "(Evidence: manual.)",
        "",
        *table(
            ("source", "a2a3", "a5"),
            ((f"`{source}`", *(targets(profile.tcvt_pairs, source) for profile in _PROFILES)) for source in sources),
        ),
        "## Clauses of vcvt",
        "",
        "A clause that a pair does not need is an error; signless integers count as signed. (Evidence: reference.)",
        "",
        *table(
            ("source", "destinations", "`rnd`", "`sat`", "`part`"),
            ((f"`{key[0]}`", " ".join(names), *key[1:]) for key, names in clauses.items()),
        ),
        f"A register has {VL_BYTES} bytes: "
        + ", ".join(f"{lanes} lanes of {bits} bits" for bits, lanes in LANES.items())
        + ".",
        "",
    ]


def _modes() -> list[str]:
    rows = [
        (f"`{mode.name}`", mode.source, " ".join(mode.destinations), mode.payload, "warning" if mode.warns else "–")
        for mode in QUANT_MODES.values()
    ]

    def stores(modes: Mapping[tuple[str, str], str]) -> str:
        return ", ".join(f"{source} → {target} `{mode}`" for (source, target), mode in modes.items())

    return [
        "## Modes of the write-back",
        "",
        "Their semantics are in [numerics.md](numerics.md#write-back). (Evidence: reference, manual.)",
        "",
        *table(("mode", "accumulator", "destination", "payload", ""), rows),
        "## Modes of tile stores",
        "",
        "The meaning of `fp` and `preQuantScalar` of tile operations, `_vec` or `_scalar` added. (Evidence: header.)",
        "",
        *table(("target", "modes"), ((profile.name, stores(profile.acc_quant_mode)) for profile in _PROFILES)),
    ]


def _range(ids: tuple[int, int] | None) -> str:
    return "–" if ids is None else f"{ids[0]}–{ids[1]}"


def _names(pipes: frozenset[str] | None) -> str:
    return "any" if pipes is None else " ".join(sorted(pipe.removeprefix("PIPE_") for pipe in pipes))


def _signals(sync: SyncResources) -> list[str]:
    return [
        _range(sync.flag_ids),
        _range(sync.buf_ids),
        f"{_range(sync.aic_ids)}, {_range(sync.aiv_ids)}",
        _range(sync.ffts_ids),
        _range(sync.ffts_modes),
        str(sync.counter_bits),
        _names(sync.set_pipes),
        _names(sync.wait_pipes),
        _names(sync.block_pipes),
        "yes" if sync.barrier_v_orders else "no",
        "the whole core" if sync.wait_stalls_core else "the named pipe",
        f"{sync.pipe_flag_budget}, {sync.flags_one_way} one way, {sync.flags_two_way} both ways",
    ]


_RESOURCES = (
    "ids of flags, for each ordered pair of pipes",
    "ids of `get_buf`, `rls_buf`",
    "cross-core ids, cube side and vector side",
    "ids of group signals",
    "`ffts_mode`",
    "bits of a cross-core counter",
    "pipes of `sync.set`",
    "pipes of `sync.wait`",
    "pipes of `set_intra_block`, `set_cross_block`, `wait_intra_block`, `wait_cross_block`",
    "a barrier of V alone has an effect",
    "a cross-core wait stops",
    "flags that the queues of a function share",
)


def _synchronisation() -> list[str]:
    rows = zip(_RESOURCES, *(_signals(profile.sync) for profile in _PROFILES), strict=True)
    return ["## Synchronisation", "", "(Evidence: reference, header.)", "", *table(("", "a2a3", "a5"), rows)]


def page() -> str:
    """Returns the whole page."""
    lines = [
        "# Tables of the targets",
        "",
        "The tables of `pto-opt` and `pto-run`. [targets.md](targets.md) states where the sources disagree.",
        "",
        WRITTEN_BY,
        "",
        *_memories(),
        *_transfers(),
        *_products(),
        *_elements(),
        *_conversions(),
        *_modes(),
        *_synchronisation(),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"
