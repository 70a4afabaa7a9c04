// Queues between the cube core and the vector cores.
#pragma once
#include "pto/detail/issue.hpp"

namespace pto {

template <uint32_t SlotSize, uint32_t SlotNum, uint32_t LocalSlotNum>
struct RingFIFO {
    static constexpr uint32_t SLOT_SIZE = SlotSize, SLOT_NUM = SlotNum, LOCAL_SLOT_NUM = LocalSlotNum;
    void *GM_SLOT_BUFFER = nullptr;
    uint32_t C2V_CONSUMER_BUF = 0;
    uint32_t V2C_CONSUMER_BUF = 0;
};

template <uint8_t FlagID, uint8_t DirType, uint32_t SlotSize, uint32_t SlotNum, uint32_t LocalSlotNum = 2,
          bool IsNoSplit = false, bool EN_UNIT_FLAG = false>
struct TPipe {
    static constexpr uint8_t DIR_TYPE = DirType & 7;
    static constexpr bool is_c2v = DIR_TYPE == DIR_C2V, is_v2c = DIR_TYPE == DIR_V2C, is_both = DIR_TYPE == DIR_BOTH;
    static constexpr bool is_v2c_ctrl = DIR_TYPE == DIR_V2C_CTRL;
    static_assert(SlotNum >= 1, "a queue has at least one slot");

    // The sides of a queue; the cores know their positions in it.
    struct Producer {};
    struct Consumer {};

    using RingFiFo = RingFIFO<SlotSize, SlotNum, LocalSlotNum>;
    RingFiFo fifo;

    // A consumer reports every half queue that it has freed (all of a queue of two), a producer waits for it where it
    // begins to fill that part again: the reports that are left after so many tiles.
    static constexpr uint32_t SyncPeriod = SlotNum > 2 ? SlotNum / 2 : SlotNum;
    static constexpr uint32_t countPendingFreeCredits(uint32_t tiles)
    {
        uint32_t pending = 0;
        for (uint32_t tile = 0; tile < tiles; ++tile)
            pending += ((tile + 1) % SyncPeriod == 0) - (tile >= SlotNum && tile % SyncPeriod == 0);
        return pending;
    }

    template <class PtoT>
    PTO_INTERNAL explicit TPipe(PtoT *slots, uint32_t vector_buffer, uint32_t cube_buffer)
        : fifo{(void *)slots, vector_buffer, cube_buffer}
    {
        pto_detail::call("TPipe", *this);
    }
    PTO_INTERNAL explicit TPipe(std::nullptr_t, uint32_t vector_buffer, uint32_t cube_buffer)
        : TPipe((void *)nullptr, vector_buffer, cube_buffer)
    {
    }

    struct pto_object {
        static constexpr pto_detail::Text make()
        {
            pto_detail::Text text;
            text << "pipe:" << int(FlagID) << ',' << int(DIR_TYPE) << ',' << (long long)SlotSize << ',';
            text << (long long)SlotNum << ',' << (long long)LocalSlotNum << ',' << int(IsNoSplit) << ',';
            return text << int(EN_UNIT_FLAG);
        }
    };
    template <class Take>
    PTO_INTERNAL auto pto_group(Take take) const
    {
        return take(pto_detail::stored<pto_object>, fifo.GM_SLOT_BUFFER, fifo.C2V_CONSUMER_BUF, fifo.V2C_CONSUMER_BUF);
    }
};

template <class PtoT>
inline constexpr bool is_queue = false;
template <uint8_t PtoF, uint8_t PtoD, uint32_t PtoS, uint32_t PtoN, uint32_t PtoL, bool PtoP, bool PtoU>
inline constexpr bool is_queue<TPipe<PtoF, PtoD, PtoS, PtoN, PtoL, PtoP, PtoU>> = true;
template <class PtoT>
concept QueueObject = is_queue<std::remove_cv_t<PtoT>>;

} // namespace pto
