// Vector registers of a5, below the operations of tiles: kernels that use none of them compile.
#pragma once
#include "pto/detail/issue.hpp"

#define __VEC_SCOPE__

inline constexpr unsigned CCE_VL = 256; // bytes of a register

enum pto_store_dist { NORM, NORM_B8, NORM_B16, NORM_B32, ONEPT_B8, ONEPT_B16, ONEPT_B32, PK_B16, PK_B32, PK_B64, PK4_B32 };
enum pto_masking { MODE_ZEROING, MODE_MERGING };
enum pto_update { NO_POST_UPDATE, POST_UPDATE };
enum pto_memory_order { VST_VLD, VLD_VST, VST_VST, VV_ALL, VS_ALL };

namespace pto {

template <class PtoT>
struct RegTensor {
    int64_t pto_register;
};
struct MaskReg {
    int64_t pto_register;
};
struct UnalignReg {
    int64_t pto_register;
};
template <class PtoT, class PtoN>
PTO_INTERNAL MaskReg CreatePredicate(PtoN &count)
{
    return {__pto_query<int64_t>("CreatePredicate")};
}

} // namespace pto

#define PTO_REGISTER_FUNCTION(name)      \
    template <class... PtoA>             \
    PTO_INTERNAL void name(PtoA &&...)   \
    {                                    \
        __pto_call(#name);               \
    }
#define PTO_REGISTER_FUNCTIONS(X)                                                                                    \
    X(vlds) X(vldas) X(vldus) X(vsts) X(vstas) X(vstus) X(vdup) X(vadd) X(vadds) X(vsub) X(vmul) X(vmuls) X(vdiv)     \
    X(vmax) X(vmaxs) X(vmin) X(vmins) X(vabs) X(vneg) X(vexp) X(vln) X(vsqrt) X(vrelu) X(vand) X(vor) X(vxor) X(vnot) \
    X(vshl) X(vshls) X(vshr) X(vshrs) X(vcvt) X(vsel) X(vcmp) X(vcmps) X(vcadd) X(vcmax) X(vcmin) X(vmula) X(vintlv)  \
    X(vdintlv) X(vgather2) X(vscatter)
PTO_REGISTER_FUNCTIONS(PTO_REGISTER_FUNCTION)

PTO_INTERNAL void mem_bar(pto_memory_order order) { __pto_call("mem_bar", "enum:pto_memory_order", static_cast<int>(order)); }
