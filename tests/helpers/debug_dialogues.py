"""Dialogues with the debugger for tests: what it says to each of some commands."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from recorded_runs import recorded, recording_kernel

import pto_dialect
from pto_dialect.debug.commands import PROMPT, Debugger
from pto_dialect.debug.session import Session
from pto_dialect.recording import Recording
from pto_dialect.recording.model import Change

PROGRAM = """module attributes {pto.target_arch = "a5"} {
  func.func @double(%t: !pto.tile_buf<vec, 4x16xf32>) {
    %two = arith.constant 2.0 : f32
    pto.tmuls ins(%t, %two : !pto.tile_buf<vec, 4x16xf32>, f32) outs(%t : !pto.tile_buf<vec, 4x16xf32>)
    return
  }
  func.func @k(%a: !pto.ptr<f32, gm>, %b: !pto.ptr<f32, gm>) attributes {pto.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %av = pto.make_tensor_view %a, shape = [%c4, %c16], strides = [%c16, %c1] : !pto.tensor_view<4x16xf32>
    %bv = pto.make_tensor_view %b, shape = [%c4, %c16], strides = [%c16, %c1] : !pto.tensor_view<4x16xf32>
    %ap = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%c4, %c16]
      : !pto.tensor_view<4x16xf32> -> !pto.partition_tensor_view<4x16xf32>
    %bp = pto.partition_view %bv, offsets = [%c0, %c0], sizes = [%c4, %c16]
      : !pto.tensor_view<4x16xf32> -> !pto.partition_tensor_view<4x16xf32>
    %x = pto.alloc_tile : !pto.tile_buf<vec, 4x16xf32>
    pto.tload ins(%ap : !pto.partition_tensor_view<4x16xf32>) outs(%x : !pto.tile_buf<vec, 4x16xf32>)
    scf.for %i = %c0 to %c3 step %c1 {
      %next = arith.addi %i, %c1 : index
      func.call @double(%x) : (!pto.tile_buf<vec, 4x16xf32>) -> ()
      pto.tadd ins(%x, %x : !pto.tile_buf<vec, 4x16xf32>, !pto.tile_buf<vec, 4x16xf32>)
        outs(%x : !pto.tile_buf<vec, 4x16xf32>)
    }
    pto.tstore ins(%x : !pto.tile_buf<vec, 4x16xf32>) outs(%bp : !pto.partition_tensor_view<4x16xf32>)
    return
  }
}
"""


def values() -> list[Any]:
    return [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]


def session_of(folder: Path, text: str = PROGRAM, given: Sequence[Any] | None = None, checks: bool = False) -> Session:
    """A session that runs the program again where something is changed."""
    module = pto_dialect.parse(text, "k.pto")
    made = 0

    def run(changes: Sequence[Change]) -> Recording:
        nonlocal made
        made += 1
        kernel = recording_kernel(module, "k", None, checks)
        kernel.record.change(changes)
        arrays = [np.copy(value) for value in given or values()]
        return recorded(folder / f"{made}.pto-rec", kernel, arrays)

    return Session(run(()), run)


def dialogue(session: Session, *commands: str) -> list[str]:
    """What each command prints."""
    out = StringIO()
    debugger = Debugger(session, StringIO("".join(f"{command}\n" for command in commands)), out, echo=True)
    debugger.cmdloop()
    said: list[str] = []
    for part, command in zip(out.getvalue().split(PROMPT)[1:], commands, strict=False):
        assert part.startswith(command), part
        said.append(part[len(command) :].strip("\n"))
    return said
