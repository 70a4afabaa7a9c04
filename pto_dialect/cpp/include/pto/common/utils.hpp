// Small functions that kernels share.
#pragma once
#include "pto/common/constants.hpp"
#include "pto/detail/intrinsics.hpp"

#define PTO_DIV_ROUNDUP(x, y) (((x) + (y) - 1) / (y))
#define PTO_CEIL(x, y) (PTO_DIV_ROUNDUP(x, y) * (y))

namespace pto {

template <class PtoT, class... Types>
inline constexpr bool isSupportType = (std::is_same_v<PtoT, Types> || ...);

PTO_INTERNAL void SetContinuousMask(unsigned n)
{
    const uint64_t all = ~0ull;
    set_vector_mask(n > 64 ? (n >= 128 ? all : (1ull << (n - 64)) - 1) : 0, n >= 64 ? all : (1ull << n) - 1);
}
PTO_INTERNAL void SetVectorCount(uint64_t n) { set_vector_mask(0, n); }
template <class PtoT>
PTO_INTERNAL void SetFullVecMaskByDType()
{
    set_vector_mask(~0ull, ~0ull);
}
template <class PtoT>
PTO_INTERNAL void SetContMaskByDType(unsigned n)
{
    SetContinuousMask(n);
}
template <class PtoT>
PTO_INTERNAL constexpr bool IsTwinType()
{
    return std::is_same_v<PtoT, float4_e2m1x2_t> || std::is_same_v<PtoT, float4_e1m2x2_t>;
}
// Scales of a matrix lie at a sixteenth of its address.
template <class PtoT>
PTO_INTERNAL uint64_t GetScaleAddr(PtoT *matrix)
{
    return reinterpret_cast<uint64_t>(matrix) >> 4;
}
// Of how many elements a pattern takes one.
template <MaskPattern Mask>
PTO_INTERNAL constexpr int GetTimesByMask()
{
    return Mask == MaskPattern::P1111 ? 1 : Mask == MaskPattern::P0101 || Mask == MaskPattern::P1010 ? 2 : 4;
}
template <class PtoT>
PTO_INTERNAL constexpr TileLayoutCustom GetTileLayoutCustom()
{
    if (PtoT::SFractal == SLayout::NoneBox)
        return PtoT::isRowMajor ? TileLayoutCustom::ND : TileLayoutCustom::DN;
    if (PtoT::SFractalSize != 512)
        return TileLayoutCustom::NONE;
    if (PtoT::SFractal == SLayout::ColMajor)
        return PtoT::isRowMajor ? TileLayoutCustom::ZN : TileLayoutCustom::NONE;
    return PtoT::isRowMajor ? TileLayoutCustom::ZZ : TileLayoutCustom::NZ;
}
// The number that ffts_cross_core_sync takes for a mode (2: between the cores of a block) and a flag.
PTO_INTERNAL uint16_t getFFTSMsg(uint16_t mode, uint16_t id, uint16_t base = 1)
{
    return (base & 15) + ((mode & 3) << 4) + ((id & 15) << 8);
}
PTO_INTERNAL int32_t CeilDivision(int32_t a, int32_t b) { return b == 0 ? 0 : (a + b - 1) / b; }
PTO_INTERNAL uint32_t CeilAlignment(uint32_t a, uint32_t b) { return b == 0 ? 0 : (a + b - 1) / b * b; }

} // namespace pto
