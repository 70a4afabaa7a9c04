"""What limits a run, as text and as JSON.  Source: docs/cycles.md, "What limits the run"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .limiter import path_text, percent, waiting_text

if TYPE_CHECKING:
    from .limits import Limits, Path
    from .static import ModuleCycles
    from .waits import Advice

_MOST_WAITS: Final = 3
_LEAST: Final = 0.005
"""Shares of the time below this are not printed."""


class Fact(NamedTuple):
    """A line of the summary: its name and its text."""

    name: str
    text: str


def limits_facts(limits: Limits, program: ModuleCycles) -> list[Fact]:
    """Returns the summary of a run, the most important first."""
    clock, total, whole = program.clock_mhz, program.total, limits.whole or 1.0
    band = f"{total.low / clock:.2f} to {total.high / clock:.2f} µs"
    facts = [Fact("limited by", limits.text), Fact("best change", _best(program)), Fact("band", band)]
    cores = f"{limits.cores_used} of {limits.cores} {limits.core}s"
    units = [
        f"{name} {percent(use.busiest)} busy, {percent(use.chip)} of the chip"
        for name in ("cube", "vector")
        if (use := limits.uses.get(name)) is not None
    ]
    facts.append(Fact("cores", "; ".join((cores, *units))))
    facts.append(Fact("memory", "; ".join(_path(one) for one in limits.paths)))
    critical = {name: cycles / whole for name, cycles in limits.critical.items() if cycles / whole >= _LEAST}
    facts.append(Fact("critical path", ", ".join(f"{path_text(name) if ':' in name else name} {percent(share)}"
                                                 for name, share in critical.items())))  # fmt: skip
    costly = [one for one in limits.waiting if one.cycles / whole >= _LEAST][:_MOST_WAITS]
    facts.append(Fact("waits cost", ", ".join(f"{waiting_text(one)} {percent(one.cycles / whole)}" for one in costly)))
    if limits.cores_used > 1:
        facts.append(Fact("balance", _balance(limits)))
    if limits.launch.microseconds:
        share = f"{percent(limits.launch.share)} of launch and run"
        task = program.task
        whole = f"{task.cycles:.1f} µs in all ({task.low:.1f} to {task.high:.1f})"
        facts.append(Fact("launch", f"{limits.launch.microseconds:.2f} µs more, {share}: {whole}"))
    return [one for one in facts if one.text]


def _balance(limits: Limits) -> str:
    if limits.tail < _LEAST:
        return "all cores end together"
    share = percent(limits.balance)
    return f"the cores work {share} of the time on average, the first ends {percent(limits.tail)} earlier"


def limits_lines(limits: Limits, program: ModuleCycles) -> list[str]:
    """Returns the summary as lines."""
    facts = limits_facts(limits, program)
    width = max(len(one.name) for one in facts)
    return [f"{one.name:<{width}}  {one.text}" for one in facts]


def _best(program: ModuleCycles) -> str:
    if program.not_tried_reason:
        return ""
    best = max(program.advice, key=lambda one: one.saved, default=None)
    return "" if best is None else best_text(best)


def best_text(one: Advice) -> str:
    """Returns the change that saves most, and how much."""
    return f"{one.text}: saves {100 * one.saved:.0f} %"


def _path(one: Path) -> str:
    of = "" if one.limit is None or one.share is None else f" of {_gbps(one.limit)}"
    return f"{path_text(one.name)} {_gbps(one.gbps)}{of} GB/s"


def _gbps(value: float) -> str:
    return f"{value:,.0f}" if value >= 9.5 else f"{value:.2g}"


def limits_data(limits: Limits, program: ModuleCycles) -> dict[str, Any]:
    """Returns the machine form of the summary. Shares are fractions."""
    best = max(program.advice, key=lambda one: one.saved, default=None)
    return {
        "kind": limits.kind,
        "text": limits.text,
        "cores": {"used": limits.cores_used, "of": limits.cores, "kind": limits.core, "blocks": limits.blocks},
        "busy": {
            name: {"core": round(use.busiest, 4), "chip": round(use.chip, 4)}
            for name, use in sorted(limits.uses.items())
        },
        "paths": [
            {"path": one.name, "bytes": one.bytes, "gbps": round(one.gbps, 3)}
            | {"limit_gbps": None if one.limit is None else round(one.limit, 3)}
            | {"share": None if one.share is None else round(one.share, 4), "busy": round(one.busy, 4)}
            for one in limits.paths
        ],
        "critical": {name: round(cycles, 1) for name, cycles in limits.critical.items()},
        "waiting": [
            {"pipe": one.pipe.removeprefix("PIPE_"), "for": one.awaited.removeprefix("PIPE_"), "kind": one.kind}
            | {"cost": round(one.cycles, 1), "text": waiting_text(one)}
            for one in limits.waiting
        ],
        "balance": round(limits.balance, 4),
        "tail": round(limits.tail, 4),
        "launch": {"microseconds": limits.launch.microseconds, "share": round(limits.launch.share, 4)},
        "best": None if best is None else {"text": best.text, "saved": round(best.saved, 4)},
        "facts": [one._asdict() for one in limits_facts(limits, program)],
    }  # fmt: skip
