// Operations between ranks.
#pragma once
#include "pto/comm/comm_types.hpp"
#include "pto/common/pto_instr.hpp"

namespace pto::comm {

template <class T>
inline constexpr bool is_group = false;
template <class G>
inline constexpr bool is_group<ParallelGroup<G>> = true;
template <class T>
concept GroupObject = is_group<std::remove_cv_t<T>>;

#define PTO_GG GlobalObject D, GlobalObject A, TileObject T
#define PTO_PUT_ATOMIC (pto_detail::Mode<"atomic", Atomic, AtomicType::AtomicNone>)
PTO_OVERLOAD(TPUT, (AtomicType Atomic = AtomicType::AtomicNone, PTO_GG), (D &dst, A &src, T &tile), PTO_PUT_ATOMIC, dst,
             src, tile)
PTO_OVERLOAD(TPUT, (AtomicType Atomic = AtomicType::AtomicNone, PTO_GG), (D &dst, A &src, T &ping, T &pong),
             PTO_PUT_ATOMIC, dst, src, ping, pong)
PTO_OVERLOAD(TPUT, (PTO_GG), (D &dst, A &src, T &tile, AtomicType atomic), (), dst, src, tile, atomic)
PTO_OVERLOAD(TGET, (PTO_GG), (D &dst, A &src, T &tile), (), dst, src, tile)
PTO_OVERLOAD(TGET, (PTO_GG), (D &dst, A &src, T &ping, T &pong), (), dst, src, ping, pong)
PTO_OVERLOAD(TNOTIFY, (GlobalObject G), (G &signal, int32_t value, NotifyOp operation), (), signal, value, operation)
PTO_OVERLOAD(TWAIT, (GlobalObject G), (G &signal, int32_t value, WaitCmp comparison), (), signal, value, comparison)
template <GlobalObject G, Awaited... Events>
PTO_INTERNAL bool TTEST(G &signal, int32_t value, WaitCmp comparison, Events &...events)
{
    (events.Wait(), ...);
    return pto_detail::query<bool>("TTEST", signal, value, comparison);
}

#define PTO_ENGINE (pto_detail::Mode<"engine", Engine, CollEngine::AIV>)
#define PTO_COLLECTIVE_TEMPLATE CollEngine Engine = CollEngine::AIV, GroupObject P, GlobalObject G, TileObject T
#define PTO_COLLECTIVE(Name)                                                                               \
    PTO_OVERLOAD(Name, (PTO_COLLECTIVE_TEMPLATE), (P &group, G &tensor, T &tile), PTO_ENGINE, group, tensor, tile) \
    PTO_OVERLOAD(Name, (PTO_COLLECTIVE_TEMPLATE), (P &group, G &tensor, T &ping, T &pong), PTO_ENGINE, group, tensor, \
                 ping, pong)                                                                               \
    PTO_OVERLOAD(Name, (PTO_COLLECTIVE_TEMPLATE), (P &group, G &tensor, T &tile, CcuTriggerContext &trigger), PTO_ENGINE, \
                 group, tensor, tile, trigger)
PTO_COLLECTIVE(TGATHER)
PTO_COLLECTIVE(TSCATTER)
PTO_COLLECTIVE(TBROADCAST)
PTO_OVERLOAD(TREDUCE, (PTO_COLLECTIVE_TEMPLATE), (P &group, G &tensor, T &acc, T &tile, ReduceOp operation), PTO_ENGINE,
             group, tensor, acc, tile, operation)
PTO_OVERLOAD(TREDUCE, (PTO_COLLECTIVE_TEMPLATE), (P &group, G &tensor, T &acc, T &ping, T &pong, ReduceOp operation),
             PTO_ENGINE, group, tensor, acc, ping, pong, operation)
PTO_OVERLOAD(TREDUCE, (PTO_COLLECTIVE_TEMPLATE),
             (P &group, G &tensor, T &acc, T &tile, ReduceOp operation, CcuTriggerContext &trigger), PTO_ENGINE, group,
             tensor, acc, tile, operation, trigger)

#define PTO_ASYNC(Name)                                                                                    \
    template <DmaEngine Engine = DmaEngine::SDMA, GlobalObject D, GlobalObject A, Awaited... Events>       \
    PTO_INTERNAL AsyncEvent Name(D &dst, A &src, const AsyncSession &session, Events &...events)           \
    {                                                                                                      \
        (events.Wait(), ...);                                                                              \
        return {pto_detail::query<uint64_t>(PTO_NAMED(#Name, pto_detail::Mode<"engine", Engine>), dst, src, session), Engine}; \
    }                                                                                                      \
    template <DmaEngine Engine = DmaEngine::SDMA, GlobalObject D, GlobalObject A, Awaited... Events>       \
    PTO_INTERNAL AsyncEvent Name(D &dst, A &src, const AsyncSession &session, uint32_t peer, Events &...events) \
    {                                                                                                      \
        (events.Wait(), ...);                                                                              \
        return {pto_detail::query<uint64_t>(PTO_NAMED(#Name, pto_detail::Mode<"engine", Engine>), dst, src, session, peer), \
                Engine};                                                                                   \
    }
PTO_ASYNC(TPUT_ASYNC)
PTO_ASYNC(TGET_ASYNC)

} // namespace pto::comm
