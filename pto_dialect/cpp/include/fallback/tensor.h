// The descriptor of a tensor that a run time hands to kernel_entry, as far as kernels read it.
#pragma once
#include <stdint.h>

constexpr uint32_t MAX_TENSOR_DIMS = 5;

struct alignas(64) ChipTensor {
    struct {
        uint64_t addr;
        uint64_t size;
    } buffer;
    uint64_t owner_task_id;
    uint64_t start_offset;
    int32_t version;
    uint32_t ndims;
    uint8_t dtype;
    bool manual_dep;
    bool is_contiguous;
    uint8_t address_space;
    uint32_t shapes[MAX_TENSOR_DIMS];
    uint64_t extent_elem_cache;
    uint32_t strides[MAX_TENSOR_DIMS];

    uint64_t numel() const
    {
        uint64_t total = 1;
        for (uint32_t dim = 0; dim < ndims; ++dim)
            total *= shapes[dim];
        return total;
    }
    template <class PtoT>
    PtoT *data_as() const
    {
        return reinterpret_cast<PtoT *>(buffer.addr);
    }
};
static_assert(sizeof(ChipTensor) == 128);

// The number that a run time has put into an element of the array of arguments.
template <class PtoT>
inline PtoT from_u64(uint64_t bits)
{
    static_assert(sizeof(PtoT) <= sizeof(uint64_t), "from_u64: type must fit in 8 bytes");
    PtoT value;
    __builtin_memcpy(&value, &bits, sizeof(PtoT));
    return value;
}
typedef ChipTensor Tensor;
