// The interface that generated orchestrations are compiled against, on one host: a task runs when it is submitted. Tasks
// depend on earlier ones only, so the order of submission is one that every dependency allows.
#pragma once

#include <stdio.h>

#include "lists.h"
#include "tensors.h"

enum class PTO2ScopeMode : uint8_t { AUTO, MANUAL };
enum class TensorArgType : int32_t { INPUT, OUTPUT, INOUT, OUTPUT_EXISTING, NO_DEP };
enum class PredicateOp : uint8_t { NONE, EQ, NE, GT, LT, GE, LE };

constexpr int32_t INVALID_KERNEL_ID = -1;

struct MixedKernels {
    int32_t aic_kernel_id = INVALID_KERNEL_ID;
    int32_t aiv0_kernel_id = INVALID_KERNEL_ID;
    int32_t aiv1_kernel_id = INVALID_KERNEL_ID;
};

struct PTO2LaunchSpec {
    int16_t blocks = 1;
    int16_t block_num() const { return blocks; }
    void set_block_num(int16_t count) { blocks = count; }
    void set_core_num(int16_t count) { blocks = count; }
    bool require_sync_start() const { return together; }
    void set_require_sync_start(bool value) { together = value; }
    bool together = false;
};

struct CorePredicateOperand {
    const ChipTensor *tensor = nullptr;
    uint32_t ndims = 0;
    uint32_t indices[MAX_TENSOR_DIMS] = {};
};

struct CoreTaskPredicate {
    CorePredicateOperand operand;
    PredicateOp op = PredicateOp::NONE;
    int64_t target = 0;

    bool holds() const {
        if (op == PredicateOp::NONE) return true;
        const ChipTensor &tensor = *operand.tensor;
        const uint64_t size = get_element_size(tensor.dtype);
        int64_t value = 0;
        memcpy(&value, tensor.data_as<char>() + tensor.compute_flat_offset(operand.indices, operand.ndims) * size, size);
        const int unused = 64 - int(size) * 8;
        value = int64_t(uint64_t(value) << unused) >> unused;
        switch (op) {
        case PredicateOp::EQ: return value == target;
        case PredicateOp::NE: return value != target;
        case PredicateOp::GT: return value > target;
        case PredicateOp::LT: return value < target;
        case PredicateOp::GE: return value >= target;
        default: return value <= target;
        }
    }
};

// One argument: a tensor, or what one is to be made from.
struct TensorRef {
    const ChipTensor *tensor = nullptr;
    const TensorCreateInfo *info = nullptr;
    const ChipTensor &ref() const { return *tensor; }
};

template <int TENSORS, int SCALARS>
struct PtoTaskArgs {
    PtoList<TensorRef> tensors;
    PtoList<TensorArgType> tags;
    PtoList<uint64_t> scalars;
    PtoList<uint64_t> deps;
    CoreTaskPredicate predicate_;
    PTO2LaunchSpec launch_spec;
    bool has_error = false;
    const char *error_msg = nullptr;

    const TensorRef &tensor(int i) const { return tensors[i]; }
    uint64_t scalar(int i) const { return scalars[i]; }
    int32_t tensor_count() const { return int32_t(tensors.size()); }
    int32_t scalar_count() const { return int32_t(scalars.size()); }

    void add(TensorArgType tag, const ChipTensor &tensor) {
        tensors.push_back({&tensor, nullptr});
        tags.push_back(tag);
    }
    void add(TensorArgType, const TensorCreateInfo &info) {
        tensors.push_back({nullptr, &info});
        tags.push_back(TensorArgType::OUTPUT);
    }
    template <typename... A>
    void add_input(const A &...a) {
        (add(TensorArgType::INPUT, a), ...);
    }
    template <typename... A>
    void add_output(const A &...a) {
        (add(TensorArgType::OUTPUT_EXISTING, a), ...);
    }
    template <typename... A>
    void add_inout(const A &...a) {
        (add(TensorArgType::INOUT, a), ...);
    }
    template <typename... A>
    void add_no_dep(const A &...a) {
        (add(TensorArgType::NO_DEP, a), ...);
    }
    template <typename... A>
    void add_scalar(const A &...a) {
        (scalars.push_back(to_u64(a)), ...);
    }
    void add_scalars(const uint64_t *values, int count) { scalars.append(values, values + count); }
    void set_dependencies(const PTO2TaskId *ids, uint32_t count) {
        deps.clear();
        for (uint32_t i = 0; i < count; i++) deps.push_back(ids[i].raw);
    }
    template <typename... Ids>
    void add_dep(Ids... ids) {
        (deps.push_back(ids.raw), ...);
    }
    template <typename... Ids>
    void add_dep_wait(Ids... ids) {
        (deps.push_back(ids.raw), ...);
    }
    void set_predicate(const CoreTaskPredicate &predicate) { predicate_ = predicate; }
    void set_allow_early_resolve(bool = true) {}
    void set_task_timing_slot(int32_t) {}
    template <typename... A>
    void dump(const A &...) {}
};

