// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/registry.h"

#include "shared/enforce.h"
#include "shared/spec/model_family.h"
#include "trainer/train/device/exact_products.h"
#include "trainer/train/device/host_heap.h"
#include "trainer/train/model/fused_ops.h"

#include <algorithm>

namespace rm {

std::span<const Workload* const> workloads() {
    static const Workload* const all[] = {&gptWorkload(), &llamaWorkload(), &translationWorkload(),
                                          &resnetWorkload()};
    return all;
}

const Workload& workloadOf(const RunSpec& spec) {
    const auto at = std::ranges::find(workloads(), familyOf(spec).name, &Workload::family);
    RM_ENFORCE(at != workloads().end());
    return **at;
}

int64_t readersOf(const RunSpec& spec, const Device& device, int localRanks) {
    const int64_t wanted = spec.data.workers;
    return wanted > 0 ? wanted : workloadOf(spec).readers(device, localRanks);
}

void configureDevice(const Device& device, const RunSpec& spec, const std::string& traceFolder) {
    const Workload& workload = workloadOf(spec);
    device.plugin->configure({.tryConvolutions = workload.convolves(), .traceFolder = traceFolder});
    setFusedOps(device.plugin->fusedOps());
    useTf32(spec.train.tf32);
    if (device.isCpu())
        keepOneHeap();
    if (device.isCpu() && workload.hasManyShapes())
        keepFewPrograms();
}

} // namespace rm
