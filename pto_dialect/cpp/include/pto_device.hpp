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
#define __sync_alias__
#define __cce_get_tile_ptr(pointer) (pointer)
#define PTO_INLINE inline __attribute__((always_inline))
#define PTO_INST PTO_INLINE
#define PTO_INTERNAL PTO_INLINE

#define __fp16 _Float16
typedef _Float16 half;
typedef _Float16 float16_t;
typedef float float32_t;
typedef __bf16 bfloat16_t;
typedef uint16_t aclFloat16; // the bits of a half
typedef uint8_t *GM_ADDR;

// Numbers of one byte, which a scalar core only copies: C++ name, .pto name.
#define PTO_BYTE_FLOATS(X)           \
    X(hifloat8_t, "hif8")            \
    X(float8_e4m3_t, "f8E4M3FN")     \
    X(float8_e5m2_t, "f8E5M2")       \
    X(float8_e8m0_t, "f8E8M0")       \
    X(float4_e2m1x2_t, "f4E2M1x2")   \
    X(float4_e1m2x2_t, "f4E1M2x2")   \
    X(hifloat4x2_t, "hif4x2")
#define PTO_BYTE_FLOAT(Name, spelled) \
    struct Name {                     \
        uint8_t bits;                 \
    };
PTO_BYTE_FLOATS(PTO_BYTE_FLOAT)

// The calls that a translation reads: README.md beside this file. None of them is ever defined.
// No two calls become one, and none is copied, so that each keeps its line.
#define PTO_READ __attribute__((nothrow, convergent, nomerge))
template <class... PtoA>
PTO_READ void __pto_op(const char *name, PtoA... groups);
template <class... PtoA>
PTO_READ void __pto_call(const char *name, PtoA... groups);
template <class PtoR, class... PtoA>
PTO_READ PtoR __pto_query(const char *name, PtoA... groups);
template <class... PtoA>
PTO_READ int64_t __pto_alias(const char *name, PtoA... groups);
template <class PtoR>
__attribute__((nothrow, const)) PtoR __pto_constant(const char *name);
PTO_READ int64_t __pto_assign(const char *tile, int64_t address);
PTO_READ void __pto_set_flag(int source, int destination, int id);
PTO_READ void __pto_wait_flag(int source, int destination, int id);
PTO_READ void __pto_pipe_barrier(int pipe);

// The initial value of a variable that a kernel does not initialise.
struct __pto_unset {
    const char *name;
    template <class PtoT>
    __attribute__((always_inline)) operator PtoT() const
    {
        if constexpr (__is_same(PtoT, bool))
            return __pto_query<unsigned char>(name) & 1;
        else if constexpr (__is_integral(PtoT) || __is_floating_point(PtoT))
            return __pto_query<PtoT>(name);
        else if constexpr (__is_enum(PtoT))
            return static_cast<PtoT>(__pto_query<__underlying_type(PtoT)>(name));
        else
            return PtoT();
    }
};

// Number types, functions of scalars.

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL, PIPE_FIX = 10 };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };
enum mem_dsb_t { DSB_ALL, DSB_DDR, DSB_UB, DSB_SEQ };
enum cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum QuantMode_t {
    NoQuant, F322F16, F322BF16, DEQF16, VDEQF16, QF322B8_PRE, VQF322B8_PRE, QF162B8_PRE, VQF162B8_PRE, REQ8, VREQ8,
    QF162S4_PRE, VQF162S4_PRE, REQ4, VREQ4, DEQS16, VDEQS16, QF162S16_PRE, VQF162S16_PRE, QF322F16_PRE, VQF322F16_PRE,
    QF322BF16_PRE, VQF322BF16_PRE, QS322BF16_PRE, VQS322BF16_PRE, QF322HIF8_PRE, VQF322HIF8_PRE, QF322FP8_PRE,
    VQF322FP8_PRE, QF322F32_PRE, VQF322F32_PRE, SHIFTS322S16, VSHIFTS322S16,
};

template <class PtoA, class PtoB>
PTO_INLINE constexpr auto min(PtoA a, PtoB b) -> decltype(a < b ? a : b)
{
    return a < b ? a : b;
}
template <class PtoA, class PtoB>
PTO_INLINE constexpr auto max(PtoA a, PtoB b) -> decltype(a < b ? b : a)
{
    return a < b ? b : a;
}

#include "pto/detail/numbers.hpp"

// Blocks and cores.

#define PTO_FACT(function, name) \
    PTO_INLINE int64_t function() { return __pto_constant<int64_t>(name); }
PTO_FACT(get_block_idx, "block_idx")
PTO_FACT(get_block_num, "block_num")
PTO_FACT(get_subblockid, "subblock_idx")
PTO_FACT(get_subblockdim, "subblock_num")
// A run has as many cores as blocks: each block is on the core of its number, or on two vector cores in a row.
PTO_INLINE int64_t get_coreid()
{
#if defined(__DAV_VEC__)
    return get_block_idx() * get_subblockdim() + get_subblockid();
#else
    return get_block_idx();
#endif
}
#define PTO_FACT_VARIABLE(variable, name)                                                     \
    constexpr struct {                                                                        \
        PTO_INLINE operator int64_t() const { return __pto_constant<int64_t>(name); }         \
    } variable{};
