// What the pipe from accumulators does on the way, as one type.
#pragma once
#include "pto/detail/issue.hpp"

namespace pto {

enum ClipReluMode_t { NOCLIP_RELU = 0, CLIP_RELU = 1 };
#define PTO_LIST(X, E) X(E, NZ2NZ, 0) X(E, NZ2ND, 1) X(E, NZ2DN, 2)
PTO_ENUM(LayoutMode_t, uint8_t, PTO_LIST)
#undef PTO_LIST
enum class DequantType { SCALAR = 0, TENSOR = 1 };

template <LayoutMode_t Layout_ = LayoutMode_t::NZ2ND, QuantMode_t Quant_ = QuantMode_t::NoQuant,
          ReluPreMode Relu_ = ReluPreMode::NoRelu, STPhase Phase_ = STPhase::Unspecified, uint8_t SubBlock_ = 0,
          AtomicType Atomic_ = AtomicType::AtomicNone, ClipReluMode_t Clip_ = NOCLIP_RELU, bool Split_ = false>
struct FixpipeParams {
    static constexpr LayoutMode_t LayoutMode = Layout_;
    static constexpr QuantMode_t QuantPre = Quant_;
    static constexpr ReluPreMode ReluMode = Relu_;
    static constexpr STPhase Phase = Phase_;
    static constexpr uint8_t SubBlockId = SubBlock_;
    static constexpr AtomicType AtomicT = Atomic_;
    static constexpr ClipReluMode_t ClipReluMode = Clip_;
    static constexpr bool IsChannelSplit = Split_;
};

template <class PtoT>
concept FixpipeConfig = requires { PtoT::QuantPre, PtoT::ReluMode, PtoT::LayoutMode; };

namespace pto_detail {
template <class PtoF>
struct FixpipeName {
    static constexpr Text make()
    {
        Text text = Named<"TPUSH", Mode<"relu", PtoF::ReluMode, ReluPreMode::NoRelu>, Mode<"phase", PtoF::Phase, STPhase::Unspecified>,
                          Mode<"atomic", PtoF::AtomicT, AtomicType::AtomicNone>, Mode<"layout", PtoF::LayoutMode>>::make();
        if (PtoF::QuantPre != NoQuant)
            text << ";quant=" << static_cast<int>(PtoF::QuantPre);
        return text << ";subblock=" << static_cast<int>(PtoF::SubBlockId);
    }
};
}

} // namespace pto
