// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstdint>

namespace rm {

/// A checkpoint of a run that another run is to start from.
struct BranchPoint {
    QString run;
    QString checkpoint; ///< name of its folder
    int64_t step = 0;
};

} // namespace rm
