// Signals between the cores of a mixed kernel, as kernels write them by hand.
#pragma once
#include "pto/common/pto_instr.hpp"

namespace pto {

enum class SyncOpType : uint8_t { TSTORE_C2GM, TSTORE_V2GM, TMOV_C2UB, TINSERT_V2L1, TLOAD };
enum CVSyncMode : uint16_t { C_ALL_CORE_SYNC = 0, V_ALL_CORE_SYNC = 0, V_SUBCORES_SYNC = 1, CV_CORE_SYNC = 2 };
enum CVCommFftsEvent : uint16_t { CV_COMM_CTRL = 12, CV_COMM_RSVD_13, CV_COMM_RSVD_14, CV_COMM_RSVD_15 };
constexpr int kCvCommSlotBytes = 512, kCvMaxCores = 25;

PTO_INTERNAL uint16_t _getFFTSMsg(CVSyncMode mode, uint16_t id, uint16_t base = 1) { return getFFTSMsg(mode, id, base); }

// A flag that signals data and the next one, which signals free slots.
template <SyncOpType Producer, SyncOpType Consumer>
struct TSync_Custom {
    static_assert(Producer != SyncOpType::TLOAD && Consumer == SyncOpType::TLOAD, "a store signals, a load waits");
    static constexpr bool is_c2v = Producer == SyncOpType::TSTORE_C2GM || Producer == SyncOpType::TMOV_C2UB;
    static constexpr bool is_v2c = !is_c2v;
    static constexpr pipe_t producer = is_c2v ? PIPE_FIX : PIPE_MTE3;
    static constexpr pipe_t consumer = Producer == SyncOpType::TMOV_C2UB ? PIPE_V
        : Producer == SyncOpType::TINSERT_V2L1                           ? PIPE_MTE1
                                                                         : PIPE_MTE2;
    uint16_t flag_id;

    PTO_INTERNAL void record() const { signal(producer, flag_id); }
    PTO_INTERNAL void wait() const { await(consumer, flag_id); }
    PTO_INTERNAL void allocate() const { await(producer, flag_id + 1); }
    PTO_INTERNAL void free() const { signal(consumer, flag_id + 1); }

private:
    PTO_INTERNAL static void signal(pipe_t pipe, int id)
    {
#if defined(PTO_NPU_ARCH_A2A3)
        ffts_cross_core_sync(pipe, getFFTSMsg(CV_CORE_SYNC, id));
#else
        set_intra_block(pipe, id);
#if defined(__DAV_CUBE__)
        set_intra_block(pipe, id + 16);
#endif
#endif
    }
    PTO_INTERNAL static void await(pipe_t pipe, int id)
    {
#if defined(PTO_NPU_ARCH_A2A3)
        wait_flag_dev(id);
#else
        wait_intra_block(pipe, id);
#if defined(__DAV_CUBE__)
        wait_intra_block(pipe, id + 16);
#endif
#endif
    }
};

// Both cores of a block agree on a number of the cube core, which the cube core writes to global memory.
template <int SlotBytes = kCvCommSlotBytes, int Cores = kCvMaxCores>
PTO_INTERNAL int TSYNC_CVID(int block, uint8_t *slots)
{
    volatile uint32_t *slot = reinterpret_cast<volatile uint32_t *>(slots + static_cast<size_t>(block) * SlotBytes);
#if defined(__DAV_CUBE__)
    const int core = static_cast<int>(get_coreid() & 0x7f) % Cores;
    *slot = core;
    dcci(slot, SINGLE_CACHE_LINE);
    dsb(DSB_DDR);
    ffts_cross_core_sync(PIPE_MTE2, getFFTSMsg(CV_CORE_SYNC, CV_COMM_CTRL));
    return core;
#else
    dcci(slot, SINGLE_CACHE_LINE);
    wait_flag_dev(CV_COMM_CTRL);
    return static_cast<int>(*slot);
#endif
}

} // namespace pto
