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
// A signal whose sizes are known in a run only is one signal after the other: waits and tests take all of them, a
// notification the first one.
template <class PtoG>
using PtoOneSignal = GlobalTensor<typename PtoG::RawDType, Shape<1, 1, 1, 1, 1>, Stride<1, 1, 1, 1, 1>>;
template <GlobalObject PtoG>
PTO_INTERNAL bool pto_has_constant_sizes(const PtoG &signal)
{
    return __builtin_constant_p(signal.GetShape(0)) && __builtin_constant_p(signal.GetShape(1)) &&
        __builtin_constant_p(signal.GetShape(2)) && __builtin_constant_p(signal.GetShape(3)) &&
        __builtin_constant_p(signal.GetShape(4));
}
template <GlobalObject PtoG, class Take>
PTO_INTERNAL void pto_each_signal(const PtoG &signal, Take take)
{
    for (int64_t first = 0; first < signal.GetShape(0); ++first)
        for (int64_t second = 0; second < signal.GetShape(1); ++second)
            for (int64_t third = 0; third < signal.GetShape(2); ++third)
                for (int64_t row = 0; row < signal.GetShape(3); ++row)
                    for (int64_t col = 0; col < signal.GetShape(4); ++col) {
                        const int64_t outer = first * signal.GetStride(0) + second * signal.GetStride(1) + third * signal.GetStride(2);
                        PtoOneSignal<PtoG> one(signal.data() + outer + row * signal.GetStride(3) + col * signal.GetStride(4));
                        take(one);
                    }
}
template <GlobalObject PtoG, Awaited... Events>
PTO_INTERNAL RecordEvent TNOTIFY(PtoG &signal, int32_t value, NotifyOp operation, Events &...events)
{
    (events.Wait(), ...);
    if (pto_has_constant_sizes(signal)) {
        pto_detail::issue("TNOTIFY", signal, value, operation);
        return {};
    }
    PtoOneSignal<PtoG> one(signal.data());
    pto_detail::issue("TNOTIFY", one, value, operation);
    return {};
}
template <GlobalObject PtoG, Awaited... Events>
PTO_INTERNAL RecordEvent TWAIT(PtoG &signal, int32_t value, WaitCmp comparison, Events &...events)
{
    (events.Wait(), ...);
    if (pto_has_constant_sizes(signal))
        pto_detail::issue("TWAIT", signal, value, comparison);
    else
        pto_each_signal(signal, [&](auto &one) { pto_detail::issue("TWAIT", one, value, comparison); });
    return {};
}
template <GlobalObject PtoG, Awaited... Events>
PTO_INTERNAL bool TTEST(PtoG &signal, int32_t value, WaitCmp comparison, Events &...events)
{
    (events.Wait(), ...);
    if (pto_has_constant_sizes(signal))
        return pto_detail::query<bool>("TTEST", signal, value, comparison);
    bool all = true;
    pto_each_signal(signal, [&](auto &one) { all &= pto_detail::query<bool>("TTEST", one, value, comparison); });
    return all;
}

} // namespace pto::comm

#include "pto/comm/collectives.hpp"

