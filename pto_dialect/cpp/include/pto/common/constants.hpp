// Sizes of the machine that kernels name.
#pragma once
#include "pto/common/type.hpp"

namespace pto {

constexpr int REPEAT_BYTE = 256;
constexpr int REPEAT_MAX = 255;
constexpr int BLOCK_BYTE_SIZE = 32;
constexpr int CUBE_BLOCK_SIZE = 512;
constexpr int C0_SIZE_BYTE = 32;
constexpr int FRACTAL_NZ_ROW = 16;
constexpr int MX_COL_LEN = 2;
constexpr int MX_ROW_LEN = 16;
constexpr int MX_BLOCK_SIZE = 32;
constexpr int HIF4_COL_LEN = 4;
constexpr int HIF4_ROW_LEN = 16;
constexpr int HIF4_BLOCK_SIZE = 64;

namespace GlobalTensorDim {
constexpr int DIM_0 = 0, DIM_1 = 1, DIM_2 = 2, DIM_3 = 3, DIM_4 = 4, TOTAL_DIM = 5;
}
namespace TileConfig {
constexpr int alignedSize = 32, fixedRowSize = 16, fixedColSize = 16, fixedMxRowSize = 16, fixedMxColSize = 2;
constexpr int fractalABSize = 512, fractalCSize = 1024, fractalMxSize = 32;
}

} // namespace pto
