// What a kernel's wrapper asks for about its core.
#pragma once

#include "pto_async_kernel_api.h"
#include "pto_orchestration_api.h"

enum { DMA_WORKSPACE_SDMA, DMA_WORKSPACE_URMA };

inline int32_t get_block_idx(const int64_t *args) { return int32_t(args[PTO_CONTEXT]); }
inline int32_t get_block_num(const int64_t *args) { return int32_t(args[PTO_CONTEXT + 1]); }
inline int32_t get_sub_block_id(const int64_t *args) { return int32_t(args[PTO_CONTEXT + 2]); }
// Asynchronous transfers complete when they are issued, and have no state that a workspace would keep.
inline uint8_t *get_dma_workspace(const int64_t *, int) { return nullptr; }
