// The operations of tiles. Each overload is one line: what it takes, and what of that goes into the call.
#pragma once
#include "pto/common/event.hpp"
#include "pto/common/fifo.hpp"
#include "pto/common/fixpipe.hpp"
#include "pto/common/pto_tile.hpp"
#include "pto/common/utils.hpp"
#if defined(PTO_NPU_ARCH_A5)
#include "pto/detail/registers.hpp"
#endif

namespace pto {

#define PTO_ARGUMENTS(...) __VA_ARGS__
#define PTO_NAMED(name, ...) pto_detail::named<name __VA_OPT__(, ) __VA_ARGS__>
// PTO_OVERLOAD(NAME, (template parameters), (parameters), (modes), operands...)
#define PTO_OVERLOAD(Name, Template, Parameters, Modes, ...)                                      \
    template <PTO_ARGUMENTS Template, Awaited... Events>                                          \
    PTO_INTERNAL RecordEvent Name(PTO_ARGUMENTS Parameters, Events &...events)                    \
    {                                                                                             \
        (events.Wait(), ...);                                                                     \
        pto_detail::issue(PTO_NAMED(#Name, PTO_ARGUMENTS Modes), __VA_ARGS__);                        \
        return {};                                                                                \
    }

// Modes, with the value that is left out.
#define PTO_ATOMIC pto_detail::Mode<"atomic", Atomic, AtomicType::AtomicNone>
#define PTO_RELU pto_detail::Mode<"relu", Relu, ReluPreMode::NoRelu>
#define PTO_PHASE(Enum) pto_detail::Mode<"phase", Phase, Enum::Unspecified>
#define PTO_TO_VEC pto_detail::Mode<"tovec", ToVec>
#define PTO_PRECISION(Enum) pto_detail::Mode<"precision", Precision, Enum::DEFAULT>

// Addresses.

template <LocalObject PtoT, class Address>
PTO_INTERNAL void TASSIGN(PtoT &tile, Address address)
{
#ifndef __PTO_AUTO__
    tile.pto_address = __pto_assign(pto_detail::stored<typename PtoT::pto_object>, (int64_t)address);
#endif
}
template <size_t Address, LocalObject PtoT>
PTO_INTERNAL void TASSIGN(PtoT &tile)
{
    TASSIGN(tile, Address);
}
template <GlobalObject PtoG>
PTO_INTERNAL void TASSIGN(PtoG &tensor, typename PtoG::DType *data)
{
    tensor.SetAddr(data);
}
template <TileObject PtoD, TileObject PtoA, Awaited... Events>
PTO_INTERNAL RecordEvent TRESHAPE(PtoD &dst, PtoA &src, Events &...events)
{
    (events.Wait(), ...);
    dst.pto_address = pto_detail::alias("TRESHAPE", dst, src);
    return {};
}
template <TileObject PtoD, TileObject PtoA, Awaited... Events>
PTO_INTERNAL RecordEvent TSUBVIEW(PtoD &dst, PtoA &src, uint16_t row, uint16_t col, Events &...events)
{
    (events.Wait(), ...);
    dst.pto_address = pto_detail::alias("TSUBVIEW", dst, src, row, col);
    return {};
}
template <TileObject PtoD, TileObject PtoA, Awaited... Events>
PTO_INTERNAL RecordEvent TGET_SCALE_ADDR(PtoD &dst, PtoA &src, Events &...events)
{
    (events.Wait(), ...);
    dst.pto_address = pto_detail::alias("TGET_SCALE_ADDR", dst, src);
    return {};
}

// Waiting.

template <Op Operation>
PTO_INTERNAL void TSYNC()
{
    pipe_barrier(pipe_of(Operation));
}
template <Awaited... Events>
PTO_INTERNAL void TSYNC(Events &...events)
{
    (events.Wait(), ...);
}
template <SyncCoreType Core = SyncCoreType::AIVOnly>
PTO_INTERNAL void SYNCALL()
{
    pto_detail::call(PTO_NAMED("SYNCALL", pto_detail::Mode<"core", Core, SyncCoreType::AIVOnly>));
}
template <SyncAllMode Kind, SyncCoreType Core = SyncCoreType::AIVOnly, GlobalObject PtoG>
PTO_INTERNAL void SYNCALL(PtoG &workspace, int32_t cores = 0)
{
    pto_detail::call(PTO_NAMED("SYNCALL", pto_detail::Mode<"core", Core, SyncCoreType::AIVOnly>, pto_detail::Mode<"mode", Kind>),
                 workspace, cores);
}

// Element by element: a result, one to four tiles, a number.

#define PTO_UNARY(Name) PTO_OVERLOAD(Name, (TileObject PtoD, TileObject PtoA), (PtoD &dst, PtoA &src), (), dst, src)
#define PTO_UNARY_PRECISE(Name, Enum)                                                                      \
    PTO_OVERLOAD(Name, (auto Precision = Enum::DEFAULT, TileObject PtoD, TileObject PtoA), (PtoD &dst, PtoA &src), \
                 (PTO_PRECISION(Enum)), dst, src)
#define PTO_BINARY(Name)                                                                                   \
    PTO_OVERLOAD(Name, (TileObject PtoD, TileObject PtoA, TileObject PtoB), (PtoD &dst, PtoA &src0, PtoB &src1), (), dst, src0, src1)
#define PTO_BINARY_PRECISE(Name, Enum)                                                                     \
    PTO_OVERLOAD(Name, (auto Precision = Enum::DEFAULT, TileObject PtoD, TileObject PtoA, TileObject PtoB), \
                 (PtoD &dst, PtoA &src0, PtoB &src1), (PTO_PRECISION(Enum)), dst, src0, src1)
#define PTO_TERNARY(Name)                                                                                  \
    PTO_OVERLOAD(Name, (TileObject PtoD, TileObject PtoA, TileObject PtoB, TileObject PtoC),               \
                 (PtoD &dst, PtoA &src0, PtoB &src1, PtoC &src2), (), dst, src0, src1, src2)
#define PTO_TERNARY_PRECISE(Name, Enum)                                                                    \
    PTO_OVERLOAD(Name, (auto Precision = Enum::DEFAULT, TileObject PtoD, TileObject PtoA, TileObject PtoB, TileObject PtoC), \
                 (PtoD &dst, PtoA &src0, PtoB &src1, PtoC &src2), (PTO_PRECISION(Enum)), dst, src0, src1, src2)
#define PTO_SCALAR(Name)                                                                                   \
    PTO_OVERLOAD(Name, (TileObject PtoD, TileObject PtoA), (PtoD &dst, PtoA &src, typename PtoA::DType scalar), (), dst, src, scalar)
#define PTO_SCALAR_PRECISE(Name, Enum)                                                                     \
    PTO_OVERLOAD(Name, (auto Precision = Enum::DEFAULT, TileObject PtoD, TileObject PtoA),                 \
                 (PtoD &dst, PtoA &src, typename PtoA::DType scalar), (PTO_PRECISION(Enum)), dst, src, scalar)
#define PTO_SCALAR_SCRATCH(Name)                                                                           \
    PTO_OVERLOAD(Name, (TileObject PtoD, TileObject PtoA, TileObject PtoT),                                \
                 (PtoD &dst, PtoA &src, typename PtoA::DType scalar, PtoT &tmp), (), dst, src, scalar, tmp)
#define PTO_SCALAR_SCRATCH_PRECISE(Name, Enum)                                                             \
    PTO_OVERLOAD(Name, (auto Precision = Enum::DEFAULT, TileObject PtoD, TileObject PtoA, TileObject PtoT), \
                 (PtoD &dst, PtoA &src, typename PtoA::DType scalar, PtoT &tmp), (PTO_PRECISION(Enum)), dst, src, scalar, tmp)
#define PTO_SCALAR_BINARY(Name)                                                                            \
    PTO_OVERLOAD(Name, (TileObject PtoD, TileObject PtoA, TileObject PtoB),                                \
                 (PtoD &dst, PtoA &src0, typename PtoA::DType scalar, PtoB &src1), (), dst, src0, scalar, src1)

PTO_UNARY(TABS)
PTO_UNARY(TNEG)
PTO_UNARY(TNOT)
PTO_UNARY(TRELU)
PTO_UNARY(TPAIRREDUCESUM)
PTO_UNARY_PRECISE(TEXP, ExpAlgorithm)
PTO_UNARY_PRECISE(TLOG, LogAlgorithm)
PTO_UNARY_PRECISE(TRECIP, RecipAlgorithm)
PTO_UNARY_PRECISE(TSQRT, SqrtAlgorithm)
PTO_UNARY_PRECISE(TRSQRT, RsqrtAlgorithm)
PTO_BINARY_PRECISE(TRSQRT, RsqrtAlgorithm)
PTO_BINARY(TADD)
PTO_BINARY(TSUB)
PTO_BINARY(TMUL)
PTO_BINARY(TMIN)
PTO_BINARY(TMAX)
PTO_BINARY(TAND)
PTO_BINARY(TOR)
PTO_BINARY(TSHL)
PTO_BINARY(TSHR)
PTO_BINARY_PRECISE(TDIV, DivAlgorithm)
PTO_BINARY_PRECISE(TFMOD, FmodAlgorithm)
PTO_BINARY(TSUBRELU)
PTO_BINARY(TSUBRELUCONV)
PTO_BINARY(TADDRELUCONV)
PTO_BINARY(TFUSEDMULADD)
PTO_BINARY(TFUSEDMULADDRELU)
PTO_BINARY(TMULADDDST)
PTO_TERNARY(TXOR)
PTO_TERNARY(TPRELU)
PTO_TERNARY(TADDC)
PTO_TERNARY(TSUBC)
PTO_TERNARY_PRECISE(TREM, RemAlgorithm)
PTO_TERNARY_PRECISE(TPOW, PowAlgorithm)
PTO_SCALAR(TADDS)
PTO_SCALAR(TSUBS)
PTO_SCALAR(TMULS)
PTO_SCALAR(TMAXS)
PTO_SCALAR(TMINS)
PTO_SCALAR(TANDS)
PTO_SCALAR(TORS)
PTO_SCALAR(TSHLS)
PTO_SCALAR(TSHRS)
PTO_SCALAR(TLRELU)
PTO_SCALAR(TAXPY)
PTO_SCALAR_PRECISE(TDIVS, DivAlgorithm)
PTO_OVERLOAD(TDIVS, (auto Precision = DivAlgorithm::DEFAULT, TileObject PtoD, TileObject PtoA),
             (PtoD &dst, typename PtoD::DType scalar, PtoA &src), (PTO_PRECISION(DivAlgorithm)), dst, scalar, src)
PTO_SCALAR_PRECISE(TFMODS, FmodSAlgorithm)
PTO_SCALAR_SCRATCH(TXORS)
PTO_SCALAR_SCRATCH_PRECISE(TREMS, RemSAlgorithm)
PTO_SCALAR_SCRATCH_PRECISE(TPOWS, PowAlgorithm)
PTO_SCALAR_BINARY(TADDSC)
PTO_SCALAR_BINARY(TSUBSC)
PTO_OVERLOAD(TEXPANDS, (TileObject PtoD), (PtoD &dst, typename PtoD::DType scalar), (), dst, scalar)
// One value is the same in every layout: a constant number of elements is a tile with a block of 32 bytes in each row.
template <ConvObject PtoD, Awaited... Events>
PTO_INTERNAL RecordEvent TEXPANDS(PtoD &dst, typename PtoD::DType scalar, Events &...events)
{
    if constexpr (PtoD::dynamicDimCount == 0) {
        constexpr int row = 32 / sizeof(typename PtoD::DType);
        Tile<PtoD::Loc, typename PtoD::DType, PtoD::numel / row, row> blocks;
        blocks.pto_address = dst.pto_address;
        return TEXPANDS(blocks, scalar, events...);
    }
    (events.Wait(), ...);
    pto_detail::issue(PTO_NAMED("TEXPANDS"), dst, scalar);
    return {};
}
PTO_OVERLOAD(TADDDEQRELU, (TileObject PtoD, TileObject PtoA, TileObject PtoB, TileObject PtoT),
             (PtoD &dst, PtoA &src0, PtoB &src1, float scale, PtoT &tmp), (), dst, src0, src1, scale, tmp)

// Comparing, choosing, converting.

PTO_OVERLOAD(TCMP, (TileObject PtoD, TileObject PtoA, TileObject PtoB), (PtoD &dst, PtoA &src0, PtoB &src1, CmpMode mode), (), dst, src0,
             src1, mode)
PTO_OVERLOAD(TCMPS, (TileObject PtoD, TileObject PtoA), (PtoD &dst, PtoA &src, typename PtoA::DType scalar, CmpMode mode), (), dst,
             src, scalar, mode)
PTO_OVERLOAD(TCMPS, (TileObject PtoD, TileObject PtoA, TileObject PtoB), (PtoD &dst, PtoA &src0, PtoB &src1, CmpMode mode), (), dst, src0,
             src1, mode)
PTO_OVERLOAD(TSEL, (TileObject PtoD, TileObject PtoM, TileObject PtoA, TileObject PtoB, TileObject PtoT),
             (PtoD &dst, PtoM &mask, PtoA &src0, PtoB &src1, PtoT &tmp), (), dst, mask, src0, src1, tmp)
PTO_OVERLOAD(TSELS, (TileObject PtoD, TileObject PtoM, TileObject PtoA, TileObject PtoT),
             (PtoD &dst, PtoM &mask, PtoA &src, PtoT &tmp, typename PtoA::DType scalar), (), dst, mask, src, tmp, scalar)
#define PTO_ORDER pto_detail::Mode<"order", NeedSetCtrl, true>
PTO_OVERLOAD(TCVT, (bool NeedSetCtrl = true, TileObject PtoD, TileObject PtoA), (PtoD &dst, PtoA &src, RoundMode mode), (PTO_ORDER),
             dst, src, mode)
PTO_OVERLOAD(TCVT, (bool NeedSetCtrl = true, TileObject PtoD, TileObject PtoA),
             (PtoD &dst, PtoA &src, RoundMode mode, SaturationMode sat), (PTO_ORDER), dst, src, mode, sat)
PTO_OVERLOAD(TCVT, (bool NeedSetCtrl = true, TileObject PtoD, TileObject PtoA, TileObject PtoT),
             (PtoD &dst, PtoA &src, PtoT &tmp, RoundMode mode), (PTO_ORDER), dst, src, tmp, mode)
PTO_OVERLOAD(TCVT, (bool NeedSetCtrl = true, TileObject PtoD, TileObject PtoA, TileObject PtoT),
             (PtoD &dst, PtoA &src, PtoT &tmp, RoundMode mode, SaturationMode sat), (PTO_ORDER), dst, src, tmp, mode, sat)

// Rows and columns.

#define PTO_SCRATCH_UNARY(Name)                                                                            \
    PTO_OVERLOAD(Name, (TileObject PtoD, TileObject PtoA, TileObject PtoT), (PtoD &dst, PtoA &src, PtoT &tmp), (), dst, src, tmp)
#define PTO_ARGUMENT(Name)                                                                                 \
    PTO_SCRATCH_UNARY(Name)                                                                                \
    PTO_OVERLOAD(Name, (TileObject PtoD, TileObject PtoI, TileObject PtoA, TileObject PtoT), (PtoD &value, PtoI &index, PtoA &src, PtoT &tmp), \
                 (), value, index, src, tmp)
PTO_SCRATCH_UNARY(TROWSUM)
PTO_SCRATCH_UNARY(TROWMAX)
PTO_SCRATCH_UNARY(TROWMIN)
PTO_SCRATCH_UNARY(TROWPROD)
PTO_ARGUMENT(TROWARGMAX)
PTO_ARGUMENT(TROWARGMIN)
PTO_ARGUMENT(TCOLARGMAX)
PTO_ARGUMENT(TCOLARGMIN)
PTO_UNARY(TCOLSUM)
PTO_OVERLOAD(TCOLSUM, (TileObject PtoD, TileObject PtoA, TileObject PtoT), (PtoD &dst, PtoA &src, PtoT &tmp, bool binary), (), dst, src,
             tmp, binary)
PTO_UNARY(TCOLMAX)
PTO_UNARY(TCOLMIN)
PTO_UNARY(TCOLPROD)
PTO_UNARY(TROWEXPAND)
PTO_UNARY(TCOLEXPAND)
#define PTO_ROW_EXPAND(Name) PTO_BINARY(Name) PTO_TERNARY(Name)
PTO_ROW_EXPAND(TROWEXPANDADD)
PTO_ROW_EXPAND(TROWEXPANDSUB)
PTO_ROW_EXPAND(TROWEXPANDMUL)
PTO_ROW_EXPAND(TROWEXPANDMAX)
PTO_ROW_EXPAND(TROWEXPANDMIN)
PTO_ROW_EXPAND(TROWEXPANDEXPDIF)
PTO_BINARY_PRECISE(TROWEXPANDDIV, DivAlgorithm)
PTO_TERNARY_PRECISE(TROWEXPANDDIV, DivAlgorithm)
PTO_BINARY(TCOLEXPANDADD)
PTO_BINARY(TCOLEXPANDSUB)
PTO_BINARY(TCOLEXPANDMUL)
PTO_BINARY(TCOLEXPANDMAX)
PTO_BINARY(TCOLEXPANDMIN)
PTO_BINARY(TCOLEXPANDEXPDIF)
PTO_BINARY_PRECISE(TCOLEXPANDDIV, DivAlgorithm)
PTO_BINARY(TPARTADD)
PTO_BINARY(TPARTMUL)
PTO_BINARY(TPARTMAX)
PTO_BINARY(TPARTMIN)
#define PTO_PART_ARGUMENT(Name)                                                                            \
    PTO_OVERLOAD(Name, (TileObject PtoD, TileObject PtoA, TileObject PtoB, TileObject DI, TileObject AI, TileObject BI), \
                 (PtoD &dst, PtoA &src0, PtoB &src1, DI &index, AI &index0, BI &index1), (), dst, src0, src1, index, index0, index1)
PTO_PART_ARGUMENT(TPARTARGMAX)
PTO_PART_ARGUMENT(TPARTARGMIN)

// Sorting, gathering, filling.

struct MrgSortExecutedNumList {
    uint16_t mrgSortList0, mrgSortList1, mrgSortList2, mrgSortList3;
    struct pto_object {
        static constexpr pto_detail::Text make() { return pto_detail::Text() << "executed:"; }
    };
    template <class Take>
    PTO_INTERNAL auto pto_group(Take take) const
    {
        return take(pto_detail::stored<pto_object>);
    }
};
// A merge that stops with the first list states how many records it took of each. The scalar unit reads them after the
// vector unit is done.
PTO_INTERNAL void pto_read_executed(MrgSortExecutedNumList &executed)
{
#ifndef __PTO_AUTO__
    PtoSetWaitFlag<PIPE_V, PIPE_S>();
#endif
    const uint64_t counts = static_cast<uint64_t>(get_vms4_sr());
    executed = {static_cast<uint16_t>(counts), static_cast<uint16_t>(counts >> 16), static_cast<uint16_t>(counts >> 32),
                static_cast<uint16_t>(counts >> 48)};
}
#define PTO_EXHAUSTED pto_detail::Mode<"exhausted", Exhausted>
PTO_OVERLOAD(TMRGSORT, (TileObject PtoD, TileObject PtoA), (PtoD &dst, PtoA &src, uint32_t block), (), dst, src, block)
#define PTO_MERGE(Template, Parameters, ...)                                                               \
    template <TileObject PtoD, TileObject PtoT, PTO_ARGUMENTS Template, bool Exhausted, Awaited... Events> \
    PTO_INTERNAL RecordEvent TMRGSORT(PtoD &dst, MrgSortExecutedNumList &executed, PtoT &tmp,              \
                                      PTO_ARGUMENTS Parameters, Events &...events)                         \
    {                                                                                                      \
        (events.Wait(), ...);                                                                              \
        pto_detail::issue(PTO_NAMED("TMRGSORT", PTO_EXHAUSTED), dst, executed, tmp, __VA_ARGS__);              \
        if constexpr (Exhausted)                                                                           \
            pto_read_executed(executed);                                                                   \
        return {};                                                                                         \
    }
PTO_MERGE((TileObject PtoA, TileObject PtoB), (PtoA &src0, PtoB &src1), src0, src1)
PTO_MERGE((TileObject PtoA, TileObject PtoB, TileObject PtoC), (PtoA &src0, PtoB &src1, PtoC &src2), src0, src1, src2)
PTO_MERGE((TileObject PtoA, TileObject PtoB, TileObject PtoC, TileObject PtoE), (PtoA &src0, PtoB &src1, PtoC &src2, PtoE &src3), src0, src1,
          src2, src3)
PTO_OVERLOAD(TSORT32, (TileObject PtoD, TileObject PtoA, TileObject PtoI), (PtoD &dst, PtoA &src, PtoI &index), (), dst, src, index)
PTO_OVERLOAD(TSORT32, (TileObject PtoD, TileObject PtoA, TileObject PtoI, TileObject PtoT), (PtoD &dst, PtoA &src, PtoI &index, PtoT &tmp), (),
             dst, src, index, tmp)
PTO_OVERLOAD(TGATHER, (TileObject PtoD, TileObject PtoA, TileObject PtoI, TileObject PtoT), (PtoD &dst, PtoA &src, PtoI &index, PtoT &tmp), (),
             dst, src, index, tmp)
template <TileObject PtoD, TileObject PtoA, TileObject PtoK, TileObject PtoC, TileObject PtoT, CmpMode Mode, Awaited... Events>
PTO_INTERNAL RecordEvent TGATHER(PtoD &dst, PtoA &src, PtoK &value, PtoC &count, PtoT &tmp, int offset, Events &...events)
{
    (events.Wait(), ...);
    pto_detail::issue(PTO_NAMED("TGATHER", pto_detail::Mode<"cmp", Mode>), dst, src, value, count, tmp, offset);
    return {};
}
PTO_OVERLOAD(TGATHER,
             (TileObject PtoD, TileObject PtoA, MaskPattern Mask = MaskPattern::P1111, auto Axis = GatherAxis::GATHER_ROW),
             (PtoD &dst, PtoA &src), (pto_detail::Mode<"mask", Mask>, pto_detail::Mode<"axis", Axis, GatherAxis::GATHER_ROW>), dst,
             src)
PTO_BINARY(TGATHERB)
// Indices on a2a3: the vector unit clears the destination, the scalar unit stores the elements, with flags both ways.
template <TileObject PtoD, TileObject PtoA, TileObject PtoI, Awaited... Events>
PTO_INTERNAL RecordEvent TSCATTER(PtoD &dst, PtoA &src, PtoI &indexes, Events &...events)
{
    (events.Wait(), ...);
#if defined(PTO_NPU_ARCH_A2A3) && !defined(__PTO_AUTO__)
    PtoSetWaitFlag<PIPE_V, PIPE_S>();
#endif
    pto_detail::issue(PTO_NAMED("TSCATTER"), dst, src, indexes);
#if defined(PTO_NPU_ARCH_A2A3) && !defined(__PTO_AUTO__)
    PtoSetWaitFlag<PIPE_S, PIPE_V>();
#endif
    return {};
}
PTO_OVERLOAD(TSCATTER,
             (MaskPattern Mask = MaskPattern::P1111, auto Axis = ScatterAxis::SCATTER_ROW, TileObject PtoD, TileObject PtoA),
             (PtoD &dst, PtoA &src), (pto_detail::Mode<"mask", Mask>, pto_detail::Mode<"axis", Axis, ScatterAxis::SCATTER_ROW>), dst,
             src)
#define PTO_DESCENDING pto_detail::Mode<"descending", Descending>
template <TileObject PtoD, class PtoS, int Descending, Awaited... Events>
PTO_INTERNAL RecordEvent TCI(PtoD &dst, PtoS start, Events &...events)
{
    (events.Wait(), ...);
#if defined(PTO_NPU_ARCH_A2A3)
    // The dialect has sequences of integers; other ones are stored one number after the other, as a2a3 does with all.
    if constexpr (!std::is_integral_v<typename PtoD::DType>) {
        for (int i = 0; i < dst.GetValidCol(); ++i)
            dst.SetValue(i, static_cast<typename PtoD::DType>(Descending ? start - i : start + i));
        return {};
    }
#endif
    pto_detail::issue(PTO_NAMED("TCI", PTO_DESCENDING), dst, start);
    return {};
}
template <TileObject PtoD, TileObject PtoT, class PtoS, int Descending, Awaited... Events>
PTO_INTERNAL RecordEvent TCI(PtoD &dst, PtoS start, PtoT &tmp, Events &...events)
{
    (events.Wait(), ...);
    pto_detail::issue(PTO_NAMED("TCI", PTO_DESCENDING), dst, start, tmp);
    return {};
}
template <TileObject PtoD, int Upper, Awaited... Events>
PTO_INTERNAL RecordEvent TTRI(PtoD &dst, int diagonal, Events &...events)
{
    (events.Wait(), ...);
    pto_detail::issue(PTO_NAMED("TTRI", pto_detail::Mode<"upper", Upper>), dst, diagonal);
    return {};
}
PTO_OVERLOAD(TTRANS, (LocalObject PtoD, LocalObject PtoA, TileObject PtoT), (PtoD &dst, PtoA &src, PtoT &tmp), (), dst, src, tmp)
PTO_OVERLOAD(TCONCAT, (TileObject PtoD, TileObject PtoA, TileObject PtoB), (PtoD &dst, PtoA &src0, PtoB &src1), (), dst, src0, src1)
PTO_OVERLOAD(TCONCAT, (TileObject PtoD, TileObject PtoA, TileObject PtoB, TileObject AI, TileObject BI),
             (PtoD &dst, PtoA &src0, PtoB &src1, AI &index0, BI &index1), (), dst, src0, src1, index0, index1)
PTO_OVERLOAD(TCONCAT, (TileObject PtoD, TileObject PtoA, TileObject PtoB, TileObject DI, TileObject AI, TileObject BI),
             (PtoD &dst, PtoA &src0, PtoB &src1, DI &index, AI &index0, BI &index1), (), dst, src0, src1, index, index0, index1)
template <TileObject PtoD, PadValue Pad = PadValue::Zero, Awaited... Events>
    requires(PtoD::Loc == TileType::Mat)
PTO_INTERNAL RecordEvent TFILLPAD(PtoD &dst, PtoD &src, Events &...events)
{
    (events.Wait(), ...);
    pto_detail::issue(PTO_NAMED("TFILLPAD", pto_detail::Mode<"pad", Pad, PadValue::Zero>), dst, src);
    return {};
}
template <TFillPadMode Fill = TFillPadMode::Normal, TileObject PtoD, TileObject PtoA, Awaited... Events>
    requires(PtoD::Loc == TileType::Vec && PtoA::Loc == TileType::Vec)
PTO_INTERNAL RecordEvent TFILLPAD(PtoD &dst, PtoA &src, Events &...events)
{
    (events.Wait(), ...);
    pto_detail::issue(PTO_NAMED("TFILLPAD", pto_detail::Mode<"fill", Fill, TFillPadMode::Normal>), dst, src);
    return {};
}
PTO_UNARY(TFILLPAD_INPLACE)
PTO_UNARY(TFILLPAD_EXPAND)
template <uint16_t Rounds = 10, TileObject PtoD, Awaited... Events>
PTO_INTERNAL RecordEvent TRANDOM(PtoD &dst, TRandomKey &key, TRandomCounter &counter, Events &...events)
{
    (events.Wait(), ...);
    pto_detail::issue(PTO_NAMED("TRANDOM", pto_detail::Mode<"rounds", Rounds, 10>), dst, key[0], key[1], counter[0], counter[1],
                  counter[2], counter[3]);
    return {};
}
PTO_OVERLOAD(THISTOGRAM, (HistByte Byte, TileObject PtoD, TileObject PtoA, TileObject PtoI), (PtoD &dst, PtoA &src, PtoI &index),
             (pto_detail::Mode<"byte", Byte>), dst, src, index)
PTO_OVERLOAD(TINTERLEAVE, (TileObject PtoD, TileObject PtoA), (PtoD &dst1, PtoD &dst0, PtoA &src1, PtoA &src0), (), dst1, dst0, src1, src0)
PTO_OVERLOAD(TDEINTERLEAVE, (TileObject PtoD, TileObject PtoA), (PtoD &dst1, PtoD &dst0, PtoA &src1, PtoA &src0), (), dst1, dst0, src1,
             src0)
PTO_OVERLOAD(TDEINTERLEAVE, (TileObject PtoD, TileObject PtoA), (PtoD &dst1, PtoD &dst0, PtoA &src), (), dst1, dst0, src)

// Global memory.

PTO_OVERLOAD(TLOAD, (LocalObject PtoD, GlobalObject PtoG), (PtoD &dst, PtoG &src), (), dst, src)
PTO_OVERLOAD(TPREFETCH, (TileObject PtoD, class PtoG), (PtoD &dst, PtoG &src), (), dst, src)
#define PTO_STORE(Name, Front, Back, Parameters, Modes, ...)                                               \
    template <PTO_ARGUMENTS Front TileObject PtoT, GlobalObject PtoG PTO_ARGUMENTS Back, Awaited... Events> \
    PTO_INTERNAL RecordEvent Name(PtoG &dst, PtoT &src PTO_ARGUMENTS Parameters, Events &...events)        \
    {                                                                                                      \
        (events.Wait(), ...);                                                                              \
        pto_detail::issue(PTO_NAMED(#Name, PTO_ARGUMENTS Modes), dst, src __VA_OPT__(, ) __VA_ARGS__);         \
        return {};                                                                                         \
    }
#define PTO_ATOMIC_RELU , AtomicType Atomic = AtomicType::AtomicNone, ReluPreMode Relu = ReluPreMode::NoRelu
PTO_STORE(TSTORE, (), (), (), ())
PTO_STORE(TSTORE, (), (, AtomicType Atomic), (), (PTO_ATOMIC))
PTO_STORE(TSTORE, (), (, AtomicType Atomic, ReluPreMode Relu), (), (PTO_ATOMIC, PTO_RELU))
PTO_STORE(TSTORE, (), (PTO_ATOMIC_RELU), (, uint64_t scale), (PTO_ATOMIC, PTO_RELU), scale)
PTO_STORE(TSTORE, (STPhase Phase, ), (), (), (PTO_PHASE(STPhase)))
PTO_STORE(TSTORE, (STPhase Phase, ), (, AtomicType Atomic), (), (PTO_PHASE(STPhase), PTO_ATOMIC))
PTO_STORE(TSTORE, (STPhase Phase, ), (, AtomicType Atomic, ReluPreMode Relu), (),
          (PTO_PHASE(STPhase), PTO_ATOMIC, PTO_RELU))
PTO_STORE(TSTORE, (STPhase Phase, ), (PTO_ATOMIC_RELU), (, uint64_t scale), (PTO_PHASE(STPhase), PTO_ATOMIC, PTO_RELU),
          scale)
PTO_STORE(TSTORE_FP, (), (, TileObject PtoF PTO_ATOMIC_RELU), (, PtoF &scales), (PTO_ATOMIC, PTO_RELU), scales)

#define PTO_COALESCE pto_detail::Mode<"coalesce", How>
PTO_OVERLOAD(MGATHER, (TileObject PtoD, GlobalObject PtoG, TileObject PtoI), (PtoD &dst, PtoG &src, PtoI &index), (), dst, src, index)
PTO_OVERLOAD(MGATHER, (Coalesce How, TileObject PtoD, GlobalObject PtoG, TileObject PtoI), (PtoD &dst, PtoG &src, PtoI &index),
             (PTO_COALESCE), dst, src, index)
PTO_OVERLOAD(MGATHER, (Coalesce How, GatherOOB Oob, TileObject PtoD, GlobalObject PtoG, TileObject PtoI),
             (PtoD &dst, PtoG &src, PtoI &index), (PTO_COALESCE, pto_detail::Mode<"oob", Oob, GatherOOB::Undefined>), dst, src, index)
PTO_OVERLOAD(MGATHER, (Coalesce How, TileObject PtoD, GlobalObject PtoG, GlobalObject PtoI, GlobalObject PtoS),
             (PtoD &dst, PtoG &src, PtoI &index, PtoS &scratch), (PTO_COALESCE), dst, src, index, scratch)
PTO_OVERLOAD(MGATHER, (Coalesce How, GatherOOB Oob, TileObject PtoD, GlobalObject PtoG, GlobalObject PtoI, GlobalObject PtoS),
             (PtoD &dst, PtoG &src, PtoI &index, PtoS &scratch),
             (PTO_COALESCE, pto_detail::Mode<"oob", Oob, GatherOOB::Undefined>), dst, src, index, scratch)
PTO_OVERLOAD(MGATHER,
             (Coalesce How, GatherOOB Oob, GatherExec Exec, TileObject PtoD, GlobalObject PtoG, GlobalObject PtoI, GlobalObject PtoS),
             (PtoD &dst, PtoG &src, PtoI &index, PtoS &scratch),
             (PTO_COALESCE, pto_detail::Mode<"oob", Oob, GatherOOB::Undefined>, pto_detail::Mode<"exec", Exec>), dst, src,
             index, scratch)
PTO_OVERLOAD(MGATHER, (Coalesce How, TileObject PtoD, GlobalObject PtoG, GlobalObject PtoI), (PtoD &dst, PtoG &src, PtoI &index),
             (PTO_COALESCE), dst, src, index)
PTO_OVERLOAD(MGATHER, (Coalesce How, GatherOOB Oob, TileObject PtoD, GlobalObject PtoG, GlobalObject PtoI),
             (PtoD &dst, PtoG &src, PtoI &index), (PTO_COALESCE, pto_detail::Mode<"oob", Oob, GatherOOB::Undefined>), dst, src,
             index)
#define PTO_SCATTERED(Template, Modes)                                                                     \
    PTO_OVERLOAD(MSCATTER, (PTO_ARGUMENTS Template GlobalObject PtoG, TileObject PtoA, TileObject PtoI),   \
                 (PtoG &dst, PtoA &src, PtoI &index), Modes, dst, src, index)
#define PTO_ATOMIC_OP pto_detail::Mode<"atomicop", Atomic, ScatterAtomicOp::None>
#define PTO_OOB pto_detail::Mode<"oob", Oob, ScatterOOB::Undefined>
PTO_SCATTERED((), ())
PTO_SCATTERED((Coalesce How, ), (PTO_COALESCE))
PTO_SCATTERED((Coalesce How, ScatterAtomicOp Atomic, ), (PTO_COALESCE, PTO_ATOMIC_OP))
PTO_SCATTERED((Coalesce How, ScatterAtomicOp Atomic, ScatterOOB Oob, ), (PTO_COALESCE, PTO_ATOMIC_OP, PTO_OOB))
PTO_SCATTERED((Coalesce How, ScatterAtomicOp Atomic, ScatterOOB Oob, ScatterConflict Conflict, ),
              (PTO_COALESCE, PTO_ATOMIC_OP, PTO_OOB, pto_detail::Mode<"conflict", Conflict, ScatterConflict::Last>))

// Between local memories.

PTO_SCRATCH_UNARY(TMOV)
#define PTO_MOVE(Name, Front, Back, Parameters, Modes, ...)                                                \
    template <PTO_ARGUMENTS Front LocalObject PtoD, LocalObject PtoA PTO_ARGUMENTS Back, Awaited... Events> \
    PTO_INTERNAL RecordEvent Name(PtoD &dst, PtoA &src PTO_ARGUMENTS Parameters, Events &...events)        \
    {                                                                                                      \
        (events.Wait(), ...);                                                                              \
        pto_detail::issue(PTO_NAMED(#Name, PTO_ARGUMENTS Modes), dst, src __VA_OPT__(, ) __VA_ARGS__);         \
        return {};                                                                                         \
    }
#define PTO_DEFAULT_RELU ReluPreMode Relu = ReluPreMode::NoRelu
#define PTO_STPHASE PTO_PHASE(STPhase)
PTO_MOVE(TMOV, (), (), (), ())
PTO_MOVE(TMOV, (int Group, ), (, TileObject PtoT), (, PtoT &tmp), (pto_detail::Mode<"grpaxis", Group>), tmp)
PTO_MOVE(TMOV, (), (, ReluPreMode Relu), (), (PTO_RELU))
PTO_MOVE(TMOV, (), (, AccToVecMode ToVec, PTO_DEFAULT_RELU), (), (PTO_TO_VEC, PTO_RELU))
PTO_MOVE(TMOV, (), (, TileObject PtoF, AccToVecMode ToVec, PTO_DEFAULT_RELU), (, PtoF &scales), (PTO_TO_VEC, PTO_RELU), scales)
PTO_MOVE(TMOV, (), (, PTO_DEFAULT_RELU), (, uint64_t scale), (PTO_RELU), scale)
PTO_MOVE(TMOV, (), (, AccToVecMode ToVec, PTO_DEFAULT_RELU), (, uint64_t scale), (PTO_TO_VEC, PTO_RELU), scale)
PTO_MOVE(TMOV_FP, (), (, TileObject PtoF, PTO_DEFAULT_RELU), (, PtoF &scales), (PTO_RELU), scales)
PTO_MOVE(TMOV, (STPhase Phase, ), (), (), (PTO_STPHASE))
PTO_MOVE(TMOV, (STPhase Phase, ), (, ReluPreMode Relu), (), (PTO_STPHASE, PTO_RELU))
PTO_MOVE(TMOV, (STPhase Phase, ), (, AccToVecMode ToVec, PTO_DEFAULT_RELU), (), (PTO_STPHASE, PTO_TO_VEC, PTO_RELU))
PTO_MOVE(TMOV, (STPhase Phase, ), (, TileObject PtoF, AccToVecMode ToVec, PTO_DEFAULT_RELU), (, PtoF &scales),
         (PTO_STPHASE, PTO_TO_VEC, PTO_RELU), scales)
PTO_MOVE(TMOV, (STPhase Phase, ), (, PTO_DEFAULT_RELU), (, uint64_t scale), (PTO_STPHASE, PTO_RELU), scale)
PTO_MOVE(TMOV, (STPhase Phase, ), (, AccToVecMode ToVec, PTO_DEFAULT_RELU), (, uint64_t scale),
         (PTO_STPHASE, PTO_TO_VEC, PTO_RELU), scale)
PTO_MOVE(TMOV_FP, (STPhase Phase, ), (, TileObject PtoF, PTO_DEFAULT_RELU), (, PtoF &scales), (PTO_STPHASE, PTO_RELU), scales)

#define PTO_ROW_COL , uint16_t row, uint16_t col
PTO_MOVE(TEXTRACT, (), (), (, uint16_t row = 0, uint16_t col = 0), (), row, col)
PTO_MOVE(TINSERT, (), (), (PTO_ROW_COL), (), row, col)
PTO_MOVE(TINSERT, (TInsertMode Insert, ), (), (, uint16_t row = 0, uint16_t col = 0), (pto_detail::Mode<"insert", Insert>),
         row, col)
#define PTO_PART(Name)                                                                                     \
    PTO_MOVE(Name, (), (, ReluPreMode Relu), (PTO_ROW_COL), (PTO_RELU), row, col)                          \
    PTO_MOVE(Name, (), (, AccToVecMode ToVec, PTO_DEFAULT_RELU), (PTO_ROW_COL), (PTO_TO_VEC, PTO_RELU), row, col) \
    PTO_MOVE(Name, (), (, PTO_DEFAULT_RELU), (, uint64_t scale PTO_ROW_COL), (PTO_RELU), scale, row, col)  \
    PTO_MOVE(Name, (), (, AccToVecMode ToVec, PTO_DEFAULT_RELU), (, uint64_t scale PTO_ROW_COL),           \
             (PTO_TO_VEC, PTO_RELU), scale, row, col)                                                      \
    PTO_MOVE(Name##_FP, (), (, TileObject PtoF, PTO_DEFAULT_RELU), (, PtoF &scales PTO_ROW_COL), (PTO_RELU), scales, row, col) \
    PTO_MOVE(Name, (), (, TileObject PtoF, AccToVecMode ToVec, PTO_DEFAULT_RELU), (, PtoF &scales PTO_ROW_COL), \
             (PTO_TO_VEC, PTO_RELU), scales, row, col)
PTO_PART(TEXTRACT)
PTO_PART(TINSERT)
PTO_OVERLOAD(TEXTRACT, (TileObject PtoD, TileObject PtoE, TileObject PtoA),
             (PtoD &dst0, PtoE &dst1, PtoA &src, uint16_t row0 = 0, uint16_t col0 = 0, uint16_t row1 = 0, uint16_t col1 = 0), (),
             dst0, dst1, src, row0, col0, row1, col1)

// Matrix products. A phase states that the sums continue.

#define PTO_MATRIX(Name, Template, Parameters, ...)                                                        \
    PTO_OVERLOAD(Name, Template, Parameters, (), __VA_ARGS__)                                              \
    PTO_OVERLOAD(Name, (AccPhase Phase, PTO_ARGUMENTS Template), Parameters, (PTO_PHASE(AccPhase)), __VA_ARGS__)
#define PTO_CAB TileObject PtoC, TileObject PtoA, TileObject PtoB
#define PTO_MATRICES(Name)                                                                                 \
    PTO_MATRIX(Name, (PTO_CAB), (PtoC &acc, PtoA &left, PtoB &right), acc, left, right)                    \
    PTO_MATRIX(Name##_ACC, (PTO_CAB), (PtoC &out, PtoC &in, PtoA &left, PtoB &right), out, in, left, right) \
    PTO_MATRIX(Name##_ACC, (PTO_CAB), (PtoC &acc, PtoA &left, PtoB &right), acc, left, right)              \
    PTO_MATRIX(Name##_BIAS, (PTO_CAB, TileObject Bias), (PtoC &acc, PtoA &left, PtoB &right, Bias &bias), acc, left, right, bias)
#define PTO_SCALED TileObject PtoC, TileObject PtoA, TileObject AS, TileObject PtoB, TileObject BS
#define PTO_SCALED_PAIR PtoA &left, AS &left_scale, PtoB &right, BS &right_scale
#define PTO_SCALED_MATRICES(Name)                                                                          \
    PTO_MATRIX(Name, (PTO_SCALED), (PtoC &acc, PTO_SCALED_PAIR), acc, left, left_scale, right, right_scale) \
    PTO_MATRIX(Name, (PTO_SCALED), (PtoC &out, PtoC &in, PTO_SCALED_PAIR), out, in, left, left_scale, right, right_scale) \
    PTO_MATRIX(Name, (PTO_SCALED, TileObject Bias), (PtoC &acc, PTO_SCALED_PAIR, Bias &bias), acc, left, left_scale, \
               right, right_scale, bias)
PTO_MATRICES(TMATMUL)
PTO_MATRICES(TGEMV)
PTO_SCALED_MATRICES(TMATMUL_MX)
PTO_SCALED_MATRICES(TGEMV_MX)

#define PTO_FMATRIX pto_detail::Mode<"fmatrix", Matrix, SetFmatrixMode::FMATRIX_A_MANUAL>
#define PTO_CONV(Name)                                                                                     \
    PTO_OVERLOAD(Name, (ConvObject PtoV, SetFmatrixMode Matrix = SetFmatrixMode::FMATRIX_A_MANUAL), (PtoV &src), (PTO_FMATRIX), src)
PTO_CONV(SETFMATRIX)
PTO_CONV(SET_IMG2COL_RPT)
PTO_CONV(SET_IMG2COL_PADDING)
PTO_OVERLOAD(TIMG2COL, (TileObject PtoD, ConvObject PtoV, SetFmatrixMode Matrix = SetFmatrixMode::FMATRIX_A_MANUAL),
             (PtoD &dst, PtoV &src, uint16_t m = 0, uint16_t k = 0), (PTO_FMATRIX), dst, src, m, k)
template <class Out, Awaited... Events>
PTO_INTERNAL void SET_QUANT_SCALAR(float scale, Events &...events)
{
    (events.Wait(), ...);
    pto_detail::issue("SET_QUANT_SCALAR", scale);
}
PTO_OVERLOAD(SET_QUANT_VECTOR, (TileObject PtoF), (PtoF &scales), (), scales)

// Quantisation.

PTO_OVERLOAD(TDEQUANT, (TileObject PtoD, TileObject PtoA, TileObject PtoP), (PtoD &dst, PtoA &src, PtoP &scale, PtoP &offset), (), dst, src,
             scale, offset)
#define PTO_QUANT pto_detail::Mode<"quant", Quant>
PTO_OVERLOAD(TQUANT, (auto Quant, TileObject PtoD, TileObject PtoA, TileObject PtoP), (PtoD &dst, PtoA &src, PtoP &scale), (PTO_QUANT),
             dst, src, scale)
PTO_OVERLOAD(TQUANT, (auto Quant, TileObject PtoD, TileObject PtoA, TileObject PtoP), (PtoD &dst, PtoA &src, PtoP &scale, PtoP *offset),
             (PTO_QUANT), dst, src, scale, *offset)
PTO_OVERLOAD(TQUANT, (auto Quant, TileObject PtoD, TileObject PtoA, TileObject PtoP, TileObject PtoT),
             (PtoD &dst, PtoA &src, PtoP &scale, PtoT &tmp), (PTO_QUANT), dst, src, scale, tmp)
PTO_OVERLOAD(TQUANT, (auto Quant, TileObject PtoD, TileObject PtoA, TileObject PtoP, TileObject PtoT),
             (PtoD &dst, PtoA &src, PtoP &scale, PtoT &tmp, PtoP *offset), (PTO_QUANT), dst, src, scale, tmp, *offset)
#define PTO_MX_TILES TileObject PtoD, TileObject PtoA, TileObject PtoE, TileObject PtoM, TileObject PtoS
#define PTO_MX_PARAMETERS PtoD &dst, PtoA &src, PtoE *exponent, PtoM *most, PtoS *scaling
template <auto Quant, PTO_MX_TILES, auto Algorithm = QuantScaleAlg::OCP, Awaited... Events>
PTO_INTERNAL RecordEvent TQUANT(PTO_MX_PARAMETERS, Events &...events)
{
    (events.Wait(), ...);
    pto_detail::issue(PTO_NAMED("TQUANT", PTO_QUANT, pto_detail::Mode<"scalealg", Algorithm, QuantScaleAlg::OCP>), dst, src,
                  *exponent, *most, *scaling);
    return {};
}
PTO_OVERLOAD(TQUANT, (auto Quant, auto Store, PTO_MX_TILES), (PTO_MX_PARAMETERS, PtoE *exponent_zz),
             (PTO_QUANT, pto_detail::Mode<"store", Store>), dst, src, *exponent, *most, *scaling, *exponent_zz)
PTO_OVERLOAD(TQUANT, (int Group, MxQuantAlg Quant, PTO_MX_TILES), (PTO_MX_PARAMETERS),
             (pto_detail::Mode<"grpaxis", Group>, PTO_QUANT), dst, src, *exponent, *most, *scaling)
PTO_OVERLOAD(TQUANT, (int Group, MxQuantAlg Quant, bool Interleave, PTO_MX_TILES), (PTO_MX_PARAMETERS),
             (pto_detail::Mode<"grpaxis", Group>, PTO_QUANT, pto_detail::Mode<"interleave", Interleave>), dst, src, *exponent,
             *most, *scaling)

// The name under which the library has the body of an operation.
#define PTO_IMPLEMENTED(Name)                              \
    template <class... PtoT>                               \
    PTO_INTERNAL void Name##_IMPL(PtoT &...operands)       \
    {                                                      \
        Name(operands...);                                 \
    }
PTO_IMPLEMENTED(TCONCAT)
PTO_IMPLEMENTED(TLOAD)
PTO_IMPLEMENTED(TCOLEXPAND)
PTO_IMPLEMENTED(TROWEXPANDSUB)
template <TileObject PtoT, GlobalObject PtoG, AtomicType Atomic = AtomicType::AtomicNone>
PTO_INTERNAL void TSTORE_IMPL(PtoG &dst, PtoT &src)
{
    TSTORE<PtoT, PtoG, Atomic>(dst, src);
}
template <class PtoT, class Address>
PTO_INTERNAL void TASSIGN_IMPL(PtoT &tile, Address address)
{
    TASSIGN(tile, address);
}

// Printing.

template <PrintFormat Format = PrintFormat::Width8_Precision4, TileObject PtoT, GlobalObject... Tmp>
PTO_INTERNAL void TPRINT(PtoT &src, Tmp &...tmp)
{
    pto_detail::issue(PTO_NAMED("TPRINT", pto_detail::Mode<"format", Format, PrintFormat::Width8_Precision4>), src, tmp...);
}

#if defined(PTO_NPU_ARCH_A5)
// A TMOV from rows to boxes of 16 rows, as kernels call it below the interface.
template <class PtoT, class PtoD, class PtoS>
PTO_INTERNAL void TMovToVecNd2Nz(typename PtoD::TileDType dst, typename PtoS::TileDType src, uint32_t rows, uint32_t cols, uint32_t)
{
    PtoD to;
    PtoS from;
    to.data() = dst;
    from.data() = src;
    to.RowMaskInternal = from.RowMaskInternal = rows;
    to.ColMaskInternal = from.ColMaskInternal = cols;
    pto_detail::issue("TMOV", to, from);
}
#endif

// Queues between cores.

#define PTO_SPLIT pto_detail::Mode<"split", Split>
template <class PtoP, TileObject PtoT, TileSplitAxis Split, Awaited... Events>
PTO_INTERNAL RecordEvent TPUSH(PtoP &pipe, PtoT &tile, Events &...events)
{
    (events.Wait(), ...);
    pto_detail::issue(PTO_NAMED("TPUSH", PTO_SPLIT), tile, pipe);
    return {};
}
template <class PtoP, TileObject PtoT, TileSplitAxis Split, Awaited... Events>
PTO_INTERNAL RecordEvent TPUSH(PtoP &pipe, PtoT &tile, int32_t subblock, Events &...events)
{
    (events.Wait(), ...);
    pto_detail::issue(PTO_NAMED("TPUSH", PTO_SPLIT), tile, pipe, subblock);
    return {};
}
template <class PtoP, TileObject PtoT, FixpipeConfig PtoF, Awaited... Events>
PTO_INTERNAL RecordEvent TPUSH(PtoP &pipe, PtoT &tile, Events &...events)
{
    (events.Wait(), ...);
    pto_detail::issue(pto_detail::stored<pto_detail::FixpipeName<PtoF>>, tile, pipe);
    return {};
}
template <TileObject PtoT, QueueObject PtoP, Awaited... Events>
PTO_INTERNAL RecordEvent TPUSH(PtoT &tile, PtoP &pipe, Events &...events)
{
    (events.Wait(), ...);
    pto_detail::issue("TPUSH", tile, pipe);
    return {};
}
template <class PtoP, TileObject PtoT, TileSplitAxis Split, Awaited... Events>
PTO_INTERNAL RecordEvent TPOP(PtoP &pipe, PtoT &tile, Events &...events)
{
    (events.Wait(), ...);
    tile.pto_address = -1; // where the tile was does not matter
    tile.pto_address = pto_detail::alias(PTO_NAMED("TPOP", PTO_SPLIT), tile, pipe);
    return {};
}
template <class PtoP, TileObject PtoT, TileSplitAxis Split, Awaited... Events>
PTO_INTERNAL RecordEvent TPOP(PtoP &pipe, PtoT &tile, int32_t subblock, Events &...events)
{
    (events.Wait(), ...);
    tile.pto_address = -1; // where the tile was does not matter
    tile.pto_address = pto_detail::alias(PTO_NAMED("TPOP", PTO_SPLIT), tile, pipe, subblock);
    return {};
}
template <TileObject PtoT, QueueObject PtoP, Awaited... Events>
PTO_INTERNAL RecordEvent TPOP(PtoT &tile, PtoP &pipe, Events &...events)
{
    (events.Wait(), ...);
    tile.pto_address = -1; // where the tile was does not matter
    tile.pto_address = pto_detail::alias("TPOP", tile, pipe);
    return {};
}
// Slots in global memory: the queue decides where the tensor is.
#define PTO_SLOT(Name)                                                                                     \
    template <class PtoP, GlobalObject PtoG, TileSplitAxis Split, Awaited... Events>                       \
    PTO_INTERNAL RecordEvent Name(PtoP &pipe, PtoG &tensor, Events &...events)                             \
    {                                                                                                      \
        (events.Wait(), ...);                                                                              \
        tensor.SetAddr(nullptr); /* where the tensor was does not matter */                                \
        tensor.SetAddr(pto_detail::query<typename PtoG::DType *>(PTO_NAMED(#Name, PTO_SPLIT), tensor, pipe));  \
        return {};                                                                                         \
    }
PTO_SLOT(TALLOC)
PTO_SLOT(TPOP)
#define PTO_SLOT_DONE(Name)                                                                                \
    template <class PtoP, GlobalObject PtoG, TileSplitAxis Split, Awaited... Events>                       \
    PTO_INTERNAL RecordEvent Name(PtoP &pipe, PtoG &tensor, Events &...events)                             \
    {                                                                                                      \
        (events.Wait(), ...);                                                                              \
        pto_detail::issue(PTO_NAMED(#Name, PTO_SPLIT), tensor, pipe);                                          \
        return {};                                                                                         \
    }
PTO_SLOT_DONE(TPUSH)
PTO_SLOT_DONE(TFREE)
template <class PtoP, TileSplitAxis Split, Awaited... Events>
PTO_INTERNAL RecordEvent TFREE(PtoP &pipe, Events &...events)
{
    (events.Wait(), ...);
    pto_detail::issue(PTO_NAMED("TFREE", PTO_SPLIT), pipe);
    return {};
}
template <QueueObject PtoP, Awaited... Events>
PTO_INTERNAL RecordEvent TFREE(PtoP &pipe, Events &...events)
{
    (events.Wait(), ...);
    pto_detail::issue("TFREE", pipe);
    return {};
}

} // namespace pto