PTO_FACT_VARIABLE(block_idx, "block_idx")
PTO_FACT_VARIABLE(block_num, "block_num")

// Flags, barriers, signals between cores.

PTO_INLINE void set_flag(pipe_t source, pipe_t destination, int id) { __pto_set_flag(source, destination, id); }
PTO_INLINE void wait_flag(pipe_t source, pipe_t destination, int id) { __pto_wait_flag(source, destination, id); }
PTO_INLINE void pipe_barrier(pipe_t pipe) { __pto_pipe_barrier(pipe); }
PTO_INLINE void set_ffts_base_addr(uint64_t address) { __pto_call("set_ffts_base_addr", "scalar:ui64", address); }
PTO_INLINE void ffts_cross_core_sync(pipe_t pipe, uint64_t message)
{
    // Apart, so that the mode is constant where only the flag is chosen at run time.
    const uint64_t mode = message >> 4 & 3, flag = message >> 8 & 15;
    __pto_call("ffts_cross_core_sync", "enum:pipe_t", static_cast<int>(pipe), "scalar:ui64", mode, "scalar:ui64", flag);
}
PTO_INLINE void wait_flag_dev(int64_t id) { __pto_call("wait_flag_dev", "scalar:i64", id); }
#define PTO_SIGNAL(name)                                                                      \
    PTO_INLINE void name(pipe_t pipe, int64_t id)                                             \
    {                                                                                         \
        __pto_call(#name, "enum:pipe_t", static_cast<int>(pipe), "scalar:i64", id);           \
    }
PTO_SIGNAL(wait_flag_dev)
PTO_SIGNAL(set_intra_block)
PTO_SIGNAL(wait_intra_block)
PTO_SIGNAL(set_cross_core)

// Caches, masks, control bits.

#define PTO_WITHOUT_OPERANDS(name) \
    PTO_INLINE void name() { __pto_call(#name); }
PTO_WITHOUT_OPERANDS(set_mask_norm)
PTO_WITHOUT_OPERANDS(set_mask_count)
PTO_WITHOUT_OPERANDS(set_atomic_none)
PTO_WITHOUT_OPERANDS(set_atomic_add)
PTO_WITHOUT_OPERANDS(set_atomic_max)
PTO_WITHOUT_OPERANDS(set_atomic_min)
PTO_WITHOUT_OPERANDS(set_atomic_f32)
PTO_WITHOUT_OPERANDS(set_atomic_f16)
PTO_WITHOUT_OPERANDS(set_atomic_bf16)
PTO_WITHOUT_OPERANDS(set_atomic_s32)
PTO_WITHOUT_OPERANDS(set_atomic_s16)
PTO_WITHOUT_OPERANDS(set_atomic_s8)
PTO_WITHOUT_OPERANDS(trap)
#define __builtin_trap() ::trap()
PTO_INLINE void set_vector_mask(uint64_t high, uint64_t low)
{
    __pto_call("set_vector_mask", "scalar:ui64", high, "scalar:ui64", low);
}
PTO_INLINE void dsb(int which) { __pto_call("dsb", "enum:mem_dsb_t", which); }
PTO_INLINE void dcci(const volatile void *address, int lines)
{
    __pto_call("dcci", "ptr:void,gm", address, "enum:cache_line_t", lines);
}
PTO_INLINE void dcci(const volatile void *address, int lines, int target)
{
    __pto_call("dcci", "ptr:void,gm", address, "enum:cache_line_t", lines, "enum:dcci_dst_t", target);
}
PTO_INLINE uint64_t get_ctrl() { return __pto_query<uint64_t>("get_ctrl"); }
// Records that the last merge took from each of four lists, 16 bits for each.
PTO_INLINE int64_t get_vms4_sr() { return __pto_query<int64_t>("get_vms4_sr"); }
PTO_INLINE void set_ctrl(uint64_t bits) { __pto_call("set_ctrl", "scalar:ui64", bits); }
// The clock does not advance; assembly, so that loops that wait for it are known.
PTO_INLINE int64_t get_sys_cnt()
{
    int64_t now;
    asm volatile("MOV %0, SYS_CNT\n" : "=r"(now));
    return now;
}
PTO_INLINE constexpr uint64_t sbitset0(uint64_t value, int bit) { return value & ~(1ull << bit); }
PTO_INLINE constexpr uint64_t sbitset1(uint64_t value, int bit) { return value | 1ull << bit; }

namespace cce {
template <class... PtoA>
PTO_INLINE int printf(const char *, PtoA...)
{
    return 0;
}
}
