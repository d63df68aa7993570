// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/run_dir/folders.h"

#include <string>
#include <vector>

namespace rm {

/// A run's checkpoints in the folder that its spec names (checkpoint.directory), outside its own.
struct NamedCheckpoints {
    std::string runId;
    std::string folder;             ///< as its ranks name it
    std::vector<std::string> paths; ///< by their manifests, also those that were set aside
    /// Why they do not go with the run, to read behind "as"; empty: they do.
    std::string whyStays;
};

/// The named folders of all parts of the run here, each once, where anything of it lies. They go
/// with the run only where that cannot hit anybody else: its OWNER.json names this run and no
/// attempt that began elsewhere, node 0 of the run was here, which writes it, and the folder is
/// this user's and no link. What cannot be read is left out.
std::vector<NamedCheckpoints> namedCheckpoints(const Folders& folders, const std::string& runId);

/// Removes those that go with the run, and the folder if nothing else lies in it. What is gone
/// already is fine. The caller has made sure that nothing of the run runs.
Result<void> removeNamedCheckpoints(const NamedCheckpoints& named);

} // namespace rm
