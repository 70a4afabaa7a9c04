// Stands in for the device compiler in the host program of a test: qualifiers and element types.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ostream>
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
typedef _Float16 __fp16;
namespace std {
inline float abs(_Float16 value) { return std::fabs(static_cast<float>(value)); }
inline ostream& operator<<(ostream& out, _Float16 value) { return out << static_cast<float>(value); }
}
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

// ------------------------------------------------------------ what headers beside a test name of the device

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL, PIPE_MTE4, PIPE_MTE5 };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7, EVENT_ID_MAX };
