"""Headers of the standard library that host code includes beside a kernel."""

from __future__ import annotations

from pathlib import Path

from pto_dialect.cpp.compiler import compile_to_ir
from pto_dialect.cpp.includes import INCLUDE

HOST_HEADERS = sorted(path.name for path in Path(INCLUDE, "host").iterdir())
KERNEL = """\
{headers}
#include <pto/pto-inst.hpp>

using namespace pto;

{host}

AICORE float twice(float value) {{ return value + value; }}

extern "C" __global__ AICORE void kernel(__gm__ float *out)
{{
    Tile<TileType::Vec, float, 1, 64> tile;
    GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> target(out);
    TASSIGN(tile, 0);
    TEXPANDS(tile, twice(1.5f));
    TSTORE(target, tile);
}}
"""
LOG = """\
void log(int rank) { std::cout << "[rank " << rank << "]: " << std::hex << rank << std::endl; }
"""


def compiled(headers: list[str], folder: Path, host: str = "") -> str:
    """The IR of a kernel beside host code that includes ``headers``."""
    text = KERNEL.format(headers="\n".join(f"#include <{header}>" for header in headers), host=host)
    return compile_to_ir(text, str(folder / "kernel.cpp"), cached=False).text


def test_all_headers_are_read_twice(tmp_path: Path) -> None:
    assert "TEXPANDS" in compiled([*HOST_HEADERS, *reversed(HOST_HEADERS)], tmp_path)


def test_functions_of_host_headers_stay_calls(tmp_path: Path) -> None:
    """Put into their callers, they make a file of logging host code take half a minute."""
    ir = compiled(["iostream"], tmp_path, LOG)
    assert "call" in _function(ir, "@_Z3logi(")
    assert len(ir) < 1_000_000


def test_functions_of_the_kernel_are_put_into_their_callers(tmp_path: Path) -> None:
    assert "twice" not in _function(compiled(["iostream"], tmp_path), "@kernel(")


def _function(ir: str, name: str) -> str:
    return ir[ir.index(name) :].partition("\n}")[0]
