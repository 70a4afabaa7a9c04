// Runs an orchestration function of the run time one task after the other: each submitted task is handed to a callback.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>
#include <vector>

#include "pto_orchestration_api.h"
#include PTO_ORCHESTRATION

namespace {

struct Told {
    uint64_t address, size, start;
    uint32_t dtype, ndims;
    uint32_t shapes[5], strides[5];
};
using Callback = int (*)(const int32_t *, int32_t, int32_t, const Told *, int32_t, const uint64_t *);

Callback told;
bool fatal;
std::deque<ChipTensor> made;
std::vector<std::unique_ptr<char[]>> blocks;
uint32_t tasks;

Told describe(const ChipTensor &tensor)
{
    Told one{};
    one.address = tensor.buffer.addr;
    one.size = tensor.buffer.size;
    one.start = tensor.start_offset;
    one.dtype = static_cast<uint32_t>(tensor.dtype);
    one.ndims = tensor.ndims;
    for (uint32_t n = 0; n < tensor.ndims && n < 5; ++n) {
        one.shapes[n] = tensor.shapes[n];
        one.strides[n] = tensor.strides[n];
    }
    return one;
}

const ChipTensor &create(const TensorCreateInfo &info)
{
    const uint64_t size = info.buffer_size_bytes();
    blocks.emplace_back(new char[size + 64]);
    // Whoever reads what nobody has written gets no number.
    memset(blocks.back().get(), 0xff, size + 64);
    made.emplace_back();
    init_tensor_from_create_info(made.back(), info, blocks.back().get(), size);
    return made.back();
}

char *element(const ChipTensor &tensor, uint32_t ndims, const uint32_t indices[])
{
    return reinterpret_cast<char *>(tensor.buffer.addr) +
           tensor.compute_flat_offset(indices, ndims) * get_element_size(tensor.dtype);
}

uint64_t read(const ChipTensor &tensor, uint32_t ndims, const uint32_t indices[])
{
    uint64_t value = 0;
    memcpy(&value, element(tensor, ndims, indices), get_element_size(tensor.dtype));
    return value;
}

template <class A>
bool is_wanted(const A &args)
{
    if constexpr (requires { args.predicate(); }) {
        const auto &predicate = args.predicate();
        const int op = static_cast<int>(predicate.op);
        if (op == 0) return true;
        const auto &operand = predicate.operand;
        const uint64_t bits = read(*operand.tensor, operand.ndims, operand.indices);
        const bool is_long = get_element_size(operand.tensor->dtype) == 8;
        const int64_t value = is_long ? static_cast<int64_t>(bits) : static_cast<int32_t>(bits);
        const int64_t target = predicate.target;
        const bool results[] = {value == target, value != target, value > target, value < target, value >= target, value <= target};
        return results[op - 1];
    } else {
        return true;
    }
}

TaskOutputTensors run(const int32_t kernels[3], int32_t count, const CoreTaskArgs &args)
{
    TaskOutputTensors outputs;
    outputs.set_task_id(PTO2TaskId{++tasks});
    std::vector<Told> tensors;
    for (int32_t n = 0; n < args.tensor_count(); ++n) {
        if (args.tag(n) == TensorArgType::OUTPUT) {
            const ChipTensor &tensor = create(args.tensor(n).create_info());
            outputs.materialize_output(tensor);
            tensors.push_back(describe(tensor));
        } else {
            tensors.push_back(describe(args.tensor(n).ref()));
        }
    }
    if (kernels != nullptr && !fatal && is_wanted(args))
        fatal = told(kernels, count, args.tensor_count(), tensors.data(), args.scalar_count(), args.scalar_data()) != 0;
    return outputs;
}

void silent(const char *, const char *, ...) {}
void report(PTO2Runtime *, int32_t code, const char *where, const char *, ...)
{
    fprintf(stderr, "fatal error %d in %s\n", code, where);
    fatal = true;
}

/** Run times of different chips call the number of blocks differently. */
template <class Spec>
int32_t blocks_of(const Spec &spec)
{
    if constexpr (requires { spec.block_num(); })
        return spec.block_num();
    else
        return spec.core_num();
}

template <class Ops>
void fill(Ops &ops)
{
    ops.submit_task = [](PTO2Runtime *, const MixedKernels &mixed, const CoreTaskArgs &args) {
        const int32_t kernels[3] = {mixed.aic_kernel_id, mixed.aiv0_kernel_id, mixed.aiv1_kernel_id};
        return run(kernels, blocks_of(args.launch_spec), args);
    };
    ops.scope_begin = ops.scope_end = ops.orchestration_done = [](PTO2Runtime *) {};
    ops.is_fatal = [](PTO2Runtime *) { return fatal; };
    ops.report_fatal = report;
    ops.log_error = ops.log_warn = ops.log_timing = ops.log_info = ops.log_debug = silent;
    ops.alloc_tensors = [](PTO2Runtime *, const CoreTaskArgs &args) { return run(nullptr, 1, args); };
    ops.submit_dummy_task = [](PTO2Runtime *, const CoreTaskArgs &args) { return run(nullptr, 1, args); };
    if constexpr (requires { ops.get_tensor_data; }) {
        ops.get_tensor_data = [](PTO2Runtime *, const ChipTensor &tensor, uint32_t ndims, const uint32_t indices[]) {
            return read(tensor, ndims, indices);
        };
        ops.set_tensor_data = [](PTO2Runtime *, const ChipTensor &tensor, uint32_t ndims, const uint32_t indices[], uint64_t value) {
            memcpy(element(tensor, ndims, indices), &value, get_element_size(tensor.dtype));
        };
    }
    if constexpr (requires { ops.available_cluster_count; }) {
        ops.available_cluster_count = [](PTO2Runtime *) -> int32_t { return PTO_CLUSTERS; };
        ops.available_aiv_count = [](PTO2Runtime *) -> int32_t { return 2 * PTO_CLUSTERS; };
    }
}

} // namespace

static PTO2Runtime *bound;
extern "C" PTO2Runtime *framework_current_runtime() { return bound; }
extern "C" void unified_log_error(const char *, const char *, ...) {}
extern "C" void framework_bind_runtime(PTO2Runtime *) {}
[[noreturn]] void assert_impl(const char *condition, const char *file, int line)
{
    if (!fatal) fprintf(stderr, "%s:%d: %s does not hold\n", file, line, condition);
    fatal = true;
    throw std::runtime_error(condition);
}

// Runs the orchestration on tensors and numbers; 0 if all tasks ran.
extern "C" int pto_run_host(Callback callback, int32_t tensors, const Told *given, int32_t scalars, const uint64_t *numbers)
{
    static PTO2RuntimeOps ops{};
    static PTO2Runtime runtime{};
    fill(ops);
    runtime.ops = &ops;
    bound = &runtime;
    told = callback;
    fatal = false;
    auto args = std::make_unique<ChipTaskArgs>();
    for (int32_t n = 0; n < tensors; ++n) {
        ChipTensor tensor;
        tensor.init_external(reinterpret_cast<void *>(given[n].address), given[n].size, given[n].shapes, given[n].ndims,
                             static_cast<DataType>(given[n].dtype), 0);
        made.push_back(tensor);
        args->add_input(made.back());
    }
    for (int32_t n = 0; n < scalars; ++n) args->add_scalar(numbers[n]);
    try {
        PTO_ENTRY(*args);
    } catch (const std::runtime_error &) {
    }
    blocks.clear();
    made.clear();
    return fatal ? 1 : 0;
}
