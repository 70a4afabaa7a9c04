// Events: a flag from the pipe of one operation to that of another.
#pragma once
#include "pto/common/type.hpp"

#define EVENT_ID_MAX 8

namespace pto {

// Operations that an event can name, and the pipe of each.
#define PTO_LIST(X) \
    X(TLOAD, PIPE_MTE2) X(TSTORE_VEC, PIPE_MTE3) X(SCALAR, PIPE_S) X(TRESHAPE, PIPE_S) X(VECTOR, PIPE_V) \
    X(TADD, PIPE_V) X(TADDS, PIPE_V) X(TAXPY, PIPE_V) X(TSUB, PIPE_V) X(TMUL, PIPE_V) X(TMULS, PIPE_V) \
    X(TDIV, PIPE_V) X(TDIVS, PIPE_V) X(TMIN, PIPE_V) X(TMINS, PIPE_V) X(TMAX, PIPE_V) X(TAND, PIPE_V) \
    X(TOR, PIPE_V) X(TSEL, PIPE_V) X(TSHL, PIPE_V) X(TSHR, PIPE_V) X(TEXP, PIPE_V) X(TSELS, PIPE_V) \
    X(TSQRT, PIPE_V) X(TRSQRT, PIPE_V) X(TEXPANDS, PIPE_V) X(TEXPANDS_MAT, PIPE_MTE2) X(TPARTADD, PIPE_V) \
    X(TPARTMUL, PIPE_V) X(TPARTMAX, PIPE_V) X(TPARTMIN, PIPE_V) X(TPOW, PIPE_V) X(TPOWS, PIPE_V) \
    X(TCMPS, PIPE_V) X(TMRGSORT, PIPE_V) X(TSORT32, PIPE_V) X(TCI, PIPE_S) X(TGATHER, PIPE_V) \
    X(TGATHERB, PIPE_V) X(TCVT, PIPE_V) X(TROWSUM, PIPE_V) X(TROWPROD, PIPE_V) X(TROWMAX, PIPE_V) \
    X(TROWMIN, PIPE_V) X(TROWEXPAND, PIPE_V) X(TRANDOM, PIPE_V) X(TCOLSUM, PIPE_V) X(TCOLPROD, PIPE_V) \
    X(TCOLMAX, PIPE_V) X(TCOLMIN, PIPE_V) X(TTRANS, PIPE_V) X(TTRI, PIPE_V) X(TREM, PIPE_V) X(TFMOD, PIPE_V) \
    X(TREMS, PIPE_V) X(TFMODS, PIPE_V) X(TSUBS, PIPE_V) X(TMAXS, PIPE_V) X(TLRELU, PIPE_V) X(TPRELU, PIPE_V) \
    X(TMOV_V2V, PIPE_V) X(TMOV_V2M, PIPE_FIX) X(TEXTRACT_V2M, PIPE_FIX) X(TMOV_M2B, PIPE_MTE1) \
    X(TMOV_M2L, PIPE_MTE1) X(TMOV_M2R, PIPE_MTE1) X(TMOV_M2S, PIPE_FIX) X(TMOV_A2V, PIPE_FIX) \
    X(TMOV_A2M, PIPE_FIX) X(TSTORE_ACC, PIPE_FIX) X(TSTORE_MAT, PIPE_MTE3) X(TMATMUL, PIPE_M) X(TGEMV, PIPE_M) \
    X(TEXTRACT_M2LR, PIPE_MTE1) X(TANDS, PIPE_V) X(TORS, PIPE_V) X(TSHLS, PIPE_V) X(TSHRS, PIPE_V) \
    X(TXOR, PIPE_V) X(TXORS, PIPE_V) X(TEXTRACT_A2M, PIPE_FIX) X(TINSERT_A2M, PIPE_FIX) X(TIMG2COL, PIPE_MTE1) \
    X(SETFMATRIX, PIPE_S) X(SET_IMG2COL_RPT, PIPE_S) X(SET_IMG2COL_PADDING, PIPE_S) X(TCONCAT, PIPE_V) \
    X(TDEQUANT, PIPE_V) X(TADDDEQRELU, PIPE_V) X(TABS, PIPE_V) X(TNEG, PIPE_V) X(TRELU, PIPE_V) \
    X(TNOT, PIPE_V) X(TLOG, PIPE_V) X(TRECIP, PIPE_V) X(TCMP, PIPE_V) X(TSCATTER, PIPE_V) \
    X(TCOLEXPAND, PIPE_V) X(TCOLEXPANDDIV, PIPE_V) X(TCOLEXPANDMUL, PIPE_V) X(TCOLEXPANDADD, PIPE_V) \
    X(TCOLEXPANDMAX, PIPE_V) X(TCOLEXPANDMIN, PIPE_V) X(TCOLEXPANDSUB, PIPE_V) X(TCOLEXPANDEXPDIF, PIPE_V) \
    X(TROWEXPANDDIV, PIPE_V) X(TROWEXPANDMUL, PIPE_V) X(TROWEXPANDSUB, PIPE_V) X(TROWEXPANDADD, PIPE_V) \
    X(TROWEXPANDMAX, PIPE_V) X(TROWEXPANDMIN, PIPE_V) X(TROWEXPANDEXPDIF, PIPE_V) X(TPAIRREDUCESUM, PIPE_V) \
    X(TSUBRELUCONV, PIPE_V) X(TADDRELUCONV, PIPE_V) X(TFUSEDMULADD, PIPE_V) X(TMULADDDST, PIPE_V) \
    X(TSUBRELU, PIPE_V) X(TFUSEDMULADDRELU, PIPE_V) X(TPARTARGMAX, PIPE_V) X(TPARTARGMIN, PIPE_V) \
    X(TCOLARGMAX, PIPE_V) X(TCOLARGMIN, PIPE_V) X(TROWARGMAX, PIPE_V) X(TROWARGMIN, PIPE_V) \
    X(TPREFETCH, PIPE_MTE2) X(TFILLPAD_VEC, PIPE_V) X(TFILLPAD_MAT, PIPE_MTE2) X(MGATHER_VEC, PIPE_V) \
    X(MGATHER_MAT, PIPE_MTE2) X(MSCATTER, PIPE_V) X(TQUANT, PIPE_V) X(THISTOGRAM, PIPE_V) \
    X(TINTERLEAVE, PIPE_V) X(TDEINTERLEAVE, PIPE_V)
#define PTO_NAME_OF(name, pipe) name,
#define PTO_PIPE_OF(name, pipe) \
    case Op::name:              \
        return pipe;
enum class Op : uint16_t { PTO_LIST(PTO_NAME_OF) OP_COUNT };
constexpr pipe_t pipe_of(Op operation)
{
    switch (operation) {
        PTO_LIST(PTO_PIPE_OF)
        default:
            return PIPE_ALL;
    }
}
#undef PTO_LIST

struct RecordEvent {};
struct EventBaseTag {};

template <class PtoT>
struct is_event : std::is_base_of<EventBaseTag, PtoT> {};
template <class... PtoT>
inline constexpr bool all_events_v = (is_event<PtoT>::value && ...);
template <class PtoT>
concept Awaited = is_event<PtoT>::value;

// The flag of an event is known when the event is made; between operations of one pipe an event is a barrier.
template <Op SrcOp, Op DstOp, bool AutoToken = true, event_t EventID = EVENT_ID0>
struct Event : EventBaseTag {
    static constexpr Op srcOp = SrcOp, dstOp = DstOp;
    static constexpr pipe_t srcPipe = pipe_of(SrcOp), dstPipe = pipe_of(DstOp);
    static constexpr bool isSamePipe = srcPipe == dstPipe;
    static constexpr bool IsCrossCore = (SrcOp == Op::TMOV_A2V && dstPipe == PIPE_V) ||
        ((SrcOp == Op::TMOV_V2M || SrcOp == Op::TEXTRACT_V2M) && dstPipe == PIPE_MTE1);
    static_assert(IsCrossCore || (srcPipe != PIPE_ALL && dstPipe != PIPE_ALL), "an event names two operations of one pipe each");
    static_assert(!IsCrossCore || !AutoToken, "an event between cores takes its flag from its user: Event<A, B, false, ID>");