using CoreTaskArgs = PtoTaskArgs<MAX_TENSOR_ARGS, MAX_SCALAR_ARGS>;
using ChipTaskArgs = PtoTaskArgs<256, 256>;
template <size_t = 16>
struct CoreTaskArgsWithDeps : CoreTaskArgs {};

class TaskOutputTensors {
public:
    bool empty() const { return made.empty(); }
    uint32_t size() const { return uint32_t(made.size()); }
    const ChipTensor &get_ref(uint32_t index) const {
        always_assert(index < made.size());
        return *made[index];
    }
    PTO2TaskId task_id() const { return id; }
    void set_task_id(PTO2TaskId task) { id = task; }
    PtoList<const ChipTensor *> made;

private:
    PTO2TaskId id = PTO2TaskId::invalid();
};

struct PTO2OrchestrationConfig {
    int expected_arg_count;
};

// What the cores of a task start with is gathered here, word by word, by the kernels' stubs.
inline thread_local PtoList<uint64_t> *pto_words = nullptr;
inline thread_local PtoStore<ChipTensor> *pto_tensors = nullptr;
inline thread_local uint64_t pto_tasks = 0;
inline thread_local uint64_t pto_manual = 0;
// How many of the arguments of the current task are tensors: the first ones.
inline thread_local int pto_tensor_count = 0;

constexpr int PTO_CONTEXT = MAX_TENSOR_ARGS + MAX_SCALAR_ARGS;
using PtoKernel = void (*)(int64_t *);
PtoKernel pto_kernel(int32_t id);

inline const ChipTensor &pto_tensor(const int64_t *args, int index) {
    static const ChipTensor none = {};
    if (index < pto_tensor_count) return *reinterpret_cast<const ChipTensor *>(args[index]);
    pto_refuse("a kernel takes a number for a tensor");
    return none;
}

// The first element of a tensor, or memory that is given by its address.
inline uint64_t pto_elements(const int64_t *args, int index) {
    if (index >= pto_tensor_count) return uint64_t(args[index]);
    const ChipTensor &tensor = pto_tensor(args, index);
    return tensor.buffer.addr + tensor.start_offset * get_element_size(tensor.dtype);
}

inline TaskOutputTensors pto_outputs(const CoreTaskArgs &args, PtoList<const ChipTensor *> &tensors) {
    TaskOutputTensors outputs;
    const PTO2TaskId id{pto_tasks++};
    outputs.set_task_id(id);
    for (const TensorRef &one : args.tensors) {
        if (one.info) {
            ChipTensor &made = pto_tensors->add(one.info->make());
            made.owner_task_id = id;
            outputs.made.push_back(&made);
            tensors.push_back(&made);
        } else {
            tensors.push_back(one.tensor);
        }
    }
    if (args.has_error) pto_refuse(args.error_msg);
    return outputs;
}

inline void pto_core(int32_t id, int core, int block, int blocks, int64_t *args) {
    if (id == INVALID_KERNEL_ID) return;
    args[PTO_CONTEXT] = block;
    args[PTO_CONTEXT + 1] = blocks;
    args[PTO_CONTEXT + 2] = core > 0 ? core - 1 : 0;
    const PtoKernel kernel = pto_kernel(id);
    if (!kernel) return pto_refuse("a task names a kernel that does not exist");
    pto_words->push_back(uint64_t(block) << 8 | uint64_t(core));
    kernel(args);
}

inline void pto_head(PTO2TaskId id, const CoreTaskArgs &task, uint64_t tensors) {
    pto_words->clear();
    const uint64_t head[] = {id.raw, pto_manual, uint64_t(task.launch_spec.blocks), tensors, task.deps.size()};
    pto_words->append(head, head + 5);
}

