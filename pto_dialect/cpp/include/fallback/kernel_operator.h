// Of another library for kernels: queries of the block and of the core.
#pragma once
#include <stdint.h>

namespace AscendC {
inline int64_t GetBlockIdx() { return get_block_idx(); }
inline int64_t GetBlockNum() { return get_block_num(); }
inline int64_t GetSubBlockIdx() { return get_subblockid(); }
inline int64_t GetSubBlockNum() { return get_subblockdim(); }

constexpr int MIX = 0;
constexpr int AIC = 1;
constexpr int AIV = 2;
}

#ifdef __DAV_VEC__
constexpr int g_coreType = AscendC::AIV;
#elif defined(__DAV_CUBE__)
constexpr int g_coreType = AscendC::AIC;
#else
constexpr int g_coreType = AscendC::MIX;
#endif

// Written as `if ASCEND_IS_AIV { .. }`.
#define ASCEND_IS_AIV constexpr (g_coreType == AscendC::AIV)
#define ASCEND_IS_AIC constexpr (g_coreType == AscendC::AIC)
#define ASCEND_IS_NOT_AIV constexpr (g_coreType != AscendC::AIV)
#define ASCEND_IS_NOT_AIC constexpr (g_coreType != AscendC::AIC)
