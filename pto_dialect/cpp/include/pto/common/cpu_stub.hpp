// What the CPU simulator has beyond the interface: the windows of the ranks of a job.
#pragma once
#include <stdint.h>
#include "fallback/hccl/hccl_types.h"
#include "pto/pto-inst.hpp"

#define HcclHostBarrier(...)
#define CommMpiInit(...) true
#define CommMpiFinalize()
#define SKIP_IF_RANKS_LT(ranks)
constexpr uint32_t HCCL_MAX_RANK_NUM = 64;
struct CommDeviceContext {
    uint64_t workSpace, workSpaceSize;
    uint32_t rankId, rankNum;
    uint64_t winSize;
    uint64_t windowsIn[HCCL_MAX_RANK_NUM];
    uint64_t windowsOut[HCCL_MAX_RANK_NUM];
};
static_assert(sizeof(CommDeviceContext) == 1056);
