// What a run time passes to kernel_entry beyond its arguments.
#pragma once
#include <stdint.h>

inline int32_t get_block_idx(int64_t *) { return static_cast<int32_t>(get_block_idx()); }
inline int32_t get_block_num(int64_t *) { return static_cast<int32_t>(get_block_num()); }
inline int32_t get_sub_block_id(int64_t *) { return static_cast<int32_t>(get_subblockid()); }
