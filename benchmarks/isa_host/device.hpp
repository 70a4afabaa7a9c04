// Stands in for the device compiler: qualifiers, element types, pipes and core queries of a kernel file, on a host.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#define __global__
#define __aicore__
#define aicore
#define __gm__
#define __out__
#define __in__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#define __tf__
#define __simt_vf__
#define __simt_callee__
#define __VEC_SCOPE__
#define __cce_get_tile_ptr(pointer) (pointer)
#define LAUNCH_BOUND(count)

// ------------------------------------------------------------ element types

using half = _Float16;
// The runtime's half numbers are bits. Most tests can do with numbers instead, whose comparisons then mean something.
#ifdef ISA_HALF_IS_BITS
using aclFloat16 = uint16_t;
#else
using aclFloat16 = half;
#endif
using float16_t = half;
using float32_t = float;

struct bfloat16_t {
    uint16_t bits = 0;
    constexpr bfloat16_t() = default;
    constexpr bfloat16_t(float value) : bits(nearest(__builtin_bit_cast(uint32_t, value))) {}
    constexpr operator float() const { return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16); }

private:
    static constexpr uint16_t nearest(uint32_t pattern)
    {
        return static_cast<uint16_t>((pattern + 0x7fff + ((pattern >> 16) & 1)) >> 16);
    }
};

// One byte whose meaning only the device knows.
#define ISA_OPAQUE(NAME)                                            \
    struct NAME {                                                   \
        uint8_t bits = 0;                                           \
        constexpr NAME() = default;                                 \
        constexpr NAME(int value) : bits(static_cast<uint8_t>(value)) {} \
        constexpr operator float() const { return bits; }           \
    };
ISA_OPAQUE(hifloat8_t)
ISA_OPAQUE(float8_e4m3_t)
ISA_OPAQUE(float8_e5m2_t)
ISA_OPAQUE(float8_e8m0_t)
ISA_OPAQUE(float4_e1m2x2_t)
ISA_OPAQUE(float4_e2m1x2_t)
#undef ISA_OPAQUE

// ------------------------------------------------------------ pipes and cores

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL, PIPE_MTE4, PIPE_MTE5 };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7, EVENT_ID_MAX };
enum mem_dsb_t { DSB_ALL, DSB_DDR, DSB_UB };
enum cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };

// A program is recorded in the order of its text, so that what orders pipes and cores has nothing to do.
#define ISA_NOTHING(NAME)                 \
    template <class... Arguments>         \
    inline void NAME(Arguments&&...)      \
    {                                     \
    }
ISA_NOTHING(set_flag)
ISA_NOTHING(wait_flag)
ISA_NOTHING(pipe_barrier)
ISA_NOTHING(set_intra_block)
ISA_NOTHING(wait_intra_block)
ISA_NOTHING(set_ffts_base_addr)
ISA_NOTHING(ffts_cross_core_sync)
ISA_NOTHING(wait_flag_dev)
ISA_NOTHING(dcci)
ISA_NOTHING(dsb)
ISA_NOTHING(set_mask_norm)
ISA_NOTHING(set_mask_count)
ISA_NOTHING(set_vector_mask)
ISA_NOTHING(set_nd_para)
ISA_NOTHING(preload)
#undef ISA_NOTHING

template <pipe_t From, pipe_t To>
inline void set_flag(event_t)
{
}
template <pipe_t From, pipe_t To>
inline void wait_flag(event_t)
{
}

namespace isa {
inline int64_t block = 0;
inline int64_t blocks = 1;
inline uint64_t control = 0;
} // namespace isa

#define block_idx (::isa::block)
#define block_num (::isa::blocks)
inline int64_t get_block_idx() { return isa::block; }
inline int64_t get_block_num() { return isa::blocks; }
inline int64_t get_subblockid() { return 0; }
inline int64_t get_subblockdim() { return 1; }
inline uint64_t get_ctrl() { return isa::control; }
inline void set_ctrl(uint64_t value) { isa::control = value; }
inline uint64_t sbitset0(uint64_t word, int bit) { return word & ~(1ULL << bit); }
inline uint64_t sbitset1(uint64_t word, int bit) { return word | (1ULL << bit); }
inline int64_t get_sys_cnt() { return 0; }
inline int64_t get_icache_prl_st() { return 0; }
inline constexpr int CCE_VL = 256;
