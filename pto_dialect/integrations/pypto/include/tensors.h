// Tensors of an orchestration: a strided window of a buffer of the host. Element types and the names of members are those
// that generated code uses; strides and offsets count elements.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

constexpr int MAX_TENSOR_DIMS = 5;
constexpr int MAX_TENSOR_ARGS = 32;
constexpr int MAX_SCALAR_ARGS = 16;

enum class DataType : uint8_t {
    FLOAT32, FLOAT16, INT32, INT16, INT8, UINT8, BFLOAT16, INT64, UINT64, UINT16, UINT32, BOOL,
    FP8E4M3FN, FP8E8M0, FP4E2M1, DATA_TYPE_NUM,
};

enum class AddressSpace : uint8_t { HOST, DEVICE };

inline uint64_t get_element_size(DataType dtype) {
    constexpr uint8_t sizes[] = {4, 2, 4, 2, 1, 1, 2, 8, 8, 2, 4, 1, 1, 1, 1};
    return sizes[static_cast<int>(dtype)];
}

template <typename T>
inline uint64_t to_u64(T value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(T));
    return bits;
}

template <typename T>
inline T from_u64(uint64_t bits) {
    T value;
    memcpy(&value, &bits, sizeof(T));
    return value;
}

// What the host does for an orchestration. A function that fails says so by `failed`, and the rest is left out.
struct PtoHost {
    uint64_t (*allocate)(uint64_t bytes);
    int (*task)(const uint64_t *words, uint64_t count);
    void (*refuse)(const char *message);
    int32_t cube_cores;
    int32_t vector_cores;
    int32_t failed;
};

inline thread_local PtoHost *pto_host = nullptr;

inline void pto_refuse(const char *message) {
    if (!pto_host->failed) pto_host->refuse(message);
    pto_host->failed = 1;
}

#define always_assert(condition) ((condition) ? (void)0 : pto_refuse("the orchestration claims " #condition))
#define debug_assert(condition) always_assert(condition)

struct PTO2TaskId {
    uint64_t raw;
    static constexpr PTO2TaskId invalid() { return PTO2TaskId{UINT64_MAX}; }
    constexpr bool is_valid() const { return raw != UINT64_MAX; }
    constexpr bool is_invalid() const { return raw == UINT64_MAX; }
    constexpr bool operator==(const PTO2TaskId &other) const { return raw == other.raw; }
    constexpr bool operator!=(const PTO2TaskId &other) const { return raw != other.raw; }
};

struct PTOBufferHandle {
    uint64_t addr;
    uint64_t size;
};

struct ChipTensor {
    PTOBufferHandle buffer;
    PTO2TaskId owner_task_id;
    uint64_t start_offset;
    uint32_t ndims;
    DataType dtype;
    bool manual_dep;
    bool is_contiguous;
    uint32_t shapes[MAX_TENSOR_DIMS];
    uint32_t strides[MAX_TENSOR_DIMS];

    uint64_t numel() const {
        uint64_t total = 1;
        for (uint32_t i = 0; i < ndims; i++) total *= shapes[i];
        return total;
    }
    uint64_t nbytes() const { return numel() * get_element_size(dtype); }
    // Elements from the first of the window to behind the last.
    uint64_t extent_elem() const {
        uint64_t last = 0;
        for (uint32_t i = 0; i < ndims; i++) {
            if (!shapes[i]) return 0;
            last += uint64_t(shapes[i] - 1) * strides[i];
        }
        return last + 1;
    }
    template <typename T>
    T *data_as() const {
        return reinterpret_cast<T *>(buffer.addr);
    }
    uint64_t compute_flat_offset(const uint32_t indices[], uint32_t count) const {
        uint64_t at = start_offset;
        for (uint32_t i = 0; i < count; i++) at += uint64_t(indices[i]) * strides[i];
        return at;
    }

