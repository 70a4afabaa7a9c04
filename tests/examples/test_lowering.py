"""The instructions of an example are what passes make of its tiles."""

import pytest

from examples.check import FOLDER
from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.registry import make_pass

EXAMPLES = {
    "lowering/gemm_tiles.pto": ("lowering/gemm_instructions.pto", ("lower-cube",)),
    "lowering/int8_tiles.pto": ("lowering/int8_instructions.pto", ("lower-cube",)),
    "lowering/softmax_tiles.pto": ("lowering/softmax_instructions.pto", ("lower-vector",)),
    "rms_norm/rms_norm.pto": ("rms_norm/rms_norm_instructions.pto", ("lower-vector",)),
    "flash_attention/flash_attention.pto": (
        "flash_attention/flash_attention_instructions.pto",
        ("lower-cube", "lower-vector"),
    ),
}


@pytest.mark.parametrize("tiles", EXAMPLES)
def test_instructions_are_those_of_the_passes(tiles: str) -> None:
    instructions, last = EXAMPLES[tiles]
    module = parse((FOLDER / tiles).read_text(encoding="utf-8"))
    engine = DiagnosticEngine()
    for call in ("assign-memory", "insert-sync", *last):
        make_pass(call, "a5").run(module, engine)
    assert not engine.diagnostics
    _, text = (FOLDER / instructions).read_text(encoding="utf-8").split("\n\n", 1)
    assert print_module(module).strip() == text.strip()
