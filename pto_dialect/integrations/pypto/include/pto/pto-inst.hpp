// Element types that C++ has not, as wrappers name them, and the stub that stands for a kernel: it notes what the kernel
// is called with, which the host then runs.
#pragma once

#include "../intrinsic.h"

#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__
#endif
#define AICORE

struct half { uint16_t bits; };
struct bfloat16_t { uint16_t bits; };
struct float8_e4m3_t { uint8_t bits; };
struct float8_e5m2_t { uint8_t bits; };
struct float8_e8m0_t { uint8_t bits; };
struct float4_e2m1x2_t { uint8_t bits; };

namespace pto {}

inline void set_atomic_none() {}

template <typename... A>
inline void pto_note(uint64_t program, uint64_t function, const A &...values) {
    const uint64_t head[] = {program, function, sizeof...(values)};
    pto_words->append(head, head + 3);
    (pto_words->push_back(to_u64(values)), ...);
}