    void init_external(void *addr, uint64_t size, const uint32_t *extents, uint32_t count, DataType type) {
        always_assert(count > 0 && count <= MAX_TENSOR_DIMS);
        buffer = {reinterpret_cast<uint64_t>(addr), size};
        owner_task_id = PTO2TaskId::invalid();
        start_offset = 0;
        ndims = count;
        dtype = type;
        manual_dep = false;
        set_shape(extents);
    }
    // A window without elements may begin anywhere: nothing is accessed through it.
    ChipTensor view(const uint32_t *extents, const uint32_t *offsets, bool manual = false) const {
        ChipTensor result = *this;
        bool empty = false;
        for (uint32_t i = 0; i < ndims; i++) empty = empty || extents[i] == 0;
        for (uint32_t i = 0; i < ndims; i++) {
            if (!empty) {
                always_assert(uint64_t(offsets[i]) + extents[i] <= shapes[i]);
                result.start_offset += uint64_t(offsets[i]) * strides[i];
            }
            result.shapes[i] = extents[i];
        }
        result.manual_dep = manual;
        result.find_contiguity();
        return result;
    }
    ChipTensor transpose(uint32_t x, uint32_t y, bool manual = false) const {
        always_assert(x < ndims && y < ndims);
        ChipTensor result = *this;
        result.shapes[x] = shapes[y];
        result.shapes[y] = shapes[x];
        result.strides[x] = strides[y];
        result.strides[y] = strides[x];
        result.manual_dep = manual;
        result.find_contiguity();
        return result;
    }
    ChipTensor permute(const uint32_t *order, bool manual = false) const {
        ChipTensor result = *this;
        for (uint32_t i = 0; i < ndims; i++) {
            always_assert(order[i] < ndims);
            result.shapes[i] = shapes[order[i]];
            result.strides[i] = strides[order[i]];
        }
        result.manual_dep = manual;
        result.find_contiguity();
        return result;
    }
    ChipTensor slice(uint32_t dim, uint32_t start, uint32_t end, uint32_t step = 1, bool manual = false) const {
        always_assert(dim < ndims && step >= 1 && end > start && end <= shapes[dim]);
        ChipTensor result = *this;
        result.start_offset += uint64_t(start) * strides[dim];
        result.shapes[dim] = (end - start + step - 1) / step;
        result.strides[dim] = strides[dim] * step;
        result.manual_dep = manual;
        result.find_contiguity();
        return result;
    }
    ChipTensor reshape(const uint32_t *extents, uint32_t count, bool manual = false) const {
        ChipTensor result = *this;
        always_assert(is_contiguous && count > 0 && count <= MAX_TENSOR_DIMS);
        result.ndims = count;
        result.set_shape(extents);
        always_assert(result.numel() == numel());
        result.manual_dep = manual;
        return result;
    }

private:
    void set_shape(const uint32_t *extents) {
        uint32_t stride = 1;
        for (uint32_t i = ndims; i-- > 0;) {
            shapes[i] = extents[i];
            strides[i] = stride;
            stride *= extents[i];
        }
        is_contiguous = true;
    }
    void find_contiguity() {
        uint64_t stride = 1;
        is_contiguous = true;
        for (uint32_t i = ndims; i-- > 0;) {
            is_contiguous = is_contiguous && strides[i] == stride;
            stride *= shapes[i];
        }
        is_contiguous = is_contiguous || stride == 0;
    }
};

using Tensor = ChipTensor;

inline ChipTensor make_tensor_external(
    void *addr, const uint32_t *extents, uint32_t count, DataType type = DataType::FLOAT32, bool = false, int32_t = 0,
    AddressSpace = AddressSpace::HOST
) {
    uint64_t total = get_element_size(type);
    for (uint32_t i = 0; i < count; i++) total *= extents[i];
    ChipTensor made;
    made.init_external(addr, total, extents, count, type);
    return made;
}

// What a buffer is made from that the run time allocates.
struct TensorCreateInfo {
    uint64_t initial_value = 0;
    bool has_initial_value = false;
    uint32_t ndims;
    DataType dtype;
    bool manual_dep;
    uint32_t shapes[MAX_TENSOR_DIMS];

    TensorCreateInfo(const uint32_t *extents, uint32_t count, DataType type = DataType::FLOAT32, bool manual = false) :
        ndims(count), dtype(type), manual_dep(manual) {
        always_assert(count > 0 && count <= MAX_TENSOR_DIMS);
        for (uint32_t i = 0; i < count; i++) shapes[i] = extents[i];
    }
    template <typename T>
    void set_initial_value(T value) {
        has_initial_value = true;
        initial_value = to_u64(value);
    }
    ChipTensor make() const {
        uint64_t size = get_element_size(dtype), elements = 1;
        for (uint32_t i = 0; i < ndims; i++) elements *= shapes[i];
        ChipTensor made;
        made.init_external(
            reinterpret_cast<void *>(pto_host->allocate(elements * size)), elements * size, shapes, ndims, dtype
        );
        made.manual_dep = manual_dep;
        if (has_initial_value && !pto_host->failed) {
            for (uint64_t i = 0; i < elements; i++)
                memcpy(made.data_as<char>() + i * size, &initial_value, size);
        }
        return made;
    }
};
