// Collectives on the vector core, of the calling rank's transfers with each rank: TGET, TPUT, and sums of loaded tiles.
// For those of the CCU the core stores its tile, where it is to, and the ranks in the slot of the CCU, which begins then.
#pragma once
#include "pto/comm/comm_types.hpp"
#include "pto/common/pto_instr.hpp"

namespace pto::comm::collectives {

// The lines of a tensor that belong to a rank: the tensors of all ranks follow each other along dimension 3.
template <class PtoW, class PtoG>
PTO_INTERNAL auto part_of_rank(const PtoW &whole, const PtoG &own, int rank)
{
    using Part = GlobalTensor<typename PtoW::RawDType, typename PtoG::Shape, typename PtoW::Stride, PtoW::layout>;
    return Part(whole.data() + rank * own.GetShape(3) * whole.GetStride(3), own.pto_shape(), whole.pto_stride());
}

template <class PtoG>
using Window = GlobalTensor<typename PtoG::RawDType, Shape<1, 1, 1, DYNAMIC, DYNAMIC>,
                            Stride<DYNAMIC, DYNAMIC, DYNAMIC, DYNAMIC, DYNAMIC>, PtoG::layout>;

// A matrix of a tensor that a tile takes: where it begins, and how large it is.
struct Place {
    int64_t offset, rows, cols;
};
template <class PtoG>
PTO_INTERNAL Window<PtoG> window_of(const PtoG &tensor, const Place &place)
{
    using Found = Window<PtoG>;
    return Found(tensor.data() + place.offset, typename Found::Shape(place.rows, place.cols),
                 typename Found::Stride(tensor.GetStride(0), tensor.GetStride(1), tensor.GetStride(2),
                                        tensor.GetStride(3), tensor.GetStride(4)));
}
template <class PtoT>
PTO_INTERNAL void resize(PtoT &tile, const Place &place)
{
    if constexpr (PtoT::ValidRow == DYNAMIC)
        tile.RowMaskInternal = place.rows;
    if constexpr (PtoT::ValidCol == DYNAMIC)
        tile.ColMaskInternal = place.cols;
}

template <class PtoP, class PtoG, class PtoT>
PTO_INTERNAL void reduce(const PtoP &group, PtoG &dst, PtoT &acc, PtoT &next, ReduceOp operation, const Place &place)
{
    resize(acc, place);
    resize(next, place);
    auto first = window_of(group[0], place);
    TLOAD(acc, first);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    for (int rank = 1; rank < group.GetSize(); ++rank) {
        auto other = window_of(group[rank], place);
        TLOAD(next, other);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        if (operation == ReduceOp::Max)
            TMAX(acc, acc, next);
        else if (operation == ReduceOp::Min)
            TMIN(acc, acc, next);
        else
            TADD(acc, acc, next);
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    }
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    auto target = window_of(dst, place);
    TSTORE(target, acc);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
}

} // namespace pto::comm::collectives

namespace pto::comm {

// The CCU takes a slot with this bit.
constexpr uint64_t kCkeValidBit = 1ull << 63;
template <GlobalObject PtoG, TileObject PtoT>
PTO_INTERNAL void pto_trigger(PtoG &tensor, PtoT &tile, const CcuTriggerContext &context, bool stores)
{
    if (stores && context.inputSource == CcuInputSource::AivStored) {
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(tensor, tile);
        pipe_barrier(PIPE_MTE3);
    }
    auto slot = reinterpret_cast<volatile uint64_t *>(context.ckeSlotVA);
    dcci((void *)slot, ENTIRE_DATA_CACHE);
    *slot = context.mask | kCkeValidBit;
    dcci((void *)slot, ENTIRE_DATA_CACHE);
    dsb(DSB_DDR);
    pipe_barrier(PIPE_ALL);
}
// Each rank has its part of the group, or the root has all.
template <GroupObject PtoP, TileObject PtoT>
PTO_INTERNAL void pto_trigger_own(PtoP &group, PtoT &tile, const CcuTriggerContext &context)
{
    pto_trigger(group[context.selfIdx], tile, context, true);
}
template <GroupObject PtoP, GlobalObject PtoG, TileObject PtoT>
PTO_INTERNAL void pto_trigger_root(PtoP &group, PtoG &tensor, PtoT &tile, const CcuTriggerContext &context)
{
    pto_trigger(tensor, tile, context, static_cast<int>(context.selfIdx) == group.GetRootIdx());
}

#define PTO_RANKS template <CollEngine Engine, GroupObject PtoP, GlobalObject PtoG, class... PtoT>
PTO_RANKS PTO_INTERNAL void pto_gather(PtoP &group, PtoG &tensor, PtoT &...tiles)
{
    for (int rank = 0; rank < group.GetSize(); ++rank) {
        auto part = collectives::part_of_rank(tensor, group[rank], rank);
        TGET(part, group[rank], tiles...);
    }
}
PTO_RANKS PTO_INTERNAL void pto_scatter(PtoP &group, PtoG &tensor, PtoT &...tiles)
{
    for (int rank = 0; rank < group.GetSize(); ++rank) {
        auto part = collectives::part_of_rank(tensor, group[rank], rank);
        TPUT(group[rank], part, tiles...);
    }
}
PTO_RANKS PTO_INTERNAL void pto_broadcast(PtoP &group, PtoG &tensor, PtoT &...tiles)
{
    for (int rank = 0; rank < group.GetSize(); ++rank)
        TPUT(group[rank], tensor, tiles...);
}
template <GroupObject PtoP, GlobalObject PtoG, TileObject PtoT>
PTO_INTERNAL void pto_reduce(PtoP &group, PtoG &dst, PtoT &acc, PtoT &next, ReduceOp operation)
{
    const int64_t lines = PtoT::ValidRow == DYNAMIC ? PtoT::Rows : PtoT::ValidRow;
    const int64_t length = PtoT::ValidCol == DYNAMIC ? PtoT::Cols : PtoT::ValidCol;
    for (int64_t first = 0; first < dst.GetShape(0); ++first)
        for (int64_t second = 0; second < dst.GetShape(1); ++second)
            for (int64_t third = 0; third < dst.GetShape(2); ++third)
                for (int64_t row = 0; row < dst.GetShape(3); row += lines)
                    for (int64_t col = 0; col < dst.GetShape(4); col += length) {
                        const int64_t outer = first * dst.GetStride(0) + second * dst.GetStride(1) + third * dst.GetStride(2);
                        const int64_t offset = outer + row * dst.GetStride(3) + col * dst.GetStride(4);
                        collectives::reduce(group, dst, acc, next, operation,
                                           {offset, min(lines, dst.GetShape(3) - row), min(length, dst.GetShape(4) - col)});
                    }
}

} // namespace pto::comm
