// Of another library for kernels: queries of the block.
#pragma once
#include <stdint.h>

namespace AscendC {
inline int64_t GetBlockIdx() { return get_block_idx(); }
inline int64_t GetBlockNum() { return get_block_num(); }
inline int64_t GetSubBlockIdx() { return get_subblockid(); }
inline int64_t GetSubBlockNum() { return get_subblockdim(); }
}
