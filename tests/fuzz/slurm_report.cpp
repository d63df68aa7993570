// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/slurm_report.h"

#include "tests/fuzz/fuzz.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(fuzz::text(data, size));
    if (const auto report = parseSlurmReport(text)) {
        for (const SlurmPartition& partition : report->partitions) {
            RM_HOLDS(!partition.name.empty());
            RM_HOLDS(partition.idleNodes >= 0 && partition.idleNodes <= partition.nodes);
            RM_HOLDS(partition.gpusPerNode >= 0 && partition.cpusPerNode >= 0);
            RM_HOLDS(partitionCalled(*report, partition.name) != nullptr);
        }
    }
    if (const auto job = parseSlurmJob(text)) {
        RM_HOLDS(!job->id.empty() && job->state.find('|') == std::string::npos);
        (void)phaseOf(job->state);
    }
    return 0;
}
