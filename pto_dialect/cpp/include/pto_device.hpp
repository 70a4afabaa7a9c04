// What a device compiler knows without an include: qualifiers, number types, pipes, flags and block ids.
// The compiler reads this file before the kernel, so that the kernel's own fallbacks (#ifndef AICORE) do not apply.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define __global__ __attribute__((annotate("pto.entry"), used, noinline))
#define AICORE
#define __aicore__
#define aicore
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#define __ssbuf__
#define __in__
#define __out__
#define __tf__
#define PTO_INLINE inline __attribute__((always_inline))
#define PTO_INST PTO_INLINE
#define PTO_INTERNAL PTO_INLINE

typedef _Float16 half;
typedef _Float16 float16_t;
typedef float float32_t;
typedef __bf16 bfloat16_t;

// The calls that a translation reads: README.md beside this file. None of them is ever defined.
#define PTO_READ __attribute__((nothrow))
template <class... A>
PTO_READ void __pto_op(const char *name, A... groups);
template <class... A>
PTO_READ void __pto_call(const char *name, A... groups);
template <class R, class... A>
PTO_READ R __pto_query(const char *name, A... groups);
template <class... A>
PTO_READ int64_t __pto_place(const char *name, A... groups);
template <class R>
__attribute__((nothrow, const)) R __pto_constant(const char *name);
PTO_READ int64_t __pto_assign(const char *tile, int64_t address);
PTO_READ void __pto_set_flag(int source, int destination, int id);
PTO_READ void __pto_wait_flag(int source, int destination, int id);
PTO_READ void __pto_pipe_barrier(int pipe);

enum pipe_t { PIPE_S, PIPE_V, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_M, PIPE_ALL, PIPE_FIX };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

PTO_INLINE void set_flag(pipe_t source, pipe_t destination, int id) { __pto_set_flag(source, destination, id); }
PTO_INLINE void wait_flag(pipe_t source, pipe_t destination, int id) { __pto_wait_flag(source, destination, id); }
PTO_INLINE void pipe_barrier(pipe_t pipe) { __pto_pipe_barrier(pipe); }

PTO_INLINE int64_t get_block_idx() { return __pto_constant<int64_t>("block_idx"); }
PTO_INLINE int64_t get_block_num() { return __pto_constant<int64_t>("block_num"); }
PTO_INLINE int64_t get_subblockid() { return __pto_constant<int64_t>("subblock_idx"); }
PTO_INLINE int64_t get_subblockdim() { return __pto_constant<int64_t>("subblock_num"); }

PTO_INLINE void set_ffts_base_addr(uint64_t address) { __pto_call("set_ffts_base_addr", address); }
PTO_INLINE void ffts_cross_core_sync(pipe_t pipe, uint64_t message)
{
    __pto_call("ffts_cross_core_sync", static_cast<int>(pipe), message);
}
PTO_INLINE void wait_flag_dev(int64_t id) { __pto_call("wait_flag_dev", id); }

#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
