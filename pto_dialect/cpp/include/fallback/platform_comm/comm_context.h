// The windows of the ranks of a job.
#pragma once
#include <stdint.h>

constexpr uint32_t COMM_MAX_RANK_NUM = 64;

struct CommContext {
    uint64_t workSpace, workSpaceSize;
    uint32_t rankId, rankNum;
    uint64_t winSize;
    uint64_t windowsIn[COMM_MAX_RANK_NUM];
    uint64_t windowsOut[COMM_MAX_RANK_NUM];
};
static_assert(sizeof(CommContext) == 1056);
