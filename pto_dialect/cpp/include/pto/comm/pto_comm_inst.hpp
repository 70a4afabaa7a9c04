// Operations between ranks.
#pragma once
#include "pto/comm/comm_types.hpp"
#include "pto/common/pto_instr.hpp"

namespace pto::comm {

template <class PtoT>
inline constexpr bool is_group = false;
template <class PtoG>
inline constexpr bool is_group<ParallelGroup<PtoG>> = true;
template <class PtoT>
concept GroupObject = is_group<std::remove_cv_t<PtoT>>;

#define PTO_GG GlobalObject PtoD, GlobalObject PtoA, TileObject PtoT
#define PTO_PUT_ATOMIC (pto_detail::Mode<"atomic", Atomic, AtomicType::AtomicNone>)
PTO_OVERLOAD(TPUT, (AtomicType Atomic = AtomicType::AtomicNone, PTO_GG), (PtoD &dst, PtoA &src, PtoT &tile), PTO_PUT_ATOMIC, dst,
             src, tile)
PTO_OVERLOAD(TPUT, (AtomicType Atomic = AtomicType::AtomicNone, PTO_GG), (PtoD &dst, PtoA &src, PtoT &ping, PtoT &pong),
             PTO_PUT_ATOMIC, dst, src, ping, pong)
PTO_OVERLOAD(TPUT, (PTO_GG), (PtoD &dst, PtoA &src, PtoT &tile, AtomicType atomic), (), dst, src, tile, atomic)
PTO_OVERLOAD(TGET, (PTO_GG), (PtoD &dst, PtoA &src, PtoT &tile), (), dst, src, tile)
PTO_OVERLOAD(TGET, (PTO_GG), (PtoD &dst, PtoA &src, PtoT &ping, PtoT &pong), (), dst, src, ping, pong)
PTO_OVERLOAD(TNOTIFY, (GlobalObject PtoG), (PtoG &signal, int32_t value, NotifyOp operation), (), signal, value, operation)
PTO_OVERLOAD(TWAIT, (GlobalObject PtoG), (PtoG &signal, int32_t value, WaitCmp comparison), (), signal, value, comparison)
template <GlobalObject PtoG, Awaited... Events>
PTO_INTERNAL bool TTEST(PtoG &signal, int32_t value, WaitCmp comparison, Events &...events)
{
    (events.Wait(), ...);
    return pto_detail::query<bool>("TTEST", signal, value, comparison);
}

#define PTO_ENGINE (pto_detail::Mode<"engine", Engine, CollEngine::AIV>)
#define PTO_COLLECTIVE_TEMPLATE CollEngine Engine = CollEngine::AIV, GroupObject PtoP, GlobalObject PtoG, TileObject PtoT
#define PTO_COLLECTIVE(Name)                                                                               \
    PTO_OVERLOAD(Name, (PTO_COLLECTIVE_TEMPLATE), (PtoP &group, PtoG &tensor, PtoT &tile), PTO_ENGINE, group, tensor, tile) \
    PTO_OVERLOAD(Name, (PTO_COLLECTIVE_TEMPLATE), (PtoP &group, PtoG &tensor, PtoT &ping, PtoT &pong), PTO_ENGINE, group, tensor, \
                 ping, pong)                                                                               \
    PTO_OVERLOAD(Name, (PTO_COLLECTIVE_TEMPLATE), (PtoP &group, PtoG &tensor, PtoT &tile, CcuTriggerContext &trigger), PTO_ENGINE, \
                 group, tensor, tile, trigger)
PTO_COLLECTIVE(TGATHER)
PTO_COLLECTIVE(TSCATTER)
PTO_COLLECTIVE(TBROADCAST)
PTO_OVERLOAD(TREDUCE, (PTO_COLLECTIVE_TEMPLATE), (PtoP &group, PtoG &tensor, PtoT &acc, PtoT &tile, ReduceOp operation), PTO_ENGINE,
             group, tensor, acc, tile, operation)
PTO_OVERLOAD(TREDUCE, (PTO_COLLECTIVE_TEMPLATE), (PtoP &group, PtoG &tensor, PtoT &acc, PtoT &ping, PtoT &pong, ReduceOp operation),
             PTO_ENGINE, group, tensor, acc, ping, pong, operation)
PTO_OVERLOAD(TREDUCE, (PTO_COLLECTIVE_TEMPLATE),
             (PtoP &group, PtoG &tensor, PtoT &acc, PtoT &tile, ReduceOp operation, CcuTriggerContext &trigger), PTO_ENGINE, group,
             tensor, acc, tile, operation, trigger)

#define PTO_ASYNC(Name)                                                                                    \
    template <DmaEngine Engine = DmaEngine::SDMA, GlobalObject PtoD, GlobalObject PtoA, Awaited... Events> \
    PTO_INTERNAL AsyncEvent Name(PtoD &dst, PtoA &src, const AsyncSession &session, Events &...events)     \
    {                                                                                                      \
        (events.Wait(), ...);                                                                              \
        return {pto_detail::query<uint64_t>(PTO_NAMED(#Name, pto_detail::Mode<"engine", Engine>), dst, src, session), Engine}; \
    }                                                                                                      \
    template <DmaEngine Engine = DmaEngine::SDMA, GlobalObject PtoD, GlobalObject PtoA, Awaited... Events> \
    PTO_INTERNAL AsyncEvent Name(PtoD &dst, PtoA &src, const AsyncSession &session, uint32_t peer, Events &...events) \
    {                                                                                                      \
        (events.Wait(), ...);                                                                              \
        return {pto_detail::query<uint64_t>(PTO_NAMED(#Name, pto_detail::Mode<"engine", Engine>), dst, src, session, peer), \
                Engine};                                                                                   \
    }
PTO_ASYNC(TPUT_ASYNC)
PTO_ASYNC(TGET_ASYNC)

} // namespace pto::comm
