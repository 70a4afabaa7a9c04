"""Every name of the C++ interface is an operation, or is refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pto_dialect.cpp.operations.addresses import ADDRESSES
from pto_dialect.cpp.operations.queues import QUEUE_CALLS
from pto_dialect.cpp.operations.sync import CALLS, NO_EFFECT
from pto_dialect.cpp.operations.table import MISSING, SEQUENCES, rows
from pto_dialect.cpp.operations.transfers import TRANSFERS

COLLECTIVES = frozenset(("comm::TBROADCAST", "comm::TGATHER", "comm::TREDUCE", "comm::TSCATTER"))
"""Names that the headers make of others."""
FILE = Path(__file__).with_name("names.txt")


def meaning(name: str) -> str:
    """What a call of ``name`` becomes."""
    for (called, _), parts in SEQUENCES.items():
        if called == name and name not in rows():
            return " then ".join(meaning(part) for part, _ in parts)
    if name in rows():
        return ", ".join(dict.fromkeys(row.mnemonic for row in rows()[name]))
    if name in MISSING:
        return f"refused: {MISSING[name]}"
    if name.removeprefix("comm::") in TRANSFERS:
        return "an asynchronous transfer"
    if name in COLLECTIVES:
        return "transfers with each rank, or a store that the CCU awaits"
    if name in ADDRESSES or name in ("TASSIGN", "TPOP"):
        return "the address of a tile"
    if name in QUEUE_CALLS or name == "TALLOC":
        return "an operation of a queue"
    if name in CALLS:
        return "order"
    return "nothing" if name in NO_EFFECT else "unknown"


def test_every_name_is_translated_or_refused_with_a_reason(compare: Callable[[Path, str], None]) -> None:
    names = [line.partition(" = ")[0] for line in FILE.read_text(encoding="utf-8").splitlines()]
    text = "".join(f"{name} = {meaning(name)}\n" for name in names)
    assert "unknown" not in text
    compare(FILE, text)


def test_every_row_has_a_program() -> None:
    folder = FILE.parent / "snapshots"
    titles = [
        line.removeprefix("=== ")
        for file in folder.glob("*.txt")
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("=== ")
    ]
    for name, found in rows().items():
        assert sum(title.startswith(f"{name}(") for title in titles) >= len(found), name
