// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/machine_sample.h"

#include "tests/fuzz/fuzz.h"

#include <cmath>

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto line = parseMachineLine(std::string(fuzz::text(data, size)));
    if (!line)
        return 0;
    const std::string again = std::visit([](const auto& what) { return toJson(what); }, *line);
    const auto read = parseMachineLine(again);
    RM_HOLDS(read.has_value() || again.size() > kMaxMachineLine);
    if (const auto* sample = std::get_if<MachineSample>(&*line)) {
        RM_HOLDS(sample->gpus.size() <= kMaxMachineGpus && sample->memoryBytes >= 0);
        RM_HOLDS(!sample->cpu || (std::isfinite(*sample->cpu) && *sample->cpu >= 0));
        RM_HOLDS(!sample->processes || sample->processes->size() <= kMaxMachineProcesses);
    }
    return 0;
}
