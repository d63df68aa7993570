// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/machine_sample.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// How a node that is looked at is reached.
enum class MachineState {
    kConnecting,
    kLive,
    kLost,    ///< cannot be reached; tried again by itself
    kRefused, ///< a person has to enter or decide something: nothing is tried before that
    kFailed,  ///< reached, but its agent does not tell; tried again by itself, seldom
    kCluster, ///< the login node of a Slurm cluster, which is not looked at
};

/// A sample with the moment at which it came.
struct MachinePoint {
    int64_t atNs = 0; ///< this computer's clock; no two of a node are equal
    MachineSample sample;
    bool operator==(const MachinePoint&) const = default;
};

/// What is to be told of a node.
struct MachineQuestion {
    std::string node;
    int64_t after = 0;         ///< MachinePoint::atNs of the newest that is known; 0: none is
    bool allProcesses = false; ///< else those with a GPU, those of runs, and the busiest
    bool operator==(const MachineQuestion&) const = default;
};

/// What is new of a node.
struct MachineNews {
    std::string node;
    MachineState state = MachineState::kConnecting;
    std::string why; ///< what is in the way, as one sentence; empty: nothing
    std::string fix; ///< what a person can do about it; empty: nothing
    std::optional<MachineFacts> facts;
    /// The oldest first; more may be there than one answer takes. Without processes.
    std::vector<MachinePoint> points;
    std::vector<ProcessFigures> processes; ///< the newest that are known
    bool operator==(const MachineNews&) const = default;
};

/// How long samples are kept, by whom they were asked for and by whom they are looked at.
inline constexpr int64_t kMachineHistoryNs = 300 * int64_t{1'000'000'000};

} // namespace rm
