// What generated kernels name to register counters. The program itself does that (deferred.py); none of this is called.
#pragma once

#include <stdint.h>

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
