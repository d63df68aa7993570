// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/board/board.h"
#include "shared/journal/segment.h"
#include "shared/spec/run_spec.h"
#include "trainer/train/device/device.h"
#include "trainer/train/dist/world.h"
#include "trainer/train/session/options.h"
#include "trainer/train/telemetry/telemetry.h"

#include <memory>
#include <string>

namespace rm {

/// Everything that a rank needs before it can train: its place among the ranks, the spec, and where
/// it reports. One per process; made by openSession().
struct Session {
    Options options;
    TorchrunEnvironment environment;
    RunSpec spec;       ///< checked
    std::string runDir; ///< absolute
    std::unique_ptr<Board> board;
    std::unique_ptr<Telemetry> telemetry; ///< after the board, on which it shows its state
    Device device;
    World world;

    std::string checkpointDir() const;
    void event(Severity severity, const char* code, const std::string& message, int64_t step) const;
};

/// Reads the spec, opens journal and board, chooses the device. The caller then sets the device's
/// numerics (configureDevice()) and joins `world`, which waits for the other ranks.
Result<Session> openSession(Options options, TorchrunEnvironment environment);

/// Reads and checks the spec in a file.
Result<RunSpec> readSpec(const std::string& path);

/// ATen's number of threads in a rank, for this number of ranks on the machine.
int threadsPerRank(const RunSpec& spec, int localRanks);

} // namespace rm
