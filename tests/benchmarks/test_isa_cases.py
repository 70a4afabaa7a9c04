"""The instruction set's tests as tile programs: the table of instructions, and a made-up tree from end to end."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import isa_record  # noqa: E402
from isa_ops import call_of  # noqa: E402
from isa_record import NotMapped, read_record  # noqa: E402
from isa_text import program_of  # noqa: E402

from pto_dialect.api import check, parse  # noqa: E402
from pto_dialect.runtime.api import compile as compile_kernel  # noqa: E402


def tile(element: str, rows: int, cols: int, address: int, valid: tuple[int, int] | None = None, loc: int = 0) -> str:
    valid_rows, valid_cols = valid or (rows, cols)
    return f"tile,{element},{loc},{rows},{cols},0,0,512,{valid_rows},{valid_cols},0,0,{address},0,0"


def view(element: str, memory: int, rows: int, cols: int, stride: int | None = None, offset: int = 0) -> str:
    strides = f"1,1,1,{cols if stride is None else stride},1"
    return f"view,{element},0,{memory},{offset},1,1,1,{rows},{cols},{strides}"


def op(name: str, *operands: str, values: str = "", control: int = 0) -> str:
    return "|".join(("op", name, str(control), values, *operands))


def run(lines: list[str], memories: list[np.ndarray], target: str = "a2a3") -> list[np.ndarray]:
    lines += [f"memory|{number}|{memory.nbytes}" for number, memory in enumerate(memories)]
    text, sizes = program_of(read_record("\n".join(lines)), target)
    found = check(text)
    assert found.ok, str(found)
    buffers = [np.ascontiguousarray(memory).view(np.uint8).reshape(-1).copy() for memory in memories]
    compile_kernel(parse(text))(*buffers, *sizes)
    return [buffer.view(memory.dtype).reshape(memory.shape) for buffer, memory in zip(buffers, memories, strict=True)]


def test_a_record_becomes_a_program_that_runs() -> None:
    x = np.arange(64, dtype=np.float32).reshape(4, 16)
    lines = [
        "block|0",
        op("TLOAD", tile("float", 4, 16, 0), view("float", 0, 4, 16)),
        op("TADDS", tile("float", 4, 16, 4096), tile("float", 4, 16, 0), "number,float,2.5"),
        op("TSTORE", view("float", 1, 4, 16), tile("float", 4, 16, 4096)),
    ]
    assert (run(lines, [x, np.zeros_like(x)])[1] == x + 2.5).all()


def test_views_may_begin_inside_the_memory() -> None:
    x = np.arange(64, dtype=np.int32).reshape(8, 8)
    tile_ = tile("int", 2, 8, 0)
    lines = [op("TLOAD", tile_, view("int", 0, 2, 8, offset=96)), op("TSTORE", view("int", 1, 2, 8), tile_)]
    assert (run(lines, [x, np.zeros((2, 8), np.int32)])[1] == x[3:5]).all()


@pytest.mark.parametrize(("target", "second_row"), [("a2a3", 16), ("a5", 32)])
def test_short_bursts_of_a_wide_tensor(target: str, second_row: int) -> None:
    """A tile with 16 valid columns takes rows of a tensor with 32: on a2a3 the gap between rows stays 0."""
    x = np.arange(64, dtype=np.float32).reshape(2, 32)
    part = tile("float", 2, 32, 0, (2, 16))
    lines = [op("TLOAD", part, view("float", 0, 2, 32)), op("TSTORE", view("float", 1, 2, 16), part)]
    found = run(lines, [x, np.zeros((2, 16), np.float32)], target)[1]
    assert found[0].tolist() == list(range(16))
    assert found[1].tolist() == list(range(second_row, second_row + 16))


@pytest.mark.parametrize(
    ("line", "mnemonic", "attributes"),
    [
        (
            op("TCVT", tile("int", 1, 16, 0), tile("float", 1, 16, 64), "enum,pto::RoundMode,3"),
            "pto.tcvt",
            {"rmode": "#pto<round_mode FLOOR>"},
        ),
        (
            op("TMATMUL_ACC", *["tile,float,4,16,16,1,1,1024,16,16,0,0,0,0,0"] * 2, tile("_Float16", 16, 16, 0),
               tile("_Float16", 16, 16, 0), values="enum,pto::AccPhase,3;"),
            "pto.tmatmul.acc",
            {"accPhase": "#pto<acc_phase final>"},
        ),
        (
            op("TGATHER", tile("float", 1, 16, 0), tile("float", 1, 32, 64), values="enum,pto::MaskPattern,2;"),
            "pto.tgather",
            {"maskPattern": "#pto.mask_pattern<P1010>", "axis": '"row"'},
        ),
        (
            op("TFILLPAD", tile("float", 1, 16, 0), tile("float", 1, 16, 0), values="enum,pto::TFillPadMode,1;"),
            "pto.tfillpad_inplace",
            {},
        ),
        (op("TROWSUM_IMPL", *[tile("float", 8, 8, 0)] * 3), "pto.trowsum", {}),
    ],
)  # fmt: skip
def test_the_operation_of_an_instruction(line: str, mnemonic: str, attributes: dict[str, str]) -> None:
    (instruction,) = read_record(line).instructions
    call = call_of(instruction)
    assert call.op.name == mnemonic
    assert call.attributes == attributes


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (op("TMULADDDST", *[tile("float", 8, 8, 0)] * 3), "no such operation"),
        (op("copy_ubuf_to_gm"), "below tiles"),
        (op("TADD", *[tile("float", 8, 8, 0)] * 2), "no such form"),
        (op("TADD", *[tile("float", 8, 8, 0)] * 3, control=1 << 46), "control register"),
        (op("TEXPANDS", tile("pto::int4b_t", 8, 8, 0), "number,int,1"), "elements of type"),
    ],
)
def test_what_has_no_program_has_a_reason(line: str, reason: str) -> None:
    with pytest.raises(NotMapped, match=reason):
        program_of(read_record(line), "a5")


def test_sizes_of_packed_elements() -> None:
    assert [isa_record.bytes_of(e) for e in ("i8", "ui16", "f32", "!pto.f4E2M1x2", "f8E5M2")] == [1, 2, 4, 1, 1]


# ------------------------------------------------------------ a made-up tree

HEADERS = {
    "type.hpp": """
        #pragma once
        #include <cstdint>
        #define AICORE [aicore]
        namespace pto { enum class Op { LOAD, ADD }; enum class Layout { ND, DN }; }
    """,
    "constants.hpp": '#pragma once\n#include "pto/common/type.hpp"\n',
    "event.hpp": """
        #pragma once
        namespace pto { struct RecordEvent {}; struct EventBaseTag {}; }
    """,
    "pto_instr.hpp": """
        PTO_INST RecordEvent TLOAD(T& to, G& from);
        PTO_INST RecordEvent TSTORE(G& to, T& from);
        PTO_INST RecordEvent TMULS(T& to, T& from, float by);
    """,
    "pto_tile.hpp": """
        #pragma once
        #include "pto/common/type.hpp"
        namespace pto {
        struct Row {
            using DType = float;
            static constexpr int Loc = 0, Rows = 1, Cols = 8, BFractal = 0, SFractal = 0, SFractalSize = 512;
            static constexpr int PadVal = 0, Compact = 0, ValidRow = 1, ValidCol = 8;
            float* at = nullptr;
            int GetValidRow() const { return 1; }
            int GetValidCol() const { return 8; }
            float* data() const { return at; }
            using TileDType = float*;
            AICORE void assignData(float* address) { at = address; }
        };
        struct Tensor {
            using RawDType = float;
            static constexpr Layout layout = Layout::ND;
            float* first;
            float* data() const { return first; }
            long GetShape(int dim) const { return dim == 4 ? 8 : 1; }
            long GetStride(int dim) const { return 1; }
        };
        template <class T> constexpr bool is_tile_data_v = std::is_same_v<T, Row>;
        template <class T> constexpr bool is_global_data_v = std::is_same_v<T, Tensor>;
        template <class T> size_t GetTileOffset(int row, int col) { return row * 8 + col; }
        }
    """,
}
KERNEL = """
    #include <pto/pto-inst.hpp>
    using namespace pto;
    template <int Factor> __global__ AICORE void scale(__gm__ float* out, __gm__ float* in) {
        Row from, to;
        TASSIGN(from, 0);
        TASSIGN(to, 64);
        Tensor source{in}, target{out};
        TLOAD(from, source);
        TMULS(to, from, float(Factor));
        TSTORE(target, to);
    }
    template <int Factor> void launch(float* out, float* in, void* stream) {
        scale<Factor><<<1, nullptr, stream>>>(out, in);
    }
    template void launch<2>(float*, float*, void*);
    template void launch<3>(float*, float*, void*);