inline TaskOutputTensors rt_submit_task(const MixedKernels &kernels, const CoreTaskArgs &task) {
    PtoList<const ChipTensor *> tensors;
    TaskOutputTensors outputs = pto_outputs(task, tensors);
    if (pto_host->failed || !task.predicate_.holds()) return outputs;
    int64_t args[PTO_CONTEXT + 3] = {};
    int at = 0;
    for (const ChipTensor *tensor : tensors) args[at++] = int64_t(reinterpret_cast<uintptr_t>(tensor));
    pto_tensor_count = at;
    for (uint64_t scalar : task.scalars) args[at++] = int64_t(scalar);
    const int blocks = task.launch_spec.blocks;
    pto_head(outputs.task_id(), task, tensors.size());
    for (size_t i = 0; i < tensors.size(); i++) {
        const uint64_t size = get_element_size(tensors[i]->dtype);
        pto_words->push_back(uint64_t(task.tags[i]));
        pto_words->push_back(tensors[i]->buffer.addr + tensors[i]->start_offset * size);
        pto_words->push_back(tensors[i]->extent_elem() * size);
    }
    pto_words->append(task.deps.begin(), task.deps.end());
    for (int block = 0; block < blocks && !pto_host->failed; block++) {
        pto_core(kernels.aic_kernel_id, 0, block, blocks, args);
        pto_core(kernels.aiv0_kernel_id, 1, block, blocks, args);
        pto_core(kernels.aiv1_kernel_id, 2, block, blocks, args);
    }
    if (!pto_host->failed && pto_host->task(pto_words->data(), pto_words->size())) pto_host->failed = 1;
    return outputs;
}

inline TaskOutputTensors rt_submit_aic_task(int32_t id, const CoreTaskArgs &args) {
    MixedKernels kernels;
    kernels.aic_kernel_id = id;
    return rt_submit_task(kernels, args);
}

inline TaskOutputTensors rt_submit_aiv_task(int32_t id, const CoreTaskArgs &args) {
    MixedKernels kernels;
    kernels.aiv0_kernel_id = id;
    return rt_submit_task(kernels, args);
}

inline TaskOutputTensors rt_submit_dummy_task(const CoreTaskArgs &args) {
    PtoList<const ChipTensor *> tensors;
    TaskOutputTensors outputs = pto_outputs(args, tensors);
    if (!args.deps.empty() && !pto_host->failed) {
        // Later tasks may follow this one instead of those that it follows.
        pto_head(outputs.task_id(), args, 0);
        pto_words->append(args.deps.begin(), args.deps.end());
        if (pto_host->task(pto_words->data(), pto_words->size())) pto_host->failed = 1;
    }
    return outputs;
}

inline TaskOutputTensors alloc_tensors(const CoreTaskArgs &args) { return rt_submit_dummy_task(args); }

inline TaskOutputTensors alloc_tensors(const TensorCreateInfo *infos, uint32_t count) {
    CoreTaskArgs args;
    for (uint32_t i = 0; i < count; i++) args.add_output(infos[i]);
    return alloc_tensors(args);
}

template <typename... Infos>
inline TaskOutputTensors alloc_tensors(const Infos &...infos) {
    CoreTaskArgs args;
    args.add_output(infos...);
    return alloc_tensors(args);
}

template <typename T = uint64_t>
inline T get_tensor_data(const ChipTensor &tensor, uint32_t count, const uint32_t *indices) {
    const uint64_t size = get_element_size(tensor.dtype);
    uint64_t bits = 0;
    if (!pto_host->failed) memcpy(&bits, tensor.data_as<char>() + tensor.compute_flat_offset(indices, count) * size, size);
    return from_u64<T>(bits);
}

template <typename T = uint64_t>
inline void set_tensor_data(const ChipTensor &tensor, uint32_t count, const uint32_t *indices, T value) {
    const uint64_t size = get_element_size(tensor.dtype), bits = to_u64(value);
    if (!pto_host->failed) memcpy(tensor.data_as<char>() + tensor.compute_flat_offset(indices, count) * size, &bits, size);
}

inline int32_t rt_available_cluster_count() { return pto_host->cube_cores; }
inline int32_t rt_available_aiv_count() { return pto_host->vector_cores; }
inline bool rt_is_fatal() { return pto_host->failed; }
inline void rt_orchestration_done() {}
inline void rt_scope_begin(PTO2ScopeMode = PTO2ScopeMode::AUTO) {}
inline void rt_scope_end() {}

// In a manual scope a task follows the tasks that it names alone.
struct PtoScope {
    const uint64_t outer = pto_manual;
    PtoScope(PTO2ScopeMode mode = PTO2ScopeMode::AUTO) { pto_manual = mode == PTO2ScopeMode::MANUAL; }
    ~PtoScope() { pto_manual = outer; }
};
#define PTO2_SCOPE(...) if (PtoScope pto_scope{__VA_ARGS__}; true)
#define PTO2_SCOPE_GUARD(...) PtoScope pto_scope{__VA_ARGS__}
#define rt_report_fatal(code, format, ...)                  \
    do {                                                    \
        char pto_text[512];                                 \
        snprintf(pto_text, 512, (format), ##__VA_ARGS__);   \
        pto_refuse(pto_text);                               \
    } while (0)
#define LOG_ERROR(...) ((void)0)
#define LOG_WARN(...) ((void)0)
#define LOG_TIMING(...) ((void)0)
#define LOG_INFO(...) ((void)0)
#define LOG_DEBUG(...) ((void)0)
