// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/node_report.h"
#include "trainer/agent/run_dir/folders.h"

#include <vector>

namespace rm {

/// The runs of which ranks or an agent live on this machine, by id. What cannot be read is left
/// out.
std::vector<RunReport> livingRuns(const Folders& folders);

/// A rank whose process runs on this machine.
struct LivingRank {
    int64_t pid = 0;
    std::string runId;
    std::string runName;
    int rank = 0;
    bool operator==(const LivingRank&) const = default;
};

/// The ranks of this user's runs that live on this machine. What cannot be read is left out.
std::vector<LivingRank> livingRanks(const Folders& folders);

} // namespace rm