"""
MAIN = """
    #include "test_common.h"
    #include "acl/acl.h"
    #include <gtest/gtest.h>
    using namespace PtoTestCommon;
    class Scaled : public testing::Test {};
    template <int Factor> void launch(float* out, float* in, void* stream);
    template <int Factor> void test() {
        std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
        size_t bytes = 32;
        float *in, *out;
        aclrtMalloc((void**)&in, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
        aclrtMalloc((void**)&out, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
        ReadFile("../input.bin", bytes, in, bytes);
        launch<Factor>(out, in, nullptr);
        std::vector<float> golden(8), found(out, out + 8);
        ReadFile("../" + name + ".bin", bytes, golden.data(), bytes);
        EXPECT_TRUE(ResultCmp(golden, found, 0.001f));
    }
    TEST_F(Scaled, twice) { test<2>(); }
    TEST_F(Scaled, wrong) { test<3>(); }
"""
GENERATOR = """
import numpy as np
data = np.arange(1, 9, dtype=np.float32)
data.tofile("input.bin")
(data * 2).tofile("twice.bin")
(data * 3 + np.eye(8, dtype=np.float32)[5]).tofile("wrong.bin")
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_a_tree_from_its_generator_to_the_table(tmp_path: Path) -> None:
    common = tmp_path / "tree/include/pto/common"
    common.mkdir(parents=True)
    for name, text in HEADERS.items():
        (common / name).write_text(text)
    case = tmp_path / "tree/tests/npu/a5/src/st/testcase/scaled"
    case.mkdir(parents=True)
    for name, text in {"scaled_kernel.cpp": KERNEL, "main.cpp": MAIN, "gen_data.py": GENERATOR}.items():
        (case / name).write_text(text)
    script, file = ROOT / "benchmarks/isa_cases.py", tmp_path / "found.json"
    command = [sys.executable, str(script), str(tmp_path / "tree"), "--target", "a5", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    found = {one["test"]: one for one in json.loads(file.read_text())}
    assert found["Scaled.twice"]["outcome"] == "agrees", done.stdout
    assert found["Scaled.wrong"]["outcome"] == "differs"
    assert found["Scaled.wrong"]["reason"] == "1 of 8 differ: [5] 18, expected 19"
    assert done.returncode == 1
    assert sorted(path.name for path in case.iterdir()) == ["gen_data.py", "main.cpp", "scaled_kernel.cpp"]
