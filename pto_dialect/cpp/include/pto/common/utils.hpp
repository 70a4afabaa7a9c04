// Small functions that kernels share.
#pragma once
#include "pto/common/constants.hpp"

namespace pto {

template <class T, class... Types>
inline constexpr bool isSupportType = (std::is_same_v<T, Types> || ...);

PTO_INTERNAL void SetContinuousMask(unsigned n)
{
    const uint64_t all = ~0ull;
    set_vector_mask(n > 64 ? (n >= 128 ? all : (1ull << (n - 64)) - 1) : 0, n >= 64 ? all : (1ull << n) - 1);
}
PTO_INTERNAL void SetVectorCount(uint64_t n) { set_vector_mask(0, n); }
template <class T>
PTO_INTERNAL void SetFullVecMaskByDType()
{
    set_vector_mask(~0ull, ~0ull);
}
template <class T>
PTO_INTERNAL void SetContMaskByDType(unsigned n)
{
    SetContinuousMask(n);
}
PTO_INTERNAL int32_t CeilDivision(int32_t a, int32_t b) { return b == 0 ? 0 : (a + b - 1) / b; }
PTO_INTERNAL uint32_t CeilAlignment(uint32_t a, uint32_t b) { return b == 0 ? 0 : (a + b - 1) / b * b; }

} // namespace pto
