"""Kernels that use what is below the interface: one error, at the line of the name, with what to write instead."""

from __future__ import annotations

import pytest

from pto_dialect.cpp.kernel import CppError, compile_kernel
from pto_dialect.cpp.options import CppOptions

HEAD = "#include <pto/pto-inst.hpp>\nusing namespace pto;\n"
KERNEL = "__global__ AICORE void k(__gm__ float *x, int32_t n) {\n%s\n}\n"

# The text, the line that is named, the name, and words of the help.
TEXTS = {
    "a type of registers": (HEAD + KERNEL % "  vector_f32 a, b;\n  vlds(a, x, 0, NORM);", 4, "vector_f32", "TADD"),
    "an instruction": (HEAD + KERNEL % "  n += 1;\n  vexpdif(x, x, x);", 5, "vexpdif", "TADD"),
    "a constant of masks": (HEAD + KERNEL % "  auto all = pset_b32(PAT_ALL);", 4, "PAT_ALL", "TADD"),
    "a function of work-items": (
        HEAD + "__simt_vf__ AICORE void items(__gm__ float *x) {\n  x[__cce_simt_get_TID_X()] = 1;\n}\n" + KERNEL % "",
        3,
        "__simt_vf__",
        "TGATHER",
    ),
    "an atomic store": (HEAD + KERNEL % "  set_st_atomic_cfg(ATOMIC_S32, ATOMIC_SUM);", 4, "ATOMIC_S32", "AtomicAdd"),
    "a load of the cube": (HEAD + KERNEL % "  load_gm_to_ca(x, x, 0);", 4, "load_gm_to_ca", "TLOAD"),
}


@pytest.mark.parametrize("what", TEXTS)
def test_name_below_the_interface(what: str) -> None:
    text, line, name, help = TEXTS[what]
    with pytest.raises(CppError) as caught:
        compile_kernel(text, "kernel.cpp", CppOptions(target="a5"))
    [found] = caught.value.diagnostics
    assert found.message.startswith(f"{name} is of ") and found.message.endswith("which are not translated")
    assert found.help is not None and help in found.help
    assert found.span is not None and found.span.source.line_col(found.span.start)[0] == line


def test_other_names_are_those_of_the_compiler() -> None:
    with pytest.raises(CppError) as caught:
        compile_kernel(HEAD + KERNEL % "  vectors(x);\n  n = vsum;", "kernel.cpp", CppOptions())
    messages = [one.message for one in caught.value.diagnostics]
    assert messages == ["use of undeclared identifier 'vectors'", "use of undeclared identifier 'vsum'"]
