"""The instructions of an example are what passes make of its tiles, and compute the same bits."""

import pytest

from examples import run_all
from examples.check import FOLDER, run
from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.registry import make_pass

_INSTRUCTIONS = ("lower-cube", "lower-vector", "lower-transfers")

EXAMPLES = {
    "lowering/gemm_tiles.pto": ("lowering/gemm_instructions.pto", ("lower-cube",)),
    "lowering/int8_tiles.pto": ("lowering/int8_instructions.pto", ("lower-cube",)),
    "lowering/softmax_tiles.pto": ("lowering/softmax_instructions.pto", ("lower-vector",)),
    "rms_norm/rms_norm.pto": ("rms_norm/rms_norm_instructions.pto", ("lower-vector",)),
    "flash_attention/flash_attention.pto": (
        "flash_attention/flash_attention_instructions.pto",
        ("lower-cube", "lower-vector"),
    ),
    "int8_dequant_gemm/per_column.pto": ("int8_dequant_gemm/per_column_instructions.pto", _INSTRUCTIONS),
    "int8_dequant_gemm/per_group.pto": ("int8_dequant_gemm/per_group_instructions.pto", _INSTRUCTIONS),
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


@pytest.mark.parametrize("tiles", EXAMPLES)
def test_both_forms_compute_the_same_bits(tiles: str) -> None:
    example = tiles.partition("/")[0]
    cases = run_all.load(example)[0]
    programs = [name.rpartition("/")[2] for name in (tiles, EXAMPLES[tiles][0])]
    forms = [[case for case in cases if case.program == program] for program in programs]
    assert forms[0] and len(forms[0]) == len(forms[1])
    for case, lowered in zip(*forms, strict=True):
        assert (case.entry, case.shapes, case.outputs) == (lowered.entry, lowered.shapes, lowered.outputs)
        (wanted, _), (found, _) = (run(example, one, "a5", "exact") for one in (case, lowered))
        assert {name: array.tobytes() for name, array in found.items()} == {
            name: array.tobytes() for name, array in wanted.items()
        }
