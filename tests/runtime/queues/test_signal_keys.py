"""Who is signalled, and what is waited for, in each mode of the signals between cores.

Source: docs/reference/execution.md, "Synchronisation".
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pto_dialect.runtime.kernels.sync.cross_core import signal, wait


class Core(SimpleNamespace):
    """A core that notes what it signals and waits for."""

    def signal(self, pipe: str, targets: Any) -> None:
        self.sent = [(core.name, key) for core, key in targets]

    def await_signals(self, pipe: str, keys: Any, line: int) -> None:
        self.awaited = list(keys)


def device(blocks: int = 2) -> list[Any]:
    """Blocks with a cube core and two vector cores each."""
    made: list[Any] = []
    for number in range(blocks):
        block = SimpleNamespace(index=number, device=made, cores=[])
        for kind, index in (("aic", 0), ("aiv", 0), ("aiv", 1)):
            name = f"{number}{kind}{index}"
            core = Core(kind=kind, index=index, cube=kind == "aic", vector=kind == "aiv", block=block, name=name)
            block.cores.append(core)
        made.append(block)
    return made


def exchanged(mode: str, number: int, sender: int, receiver: int, other: int | None = None) -> tuple[bool, list[str]]:
    """Whether what ``receiver`` waits for (by ``other``) is among what ``sender`` signals, and whom that reaches."""
    cores = device()[0].cores
    signal(cores[sender], "PIPE_FIX", number, mode)
    wait(cores[receiver], "PIPE_V", number if other is None else other, mode)
    sent = [key for name, key in cores[sender].sent if name == cores[receiver].name]
    return bool(set(sent) & set(cores[receiver].awaited)), [name for name, _ in cores[sender].sent]


@pytest.mark.parametrize("number", [0, 3, 15])
def test_one_core_to_another(number: int) -> None:
    """On the cube side 16 more stand for the second vector core; a vector core counts from 0."""
    assert exchanged("p2p", number, 0, 1) == (True, ["0aiv0"])
    assert exchanged("p2p", number + 16, 0, 2) == (True, ["0aiv1"])
    assert exchanged("p2p", number + 16, 0, 2, number) == (True, ["0aiv1"])
    assert exchanged("p2p", number, 1, 0) == (True, ["0aic0"])
    assert exchanged("p2p", number, 2, 0, number + 16) == (True, ["0aic0"])
    assert exchanged("p2p", number, 2, 0, number) == (False, ["0aic0"])


def test_all_of_a_block() -> None:
    assert exchanged("block", 4, 0, 1) == (True, ["0aiv0", "0aiv1"])
    assert exchanged("block", 4, 0, 2) == (True, ["0aiv0", "0aiv1"])
    assert exchanged("block", 4, 1, 0) == (True, ["0aic0"])
    assert exchanged("block", 4, 0, 1, 5)[0] is False
    cube = device()[0].cores[0]
    wait(cube, "PIPE_FIX", 4, "block")
    assert cube.awaited == [("block", 4, 0), ("block", 4, 1)]


def test_vector_cores_of_a_block() -> None:
    assert exchanged("vectors", 4, 1, 2) == (True, ["0aiv0", "0aiv1"])
    assert exchanged("vectors", 4, 2, 1) == (True, ["0aiv0", "0aiv1"])


@pytest.mark.parametrize("place", range(3))
def test_cores_of_one_kind_in_all_blocks(place: int) -> None:
    blocks = device(3)
    sender = blocks[1].cores[place]
    signal(sender, "PIPE_FIX", 4, "blocks")
    peers = [core.name for block in blocks for core in block.cores if core.kind == sender.kind]
    assert [name for name, _ in sender.sent] == peers
    receiver = blocks[2].cores[place]
    wait(receiver, "PIPE_V", 4, "blocks")
    assert len(receiver.awaited) == len(peers)
    assert sender.sent[0][1] in receiver.awaited


def test_a_core_with_the_code_of_both_kinds_signals_itself() -> None:
    block = SimpleNamespace(index=0, device=[])
    alone: Any = Core(kind="all", index=0, cube=True, vector=True, block=block, name="core")
    block.cores, block.device = [alone], [block]
    for mode, number in (("p2p", 20), ("block", 3)):
        signal(alone, "PIPE_FIX", number, mode)
        wait(alone, "PIPE_V", number, mode)
        assert [key for _, key in alone.sent] == alone.awaited
