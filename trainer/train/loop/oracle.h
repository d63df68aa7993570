// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/descriptor.h"
#include "trainer/train/dist/world.h"

#include <cstdint>
#include <string>

namespace rm {

/// For tests alone: tells, past journal and telemetry, what this rank computed, so that the stored
/// values can be compared with it. If the environment has RINGMASTER_ORACLE=FOLDER, an existing
/// folder, every logged step appends the line `ATTEMPT STEP BITS WALL_NS` to
/// FOLDER/RUN-rank-NNNNN, where BITS are those of the loss (float64) as a hexadecimal number.
/// Otherwise nothing is written. An agent passes on all variables whose names begin with
/// RINGMASTER_.
class Oracle {
public:
    static Result<Oracle> open(const TorchrunEnvironment& environment);

    /// Returns when the line is on the disk; nobody else may learn of the step earlier. Aborts if
    /// it cannot be written.
    void record(int64_t step, double loss) const;

private:
    Descriptor m_file; ///< none: nothing is written
    std::string m_path;
    int m_attempt = 1;
};

} // namespace rm
