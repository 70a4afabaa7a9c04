"""The instruction set's tests through the C++ front end: launches of a kernel file, and a made-up tree."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from isa_kernels import split, with_blocks  # noqa: E402

has_compilers = shutil.which("g++") is not None and (shutil.which("clang++") or find_spec("ziglang")) is not None


@pytest.mark.parametrize(
    ("launch", "told"),
    [
        ("k<<<1, nullptr, s>>>(x);", "(isa_blocks(1), k)(x);"),
        ("k<T, 4><<<f(n, 2), nullptr, s>>>(x);", "(isa_blocks(f(n, 2)), k<T, 4>)(x);"),
        ("NAME(a, b)<<<1>>>(x);", "(isa_blocks(1), NAME(a, b))(x);"),
        ("a::k<B<4>> <<<n, nullptr,\n s>>>(x);", "(isa_blocks(n), a::k<B<4>> )\n(x);"),
    ],
)
def test_launches_state_their_number_of_blocks(launch: str, told: str) -> None:
    assert with_blocks(launch) == f'extern "C" void isa_blocks(long); {told}'


def test_files_without_launches_stay_as_they_are() -> None:
    assert with_blocks("int a = b << 3;") == "int a = b << 3;"


IR = """@.str = constant [1 x i8] zeroinitializer
@llvm.global.annotations = appending global [1 x { ptr }] [{ ptr @kernel, ptr @.str, ptr null, i32 1, ptr null }]
@llvm.used = appending global [1 x ptr] [ptr @kernel], section "llvm.metadata"
define dso_local void @kernel(ptr noundef %x, half noundef %factor, i64 %n) #0 {
entry:
  ret void
}
define dso_local void @launch(ptr noundef %x) {
entry:
  call void @kernel(ptr %x, half 0xH4000, i64 8)
  ret void
}
"""


def test_launch_functions_reach_stubs_of_the_kernels() -> None:
    launchers, stubs = split(IR, "k.cpp")
    assert "declare void @kernel(ptr, half, i64)\n" in launchers
    assert "define dso_local void @launch" in launchers
    assert "@llvm" not in launchers
    assert 'void kernel(void* a0, _Float16 a1, long a2) { isa::lines << "launch|k.cpp|kernel|"' in stubs
    assert "launch(" not in stubs


# ------------------------------------------------------------ a made-up tree

HEADERS = {
    "type.hpp": """
        #pragma once
        #include <cstdint>
        #define AICORE [aicore]
    """,
    "constants.hpp": '#pragma once\n#include "pto/common/type.hpp"\n',
}
KERNEL = """
    #include <pto/pto-inst.hpp>
    #include <iostream>
    using namespace pto;
    template <int Factor> __global__ AICORE void scale(__gm__ float* out, __gm__ float* in, half added) {
        using Row = Tile<TileType::Vec, float, 1, 8>;
        using Tensor = GlobalTensor<float, pto::Shape<1, 1, 1, 1, 8>, pto::Stride<8, 8, 8, 8, 1>>;
        Row from, to;
        TASSIGN(from, 0);
        TASSIGN(to, 64);
        Tensor source(in + get_block_idx() * 8), target(out + get_block_idx() * 8);
        TLOAD(from, source);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TMULS(to, from, float(Factor));
        pipe_barrier(PIPE_V);
        TADDS(to, to, float(added));
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(target, to);
    }
    template <int Factor> void launch(float* out, float* in, aclFloat16* added, int n, void* stream) {
        int blocks = 0;
        for (int i = 0; i < n; ++i) blocks += 1;
        std::cout << "launch" << std::endl;
        scale<Factor><<<blocks, nullptr, stream>>>(out, in, *(half *)added);
    }
    template void launch<2>(float*, float*, aclFloat16*, int, void*);
    template void launch<3>(float*, float*, aclFloat16*, int, void*);
"""
MAIN = """
    #include "test_common.h"
    #include "acl/acl.h"
    #include <gtest/gtest.h>
    using namespace PtoTestCommon;
    class Scaled : public testing::Test {};
    template <int Factor> void launch(float* out, float* in, aclFloat16* added, int n, void* stream);
    template <int Factor> void test() {
        std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
        size_t bytes = 64;
        float *in, *out;
        aclFloat16 half = aclFloatToFloat16(0.5f);
        aclrtMalloc((void**)&in, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
        aclrtMalloc((void**)&out, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
        ReadFile("../input.bin", bytes, in, bytes);
        launch<Factor>(out, in, &half, 2, nullptr);
        std::vector<float> golden(16), found(out, out + 16);
        ReadFile("../" + name + ".bin", bytes, golden.data(), bytes);
        EXPECT_TRUE(ResultCmp(golden, found, 0.001f));
    }
    TEST_F(Scaled, twice) { test<2>(); }
    TEST_F(Scaled, wrong) { test<3>(); }
    TEST_F(Scaled, missing) { test<4>(); }
"""
GENERATOR = """
import numpy as np
data = np.arange(1, 17, dtype=np.float32)
data.tofile("input.bin")
(data * 2 + 0.5).tofile("twice.bin")
(data * 3 + 0.5 + np.eye(16, dtype=np.float32)[13]).tofile("wrong.bin")
"""


@pytest.mark.skipif(not has_compilers, reason="needs g++ and clang++")
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
    assert found["Scaled.wrong"]["reason"] == "1 of 16 differ: [13] 42.5, expected 43.5"
    assert found["Scaled.missing"]["outcome"] == "no result"
    assert done.returncode == 1
    assert sorted(path.name for path in case.iterdir()) == ["gen_data.py", "main.cpp", "scaled_kernel.cpp"]
