"""Memory at a step is what a run holds that is stopped after it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from recorded_runs import memories_at, recorded, recording_kernel

import pto_dialect
from examples.check import FOLDER, copied
from examples.run_all import load

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
