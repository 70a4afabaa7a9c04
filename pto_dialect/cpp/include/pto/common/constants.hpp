// Sizes of the machine that kernels name, and padding values.
#pragma once
#include "pto/common/buffer_limits.hpp"
#include "pto/common/type.hpp"

namespace pto {

constexpr int REPEAT_BYTE = 256;
constexpr uint64_t BLOCK_MAX_PER_REPEAT = 8;
constexpr int REPEAT_MAX = 255, REPEAT_STRIDE_MAX = 255;
constexpr int BLOCK_BYTE_SIZE = 32, BLOCK_SIZE = 32, BLOCK_LEN = 16;
constexpr int FIXP_BURST_UNIT_LEN = 64;
constexpr uint32_t SHIFT_BLOCK_LEN = 4, SHIFT_BLOCK_BYTE = 5, SHIFT_FRACTAL_BYTE = 9;
constexpr uint32_t TMP_UB_SIZE = 8 * 1024, TMP_UB_OFFSET = 184 * 1024;
constexpr uint64_t MASK_LEN = 64;
constexpr int CUBE_BLOCK_SIZE = 512;
constexpr int C0_SIZE_BYTE = 32;
constexpr int FRACTAL_NZ_ROW = 16, FRACTAL_ZZ_ROW = 16, ACC_C0_SIZE = 16;
constexpr uint32_t B4_C0_SIZE = 64;
constexpr int MX_COL_LEN = 2, MX_ROW_LEN = 16, MX_BLOCK_SIZE = 32;
constexpr int HIF4_COL_LEN = 4, HIF4_ROW_LEN = 16, HIF4_BLOCK_SIZE = 64;
constexpr int B8_DATA_TYPE_OFFSET = 8;
constexpr int MAD_MODE_BIT = 46, MAD_ROUND_MODE_BIT = 47;
constexpr uint16_t PTO_TIME_1 = 1, PTO_TIME_2 = 2, PTO_TIME_4 = 4;
constexpr uint16_t PTO_IDX_0 = 0, PTO_IDX_1 = 1, PTO_IDX_2 = 2, PTO_IDX_3 = 3;
constexpr int NUM_1 = 1, NUM_4 = 4, NUM_8 = 8, NUM_12 = 12, NUM_16 = 16, NUM_32 = 32, NUM_64 = 64, NUM_77 = 77;
constexpr int NUM_96 = 96, NUM_128 = 128, NUM_256 = 256, NUM_512 = 512;

namespace TileConfig {
constexpr int alignedSize = 32, fixedRowSize = 16, fixedColSize = 16, fixedMxRowSize = 16, fixedMxColSize = 2;
constexpr int fractalABSize = 512, fractalCSize = 1024, fractalMxSize = 32;
}

// A padding value of one's own: the bits of a number above bit 32.
constexpr bool isCustomPadValue(PadValue value) { return value >= PadValue::CustomBase; }
constexpr uint32_t getCustomPadBits(PadValue value) { return static_cast<uint32_t>(value); }
constexpr PadValue PadValueCustom16(uint16_t bits)
{
    return static_cast<PadValue>(static_cast<uint64_t>(PadValue::CustomBase) | bits);
}
template <class PtoT>
constexpr PadValue PadValueCustom(PtoT value)
{
    uint64_t bits = 0;
    if constexpr (sizeof(PtoT) == 8)
        return PadValueCustom(static_cast<float>(value));
    else if constexpr (sizeof(PtoT) == 4)
        bits = __builtin_bit_cast(uint32_t, value);
    else if constexpr (sizeof(PtoT) == 2)
        bits = __builtin_bit_cast(uint16_t, value);
    else
        bits = static_cast<uint8_t>(value);
    return static_cast<PadValue>(static_cast<uint64_t>(PadValue::CustomBase) | bits);
}
template <auto Value>
inline constexpr PadValue PadCustom = PadValueCustom(Value);

} // namespace pto