namespace pto::comm {

#define PTO_COLLECTIVE_TEMPLATE CollEngine Engine = CollEngine::AIV, GroupObject PtoP, GlobalObject PtoG, TileObject PtoT
#define PTO_TRIGGERED(Name, Parameters, trigger)                                                            \
    template <PTO_COLLECTIVE_TEMPLATE, Awaited... Events>                                                  \
    PTO_INTERNAL RecordEvent Name(PTO_ARGUMENTS Parameters, const CcuTriggerContext &context, Events &...events) \
    {                                                                                                      \
        static_assert(Engine == CollEngine::CCU, #Name " takes a CcuTriggerContext with CollEngine::CCU");     \
        (events.Wait(), ...);                                                                              \
        trigger;                                                                                           \
        return {};                                                                                         \
    }
#define PTO_COLLECTIVE(Name, function)                                                                     \
    template <PTO_COLLECTIVE_TEMPLATE, Awaited... Events>                                                  \
    PTO_INTERNAL RecordEvent Name(PtoP &group, PtoG &tensor, PtoT &tile, Events &...events)                \
    {                                                                                                      \
        (events.Wait(), ...);                                                                              \
        function<Engine>(group, tensor, tile);                                                             \
        return {};                                                                                         \
    }                                                                                                      \
    template <PTO_COLLECTIVE_TEMPLATE, Awaited... Events>                                                  \
    PTO_INTERNAL RecordEvent Name(PtoP &group, PtoG &tensor, PtoT &ping, PtoT &pong, Events &...events)    \
    {                                                                                                      \
        (events.Wait(), ...);                                                                              \
        function<Engine>(group, tensor, ping, pong);                                                       \
        return {};                                                                                         \
    }
PTO_COLLECTIVE(TGATHER, pto_gather)
PTO_COLLECTIVE(TSCATTER, pto_scatter)
PTO_COLLECTIVE(TBROADCAST, pto_broadcast)
#define PTO_TRIGGERED_MOVES(Name, trigger)                                     \
    PTO_TRIGGERED(Name, (PtoP &group, PtoG &tensor, PtoT &tile), trigger)     \
    PTO_TRIGGERED(Name, (PtoP &group, PtoG &tensor, PtoT &tile, PtoT &), trigger)
PTO_TRIGGERED_MOVES(TGATHER, pto_trigger_own(group, tile, context))
PTO_TRIGGERED_MOVES(TSCATTER, pto_trigger_root(group, tensor, tile, context))
PTO_TRIGGERED_MOVES(TBROADCAST, pto_trigger_root(group, tensor, tile, context))
template <PTO_COLLECTIVE_TEMPLATE, Awaited... Events>
PTO_INTERNAL RecordEvent TREDUCE(PtoP &group, PtoG &tensor, PtoT &acc, PtoT &tile, ReduceOp operation, Events &...events)
{
    (events.Wait(), ...);
    pto_reduce(group, tensor, acc, tile, operation);
    return {};
}
template <PTO_COLLECTIVE_TEMPLATE, Awaited... Events>
PTO_INTERNAL RecordEvent TREDUCE(PtoP &group, PtoG &tensor, PtoT &acc, PtoT &ping, PtoT &pong, ReduceOp operation, Events &...events)
{
    (events.Wait(), ...);
    pto_reduce(group, tensor, acc, ping, operation);
    return {};
}
PTO_TRIGGERED(TREDUCE, (PtoP &group, PtoG &, PtoT &tile, PtoT &, ReduceOp), pto_trigger_own(group, tile, context))
PTO_TRIGGERED(TREDUCE, (PtoP &group, PtoG &, PtoT &tile, PtoT &, PtoT &, ReduceOp), pto_trigger_own(group, tile, context))

// SDMA moves both tensors by the offset of the session, but for TPUT_ASYNC on a5, which goes through the vector core.
template <DmaEngine Engine, bool IsPut, GlobalObject PtoG>
PTO_INTERNAL PtoG pto_moved(const PtoG &tensor, const AsyncSession &session)
{
#if defined(PTO_NPU_ARCH_A5)
    if constexpr (IsPut)
        return tensor;
#endif
    PtoG moved = tensor;
    if constexpr (Engine == DmaEngine::SDMA)
        moved.SetAddr(tensor.data() + session.commBlockOffset / sizeof(typename PtoG::RawDType));
    return moved;
}

#define PTO_ASYNC_FORM(Name, IsPut, Parameters, ...)                                                       \
    template <DmaEngine Engine = DmaEngine::SDMA, GlobalObject PtoD, GlobalObject PtoA, Awaited... Events> \
    PTO_INTERNAL AsyncEvent Name(PtoD &dst, PtoA &src, PTO_ARGUMENTS Parameters, Events &...events)        \
    {                                                                                                      \
        (events.Wait(), ...);                                                                              \
        return {pto_detail::query<uint64_t>(PTO_NAMED(#Name, pto_detail::Mode<"engine", Engine>),          \
                                            pto_moved<Engine, IsPut>(dst, session),                        \
                                            pto_moved<Engine, IsPut>(src, session), __VA_ARGS__),          \
                Engine};                                                                                   \
    }
#define PTO_ASYNC(Name, IsPut)                                                     \
    PTO_ASYNC_FORM(Name, IsPut, (const AsyncSession &session), session)            \
    PTO_ASYNC_FORM(Name, IsPut, (const AsyncSession &session, uint32_t peer), session, peer)
PTO_ASYNC(TPUT_ASYNC, true)
PTO_ASYNC(TGET_ASYNC, false)

} // namespace pto::comm

namespace pto {

// A prefetch into the cache; its session is built by the prefetch unless the context has one of the kernel.
struct PrefetchAsyncContext {
    uint8_t *workspace = nullptr;
    comm::AsyncSession session;
    comm::AsyncSession *externalSession = nullptr;

    PTO_INTERNAL PrefetchAsyncContext() = default;
    PTO_INTERNAL explicit PrefetchAsyncContext(uint8_t *memory, comm::AsyncSession *own = nullptr)
        : workspace(memory), externalSession(own)
    {
    }
    PTO_INTERNAL comm::AsyncSession &GetSession() { return externalSession != nullptr ? *externalSession : session; }
};
template <GlobalObject PtoG, Awaited... Events>
PTO_INTERNAL comm::AsyncEvent TPREFETCH_ASYNC(PtoG &src, PrefetchAsyncContext &context, Events &...events)
{
    (events.Wait(), ...);
    if (context.externalSession == nullptr)
        comm::BuildAsyncSession<comm::DmaEngine::SDMA>(context.workspace, context.session);
    return {pto_detail::query<uint64_t>("TPREFETCH_ASYNC", src, context.GetSession())};
}

} // namespace pto
