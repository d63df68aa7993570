// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "trainer/agent/run_dir/folders.h"

#include <set>
#include <string>
#include <vector>

namespace rm {

/// The deployed things that the runs and the processes of this node need.
class Needs {
public:
    /// An error where a run's folder cannot be read: what it needs is then not known.
    static Result<Needs> read(const Folders& folders);

    /// Why the folder HOME/KIND/NAME has to stay; empty: nothing needs it.
    std::string whyNeeded(const std::string& kind, const std::string& name) const;

    /// Why it cannot be removed even where everything is to go; empty: it can.
    std::string whyInUse(const std::string& kind, const std::string& name) const;

private:
    /// The deployed things that a run of this node names.
    struct Run {
        std::string id;
        std::string folder;
        std::set<std::string> agents; ///< programs by which it lives, without links
        std::string jobScript;        ///< names the agent that its job of Slurm starts
        std::string bundles;          ///< texts that name them, of attempts that may go on
        std::string data;             ///< texts that name it
        bool mayRunElsewhere = false;
    };
    static Result<Run> readRun(const std::string& folder);
    static Result<void> readAttempt(const std::string& folder, Run& run);
    std::string whyAgentNeeded(const std::string& name) const;

    std::string m_home; ///< without links, as the kernel names it
    std::vector<Run> m_runs;
    std::set<std::string> m_open; ///< paths in use below m_home
};

} // namespace rm
