// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/descriptor.h"
#include "trainer/train/dist/world.h"

#include <cstdint>
#include <string>

namespace rm {

/// For tests alone: what this rank computed, told past journal and telemetry, so that what is
/// stored in the end can be compared with it. If the environment has RINGMASTER_ORACLE=FOLDER, an
/// existing folder, every logged step appends the line `ATTEMPT STEP BITS WALL_NS` to
/// FOLDER/RUN-rank-NNNNN, where BITS are those of the loss (float64) as a hexadecimal number.
/// Otherwise nothing is written. An agent passes the variable on as all that begin with
/// RINGMASTER_.
class Oracle {
public:
    static Result<Oracle> open(const TorchrunEnvironment& environment);

    /// Returns when the line is on the disk, before which nobody else may hear of the step. Aborts
    /// if it cannot be written.
    void tell(int64_t step, double loss) const;

private:
    Descriptor m_file; ///< none: nobody asks
    std::string m_path;
    int m_attempt = 1;
};

} // namespace rm
