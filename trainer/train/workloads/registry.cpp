// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/registry.h"

#include "shared/enforce.h"
#include "shared/spec/model_family.h"

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

} // namespace rm
