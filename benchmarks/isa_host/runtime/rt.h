// The cross-core control address of the runtime: nothing here reads it.
#pragma once

#include <cstdint>

using rtError_t = int;
inline constexpr int RT_ERROR_NONE = 0;
inline int rtGetC2cCtrlAddr(uint64_t* address, uint32_t* length)
{
    *address = 0;
    *length = 0;
    return 0;
}
inline int rtGetAiCoreCount(uint32_t* count)
{
    *count = 24;
    return 0;
}
