"""What a file of results says: a table, and a plot. Source: docs/cluster.md, "Look at results"."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..aligned import aligned
from ..plot import axes
from .points import value_text
from .store import Record, StoreError


def columns_of(records: Sequence[Record]) -> list[str]:
    """The swept names, in the order in which they come up."""
    return list(dict.fromkeys(name for record in records for name in record["point"]))


def in_order(records: Sequence[Record], names: Sequence[str]) -> list[Record]:
    """Records by file and by the values of the swept names, numbers by size."""

    return sorted(records, key=lambda record: (record["file"], [_rank(record["point"].get(name)) for name in names]))


def _rank(value: Any) -> tuple[bool, float, str]:
    """Numbers come before texts, and by their size."""
    number = isinstance(value, int | float)
    return not number, value if number else 0, str(value)


def table_text(records: Sequence[Record]) -> str:
    """Returns a row for each launch with its values, and the numbers of all."""
    names = columns_of(records)
    head = ["launch file", *names, "ms", "result"]
    rows = [head]
    for record in in_order(records, names):
        values = [value_text(record["point"][name]) if name in record["point"] else "" for name in names]
        told = f"{record['result']}  {record['reason']}".rstrip()
        rows.append([record["file"], *values, f"{record['ms']:.1f}", told])
    text = "".join(f"{line}\n" for line in aligned(rows, f"<{'>' * (len(head) - 2)}<"))
    counts = Counter(record["result"] for record in records)
    numbers = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
    return f"{text}{len(records)} launches{': ' if numbers else ''}{numbers}\n"


def document(records: Sequence[Record]) -> str:
    """Returns the records as a JSON list, in the order of the table."""
    return json.dumps(in_order(records, columns_of(records)), indent=2) + "\n"


def plot(records: Sequence[Record], path: str, x: str | None, by: str | None) -> None:
    """Writes a plot of the milliseconds over the swept name ``x`` (the first one), a line for each value of ``by``.

    Raises ``StoreError``.
    """
    names = columns_of(records)
    x = x or next(iter(names), None)
    for name in (x, by):
        if name is not None and name not in names:
            raise StoreError(f"'{name}' is not swept; there are: {', '.join(names) or 'none'}")
    if x is None:
        raise StoreError("there is no swept name to plot over")
    groups: dict[str, dict[Any, list[float]]] = {}
    for record in in_order(records, names):
        if x not in record["point"]:
            continue
        group = record["file"] if by is None else f"{by} = {value_text(record['point'].get(by, ''))}"
        groups.setdefault(group, {}).setdefault(record["point"][x], []).append(record["ms"])
    with axes(path, StoreError) as plot:
        for label, values in groups.items():
            plot.plot(list(values), [sum(one) / len(one) for one in values.values()], marker="o", label=label)
        plot.set_xlabel(x)
        plot.set_ylabel("ms")
