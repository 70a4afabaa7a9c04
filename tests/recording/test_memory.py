"""Memory at a step is what a run holds that is stopped after it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from recorded_runs import memories_at, recorded, recording_kernel
from sanitize_programs import load as load_bytes
from sanitize_programs import program, store, ub

import pto_dialect
from examples.check import FOLDER, copied
from examples.run_all import load
from pto_dialect.recording import Recording

EXAMPLES = ("lowering", "mx_gemm", "rms_norm", "topk_routing", "paged_attention")


@pytest.mark.parametrize("example", EXAMPLES)
def test_memory_at_any_step_is_that_of_a_run_to_it(example: str, tmp_path: Path) -> None:
    cases, _ = load(example)
    case = cases[0]
    module = pto_dialect.parse((FOLDER / example / case.program).read_text(encoding="utf-8"), case.program)

    def kernel():
        return recording_kernel(module, case.entry, case.targets[0])

    found = recorded(tmp_path / "run.pto-rec", kernel(), list(copied(case.data).values()), case.blocks)
    random = Random(example)
    steps = [-1, found.last, *random.choices(range(len(found)), k=6)]
    # Backwards and forwards, near and far.
    for step in [*steps, *(max(step - 1, -1) for step in reversed(steps))]:
        held = memories_at(kernel(), list(copied(case.data).values()), case.blocks, step)
        for name, content in held.items():
            assert found.memory_at(step, name) == content.tobytes(), (step, name)
            low = random.randrange(content.size)
            assert found.memory_at(step, name, first=low, stop=low + 1) == content[low : low + 1].tobytes()


def test_a_jump_in_a_long_run_looks_at_few_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (ub("x", 0), "%n = arith.constant 3000 : index", "scf.for %i = %i0 to %n step %i1 {")
    text = program(*lines, load_bytes("%x"), store("%x"), "}")
    arrays = [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]
    found = recorded(tmp_path / "long.pto-rec", recording_kernel(pto_dialect.parse(text), None, None), arrays)
    looked: list[int] = []
    monkeypatch.setattr(
        Recording, "_written", lambda self, number, old=Recording._written: looked.append(number) or old(self, number)
    )
    for step in (5900, 20, 3000, 5000):
        for content in (found.memory_at(step, "ub", first=0, stop=64), found.memory_at(step, "ub")[:64]):
            assert np.frombuffer(content, np.float32).tolist() == list(range(16))
    assert len(looked) < 40
