// What launchers beside a kernel name of the host's run time. It is compiled so that the kernel's arguments are seen, and
// nothing of it is ever run or translated.
#pragma once
#include <stdint.h>
#include <type_traits>

typedef void *aclrtStream;
typedef void *aclrtContext;
typedef void *aclrtEvent;
typedef void *rtStream_t;
typedef int aclError;
typedef int aclStatus;
typedef int rtError_t;
typedef int aclFormat;
typedef uint8_t *GM_ADDR;
enum { ACL_SUCCESS = 0, ACL_ERROR_NONE = 0, RT_ERROR_NONE = 0 };
enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEVICE_TO_DEVICE,
};
enum aclrtMemMallocPolicy { ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_HUGE_ONLY, ACL_MEM_MALLOC_NORMAL_ONLY };
enum aclDataType { ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_INT32, ACL_UINT8, ACL_INT16 = 6, ACL_BF16 = 27 };

#define PTO_HOST_FUNCTION(name) \
    template <class... PtoA>    \
    int name(PtoA...);
#define PTO_HOST_FUNCTIONS(X)                                                                                         \
    X(aclInit) X(aclFinalize) X(aclrtSetDevice) X(aclrtResetDevice) X(aclrtGetDevice) X(aclrtCreateContext)            \
    X(aclrtDestroyContext) X(aclrtCreateStream) X(aclrtCreateStreamWithConfig) X(aclrtDestroyStream)                   \
    X(aclrtSynchronizeStream) X(aclrtSynchronizeDevice) X(aclrtMalloc) X(aclrtFree) X(aclrtMallocHost)                 \
    X(aclrtFreeHost) X(aclrtMemcpy) X(aclrtMemcpyAsync) X(aclrtMemset) X(aclrtMemsetAsync) X(aclrtCreateEvent)         \
    X(aclrtRecordEvent) X(aclrtDestroyEvent) X(aclrtSynchronizeEvent) X(aclrtEventElapsedTime) X(aclrtGetSocName) X(aclrtGetDeviceCount) X(aclrtGetDeviceInfo)      \
    X(rtGetC2cCtrlAddr) X(rtSetDevice) X(rtStreamCreate) X(rtStreamDestroy) X(rtStreamSynchronize) X(rtMalloc)         \
    X(rtFree) X(rtMemcpy) X(rtDeviceReset) X(rtGetDeviceInfo) X(rtStreamCreateWithFlags)
PTO_HOST_FUNCTIONS(PTO_HOST_FUNCTION)

namespace pto {
template <bool UseSdma = true, int Cores = -1>
void PTO_PREFETCH(void *tensor, uint64_t bytes, aclrtStream stream);
}
