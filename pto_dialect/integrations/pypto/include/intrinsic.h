// What a kernel's wrapper asks for about its core.
#pragma once

#include "pto_orchestration_api.h"

enum { DMA_WORKSPACE_SDMA, DMA_WORKSPACE_URMA };

inline int32_t get_block_idx(const int64_t *args) { return int32_t(args[PTO_CONTEXT]); }
inline int32_t get_block_num(const int64_t *args) { return int32_t(args[PTO_CONTEXT + 1]); }
inline int32_t get_sub_block_id(const int64_t *args) { return int32_t(args[PTO_CONTEXT + 2]); }
inline uint8_t *get_dma_workspace(const int64_t *, int) {
    pto_refuse("a kernel needs a workspace for asynchronous transfers");
    return nullptr;
}

// What generated kernels name to register counters. The program itself does that (deferred.py); none of this is called.
constexpr int MAX_COMPLETIONS_PER_TASK = 64;
constexpr int PTO2_ERROR_ASYNC_COMPLETION_INVALID = 1;
struct AsyncCtx {
    struct { uint64_t raw; } task_token;
    uint32_t *completion_count;
    int32_t *completion_error_code;
    void *completion_entries;
    uint32_t completion_capacity;
};
inline AsyncCtx get_async_ctx(const int64_t *) { return {}; }
inline bool async_ctx_is_deferred(const AsyncCtx &) { return true; }
inline void save_expected_notification_counter(AsyncCtx &, volatile void *, uint32_t) {}
namespace pto2 { namespace detail {
inline void defer_flush(AsyncCtx &) {}
inline void defer_error(AsyncCtx &, int) {}
} }
