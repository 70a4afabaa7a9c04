"""The table of pre-quant modes: names, source and destination families, payload kinds."""

import os
import subprocess
import sys

from pto_dialect.targets.fixpipe_modes import DESTINATION_FAMILIES, QUANT_MODES

NAMES = [
    "no_convert",
    "f32_f16",
    "qf322hif8_pre_vec",
    "qf322hif8_pre_scalar",
    "qf322hif8_pre_hybrid_vec",
    "qf322hif8_pre_hybrid_scalar",
    "deqs32_int_vec",
    "deqs32_int_scalar",
    "req8_vec",
    "req8_scalar",
    "deqf16_vec",
    "deqf16_scalar",
    "qf322fp8_pre_vec",
    "qf322fp8_pre_scalar",
    "qf322f32_pre_vec",
    "qf322f32_pre_scalar",
    "f32_bf16",
    "qf162b8_pre_vec",
    "qf162b8_pre_scalar",
    "qf162s4_pre_vec",
    "qf162s4_pre_scalar",
    "req4_vec",
    "req4_scalar",
    "qf322b8_pre_vec",
    "qf322b8_pre_scalar",
    "qf322s4_pre_vec",
    "qf322s4_pre_scalar",
    "deqs16_vec",
    "deqs16_scalar",
    "qf162s16_pre_vec",
    "qf162s16_pre_scalar",
    "qf322f16_pre_vec",
    "qf322f16_pre_scalar",
    "qf322bf16_pre_vec",
    "qf322bf16_pre_scalar",
    "qs322bf16_pre_vec",
    "qs322bf16_pre_scalar",
]

I32_STEMS = {"deqf16", "qs322bf16_pre", "deqs32_int", "deqs16", "qf162s16_pre", "req8", "req4"}


def test_names_in_code_order():
    assert list(QUANT_MODES) == NAMES
    assert [mode.code for mode in QUANT_MODES.values()] == list(range(37))
    assert all(mode.name == name for name, mode in QUANT_MODES.items())


def test_sources_and_payloads_follow_from_the_name():
    for name, mode in QUANT_MODES.items():
        if name == "no_convert":
            assert (mode.source, mode.payload, mode.family) == ("any", "any", "any")
            continue
        assert mode.source == ("i32" if mode.stem in I32_STEMS else "f32")
        assert mode.payload == ("vec" if name.endswith("_vec") else "scalar")


def test_families_follow_from_the_name():
    suffix = {"f16": "f16", "bf16": "bf16", "f32": "f32", "fp8": "fp8", "hif8": "fp8", "hybrid": "fp8"}
    suffix |= {"b8": "i8", "8": "i8", "s4": "i4", "4": "i4", "s16": "i16", "int": "i32"}
    for mode in QUANT_MODES.values():
        if mode.name == "no_convert":
            continue
        tail = mode.stem.removesuffix("_pre").split("_")[-1]
        tail = tail.removeprefix("deq").removeprefix("req").split("322")[-1].split("162")[-1]
        assert mode.family == suffix[tail], mode
        allowed = DESTINATION_FAMILIES[mode.family]
        assert set(mode.destinations) <= set(allowed)


def test_destinations():
    assert QUANT_MODES["qf322hif8_pre_hybrid_vec"].destinations == ("hif8",)
    assert QUANT_MODES["qf322fp8_pre_vec"].destinations == ("f8E4M3FN", "f8E5M2", "hif8")
    assert QUANT_MODES["req8_vec"].destinations == ("i8", "si8", "ui8")
    assert QUANT_MODES["req4_scalar"].destinations == ("i4", "si4")
    assert QUANT_MODES["deqs16_vec"].destinations == ("i16", "si16")
    assert QUANT_MODES["deqs32_int_vec"].destinations == ("i32",)
    assert [name for name, mode in QUANT_MODES.items() if mode.warns] == [
        "no_convert",
        "req4_vec",
        "req4_scalar",
    ]


def test_the_verifier_can_read_it_without_numpy():
    code = "import sys, pto_dialect.targets.fixpipe_modes; sys.exit('numpy' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