    event_t token;

    PTO_INTERNAL Event() : token(EventID)
    {
        if constexpr (AutoToken && !isSamePipe)
            token = static_cast<event_t>(__pto_query<int>("event_id", static_cast<int>(srcPipe), static_cast<int>(dstPipe)));
    }
    PTO_INTERNAL Event(RecordEvent) : Event() { Init(); }
    PTO_INTERNAL Event &operator=(RecordEvent) { return Init(); }

    template <uint8_t CrossCoreId = 0xff>
    PTO_INTERNAL Event &Init()
    {
        if constexpr (IsCrossCore) {
            static_assert(CrossCoreId != 0xff, "an event between cores needs Init<ID>() and Wait<ID>()");
            ffts_cross_core_sync(srcPipe, 0x21 | CrossCoreId << 8);
        } else if constexpr (!isSamePipe)
            set_flag(srcPipe, dstPipe, token);
        return *this;
    }
    template <uint8_t CrossCoreId = 0xff>
    PTO_INTERNAL Event &Record()
    {
        return Init<CrossCoreId>();
    }
    template <uint8_t CrossCoreId = 0xff>
    PTO_INTERNAL Event &Wait()
    {
        if constexpr (IsCrossCore) {
            static_assert(CrossCoreId != 0xff, "an event between cores needs Init<ID>() and Wait<ID>()");
            wait_flag_dev(CrossCoreId);
        } else if constexpr (isSamePipe)
            pipe_barrier(srcPipe);
        else
            wait_flag(srcPipe, dstPipe, token);
        return *this;
    }
    PTO_INTERNAL Event &InitAddr(uint64_t address)
    {
        set_ffts_base_addr(address);
        return *this;
    }
};

template <class... Events>
PTO_INTERNAL void WaitAllEvents(Events &...events)
{
    (events.Wait(), ...);
}

template <pipe_t Source, pipe_t Destination>
PTO_INTERNAL void PtoSetWaitFlag(event_t set = EVENT_ID0, event_t wait = EVENT_ID0)
{
    set_flag(Source, Destination, set);
    wait_flag(Source, Destination, wait);
}

} // namespace pto
