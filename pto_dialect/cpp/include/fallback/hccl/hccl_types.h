// What launchers beside a kernel name of the host's library for ranks; nothing of it is run or translated.
#pragma once
#include <stdint.h>
#include "pto/detail/host.hpp"

typedef void *HcclComm;
enum HcclResult { HCCL_SUCCESS = 0 };
enum HcclDataType { HCCL_DATA_TYPE_INT8, HCCL_DATA_TYPE_INT16, HCCL_DATA_TYPE_INT32, HCCL_DATA_TYPE_FP16, HCCL_DATA_TYPE_FP32 };
constexpr uint32_t HCCL_ROOT_INFO_BYTES = 4108, COMM_NAME_MAX_LENGTH = 128;
struct HcclRootInfo {
    char internal[HCCL_ROOT_INFO_BYTES];
};
struct HcclCommConfig {
    char reserved[256];
};
#define PTO_HCCL_FUNCTIONS(X)                                                                                \
    X(HcclGetRootInfo) X(HcclCommInitRootInfo) X(HcclCommInitRootInfoConfig) X(HcclCommDestroy) X(HcclBarrier) \
    X(HcclGetCommName) X(HcclAllocComResourceByTiling) X(HcclCommConfigInit) X(HcclGetRankId) X(HcclGetRankSize)
#define PTO_HCCL_FUNCTION(name) \
    template <class... PtoA>    \
    HcclResult name(PtoA...);
PTO_HCCL_FUNCTIONS(PTO_HCCL_FUNCTION)
