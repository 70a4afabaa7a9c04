// Ranks: groups of tensors, signals.
#pragma once
#include "pto/common/pto_tile.hpp"

namespace pto::comm {

#define PTO_LIST(X, E) X(E, AtomicAdd, 0) X(E, Set, 1)
PTO_ENUM(NotifyOp, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, EQ, 0) X(E, NE, 1) X(E, GT, 2) X(E, GE, 3) X(E, LT, 4) X(E, LE, 5)
PTO_ENUM(WaitCmp, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, Sum, 0) X(E, Max, 1) X(E, Min, 2)
PTO_ENUM(ReduceOp, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, SDMA, 0) X(E, URMA, 1) X(E, RDMA, 2)
PTO_ENUM(DmaEngine, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, AIV, 0) X(E, CCU, 1)
PTO_ENUM(CollEngine, uint8_t, PTO_LIST)
#undef PTO_LIST
enum class CcuInputSource : uint8_t { HostManaged, AivStored };

// Tensors of all ranks. The tensors themselves stay where the kernel has them: a group is passed by their address.
template <class GlobalData>
struct ParallelGroup {
    using value_type = GlobalData;
    GlobalData *tensors = nullptr;
    int nranks = 0;
    int rootIdx = -1;

    constexpr ParallelGroup() = default;
    PTO_INTERNAL constexpr ParallelGroup(GlobalData *all, int size, int root) : tensors(all), nranks(size), rootIdx(root) {}
    PTO_INTERNAL static constexpr ParallelGroup Create(GlobalData *all, int size, int root) { return {all, size, root}; }
    PTO_INTERNAL constexpr int GetRootIdx() const { return rootIdx; }
    PTO_INTERNAL constexpr int GetSize() const { return nranks; }
    PTO_INTERNAL constexpr bool empty() const { return nranks == 0; }
    PTO_INTERNAL constexpr GlobalData &operator[](int rank) const { return tensors[rank]; }
};

using Signal = GlobalTensor<int32_t, Shape<1, 1, 1, 1, 1>, Stride<1, 1, 1, 1, 1>, Layout::ND>;
template <class Element, class Shape, class Stride, Layout PtoL = Layout::ND>
using GlobalSignal = GlobalTensor<Element, Shape, Stride, PtoL>;

template <int Rows, int Cols>
struct Signal2D : GlobalTensor<int32_t, Shape<1, 1, 1, Rows, Cols>, Stride<1, 1, 1, DYNAMIC, 1>, Layout::ND> {
    using Base = GlobalTensor<int32_t, pto::Shape<1, 1, 1, Rows, Cols>, pto::Stride<1, 1, 1, DYNAMIC, 1>, Layout::ND>;
    PTO_INTERNAL Signal2D(int32_t *data, int stride = Cols)
        : Base(data, typename Base::Shape{}, typename Base::Stride{stride})
    {
    }
};

namespace sdma {
constexpr uint32_t UB_ALIGN_SIZE = 256, kAutoChannelGroupIdx = ~0u, kSdmaMinTransferBytes = 64;
constexpr uint32_t kSdmaMaxChan = 48, kSdmaMaxChannel = 48, SDMA_MAX_CHAN = 48;
constexpr uint64_t kDefaultSdmaBlockBytes = 1024 * 1024;
struct SdmaBaseConfig {
    uint64_t block_bytes = kDefaultSdmaBlockBytes;
    uint64_t comm_block_offset = 0;
    uint32_t queue_num = 1;
};
// Of the host.
struct SdmaWorkspaceManager {
    bool Init();
    void Finalize();
    void *GetWorkspaceAddr() const;
};
// Each transfer has one record in its workspace, which a run time looks at that waits for the transfer itself.
struct SdmaRuntimeContext {
    uint8_t *postDoneBase = nullptr;
};
namespace detail {
PTO_INTERNAL bool DecodeSdmaEventHandle(uint64_t handle, uint64_t &post, uint32_t &queues)
{
    post = handle;
    queues = 1;
    return handle != 0;
}
PTO_INTERNAL void *GetPostDoneRecordAddr(uint8_t *base, uint32_t queue) { return base + queue * 64; }
} // namespace detail
} // namespace sdma

namespace urma {
constexpr uint64_t kUrmaMaxWqeTransferBytes = 256 * 1024 * 1024;
// What a workspace begins with, and the memory of each rank at memPtr.
struct UrmaInfo {
    uint32_t qpNum, localTokenId, rankCount;
    uint64_t sqPtr, rqPtr, scqPtr, rcqPtr, memPtr;
};
static_assert(sizeof(UrmaInfo) == 56);
struct UrmaMemInfo {
    bool tokenValueValid;
    uint8_t rmtJettyType, targetHint;
    uint32_t tpn, tid, rmtTokenValue, len;
    uint64_t addr, eidAddr;
};
static_assert(sizeof(UrmaMemInfo) == 40);
PTO_INTERNAL uint64_t UrmaPeerMrBaseAddr(uint8_t *workspace, uint32_t rank)
{
    return reinterpret_cast<UrmaMemInfo *>(reinterpret_cast<UrmaInfo *>(workspace)->memPtr)[rank].addr;
}
// Of the host.
struct UrmaWorkspaceManager {
    template <class... PtoA>
    bool Init(PtoA...);
    void Finalize();
    void *GetWorkspaceAddr() const;
};
} // namespace urma

struct AsyncSession {
    DmaEngine engine = DmaEngine::SDMA;
    bool valid = false;
    uint32_t destRankId = 0;
    uint64_t handle = 0, commBlockOffset = 0;
    sdma::SdmaRuntimeContext sdmaRuntimeCtx;
    struct pto_object {
        static constexpr pto_detail::Text make() { return pto_detail::Text() << "session:"; }
    };
    template <class Take>
    PTO_INTERNAL auto pto_group(Take take) const
    {
        return take(pto_detail::stored<pto_object>, handle, destRankId);
    }
    template <DmaEngine Engine, class... Operands>
    PTO_INTERNAL bool begin(const Operands &...operands)
    {
        engine = Engine;
        valid = true;
        handle = pto_detail::query<uint64_t>(
            pto_detail::named<"BuildAsyncSession", pto_detail::Mode<"engine", Engine>>, operands...);
        return true;
    }
};
template <DmaEngine Engine = DmaEngine::SDMA, TileObject PtoT>
PTO_INTERNAL bool BuildAsyncSession(PtoT &scratch, uint8_t *workspace, AsyncSession &session, uint32_t id = 0,
                                    const sdma::SdmaBaseConfig &config = {},
                                    uint32_t group = sdma::kAutoChannelGroupIdx)
{
    session.commBlockOffset = config.comm_block_offset;
    session.sdmaRuntimeCtx.postDoneBase = workspace;
    return session.begin<Engine>(scratch, workspace, id, config.block_bytes, config.queue_num, group);
}
template <DmaEngine Engine>
PTO_INTERNAL bool BuildAsyncSession(uint8_t *workspace, AsyncSession &session)
{
    return session.begin<Engine>(workspace);
}
template <DmaEngine Engine>
PTO_INTERNAL bool BuildAsyncSession(uint8_t *workspace, uint32_t rank, AsyncSession &session)
{
    session.destRankId = rank;
    return session.begin<Engine>(workspace, rank);
}
// With a scratch tile too, and ranks that only choose a queue.
template <DmaEngine Engine, TileObject PtoT>
PTO_INTERNAL bool BuildAsyncSession(PtoT &scratch, uint8_t *workspace, uint32_t own, AsyncSession &session, uint32_t id = 0)
{
    static_assert(Engine == DmaEngine::RDMA, "sessions with ranks are those of RDMA");
    return session.begin<Engine>(scratch, workspace, id);
}
template <DmaEngine Engine, TileObject PtoT>
PTO_INTERNAL bool BuildAsyncSession(PtoT &scratch, uint8_t *workspace, uint32_t rank, uint32_t own, AsyncSession &session,
                                    uint32_t id = 0)
{
    session.destRankId = rank;
    return BuildAsyncSession<Engine>(scratch, workspace, own, session, id);
}
struct AsyncEvent {
    uint64_t handle = 0;
    DmaEngine engine = DmaEngine::SDMA;
    PTO_INTERNAL constexpr bool valid() const { return handle != 0; }
    PTO_INTERNAL bool Wait(const AsyncSession &session) const { return pto_detail::query<bool>("AsyncEvent.Wait", session, handle); }
    PTO_INTERNAL bool Test(const AsyncSession &session) const { return pto_detail::query<bool>("AsyncEvent.Test", session, handle); }
};
struct CcuTriggerContext {
    uint64_t ckeSlotVA = 0;
    uint32_t mask = 0, selfIdx = 0;
    CcuInputSource inputSource = CcuInputSource::HostManaged;
};

} // namespace pto::comm

namespace pto {
template <int Rows, int Cols>
inline constexpr bool is_global_data_v<comm::Signal2D<Rows, Cols>> = true;
}
