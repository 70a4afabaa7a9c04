// What torch's library for the device offers, on a device that is this process (cpp_device.py).
#pragma once
#include <ATen/ATen.h>
#include <cstdint>
#include <functional>

#define ACL_SUCCESS 0
enum aclrtDevAttr { ACL_DEV_ATTR_AICORE_CORE_NUM, ACL_DEV_ATTR_VECTOR_CORE_NUM, ACL_DEV_ATTR_CUBE_CORE_NUM };
using aclError = int;
using aclrtStream = void *;

inline aclError aclInit(const char *) { return 0; }
inline aclError aclrtGetDevice(int32_t *) { return 0; }
inline aclError aclrtGetDeviceInfo(int32_t, aclrtDevAttr attribute, int64_t *number)
{
    *number = attribute == ACL_DEV_ATTR_VECTOR_CORE_NUM ? 2 * PTO_CORES : PTO_CORES;
    return 0;
}
inline aclError aclrtSynchronizeStream(aclrtStream) { return 0; }

// New tensors of the device are contiguous.
inline at::Tensor pto_empty_like(const at::Tensor &tensor, const at::TensorOptions &options = {})
{
    return at::empty_like(tensor, options, at::MemoryFormat::Contiguous);
}

namespace c10_npu {
struct NPUStream {
    aclrtStream stream(bool = true) const { return nullptr; }
};
inline NPUStream getCurrentNPUStream(int = 0) { return {}; }
inline void GetDevice(int *device) { *device = 0; }
} // namespace c10_npu

namespace at_npu::native {
struct OpCommand {
    template <class F>
    static void RunOpApi(const char *, F call)
    {
        call();
    }
};
} // namespace at_npu::native

extern "C" {
extern void *(*pto_find)(const char *);
extern void (*pto_know)(void *, uint64_t);
}
