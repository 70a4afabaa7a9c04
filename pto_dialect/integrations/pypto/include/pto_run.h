// How the host starts an orchestration. Included behind it and its kernels.
#pragma once

#include "pto_orchestration_api.h"

// Five words for each tensor: address, bytes, element type, dimensions, and where its extents begin in `extents`.
extern "C" int pto_run(
    PtoHost *host, uint64_t tensor_count, const uint64_t *tensors, const uint32_t *extents, uint64_t scalar_count,
    const uint64_t *scalars
) {
    PtoList<uint64_t> words;
    PtoStore<ChipTensor> made;
    ChipTaskArgs args;
    pto_host = host;
    pto_words = &words;
    pto_tensors = &made;
    pto_tasks = pto_manual = 0;
    for (uint64_t i = 0; i < tensor_count; i++, tensors += 5) {
        ChipTensor one;
        one.init_external(
            reinterpret_cast<void *>(tensors[0]), tensors[1], extents + tensors[4], uint32_t(tensors[3]),
            DataType(tensors[2])
        );
        args.add_input(made.add(one));
    }
    args.add_scalars(scalars, int(scalar_count));
    if (!host->failed) aicpu_orchestration_entry(args);
    pto_host = nullptr;
    pto_words = nullptr;
    pto_tensors = nullptr;
    return host->failed;
}
