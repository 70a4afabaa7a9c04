// Device memory, copies and streams of a test, on a host: device memory is host memory that records know by number.
#pragma once

#include "host.hpp"

using aclrtStream = void*;
using aclError = int;
using aclFloat = float;
inline constexpr int ACL_SUCCESS = 0;
inline constexpr int ACL_ERROR_NONE = 0;
enum aclrtMemMallocPolicy { ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_NORMAL_ONLY, ACL_MEM_MALLOC_HUGE_ONLY };
enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST,
    ACL_MEMCPY_HOST_TO_DEVICE,
    ACL_MEMCPY_DEVICE_TO_HOST,
    ACL_MEMCPY_DEVICE_TO_DEVICE
};

namespace isa {
inline char* zeros(size_t bytes)
{
    // A page behind the end: some tests copy more than they have asked for.
    return static_cast<char*>(std::calloc(1, bytes + 4096));
}
} // namespace isa

inline int aclInit(const char*) { return 0; }
inline int aclFinalize() { return 0; }
inline int aclrtSetDevice(int) { return 0; }
inline int aclrtResetDevice(int) { return 0; }
inline int aclrtCreateStream(aclrtStream* stream)
{
    *stream = nullptr;
    return 0;
}
inline int aclrtDestroyStream(aclrtStream) { return 0; }
inline int aclrtSynchronizeStream(aclrtStream) { return 0; }
inline int aclrtSynchronizeDevice() { return 0; }
inline const char* aclGetRecentErrMsg() { return ""; }

inline int aclrtMallocHost(void** memory, size_t bytes)
{
    *memory = isa::zeros(bytes);
    return 0;
}
inline int aclrtFreeHost(void* memory)
{
    std::free(memory);
    return 0;
}
inline int aclrtMalloc(void** memory, size_t bytes, int)
{
    static int number = 0;
    char* first = isa::zeros(bytes);
    isa::memories[first] = {number++, bytes};
    *memory = first;
    return 0;
}
inline int aclrtFree(void* memory)
{
    isa::memories.erase(static_cast<char*>(memory));
    std::free(memory);
    return 0;
}
inline int aclrtMemcpy(void* to, size_t room, const void* from, size_t bytes, int)
{
    std::memcpy(to, from, bytes < room ? bytes : room);
    return 0;
}
inline int aclrtMemcpyAsync(void* to, size_t room, const void* from, size_t bytes, int kind, aclrtStream)
{
    return aclrtMemcpy(to, room, from, bytes, kind);
}
inline int aclrtMemset(void* memory, size_t room, int value, size_t bytes)
{
    std::memset(memory, value, bytes < room ? bytes : room);
    return 0;
}
inline float aclFloat16ToFloat(aclFloat16 value) { return __builtin_bit_cast(half, value); }
inline aclFloat16 aclFloatToFloat16(float value) { return __builtin_bit_cast(aclFloat16, static_cast<half>(value)); }
