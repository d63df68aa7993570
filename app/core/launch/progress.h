// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMetaType>
#include <QString>

#include <cstdint>
#include <vector>

namespace rm {

/// How a procedure (launch, resume, restore) goes on.
struct Progress {
    QString stage;                    ///< "Check nodes", "Send trainer", "Start ranks"
    int64_t done = 0, total = 0;      ///< bytes of files; total 0: not counted
    int64_t sent = 0;                 ///< bytes on the wire for the done ones
    double bytesPerSec = -1;          ///< on the wire in the last seconds; -1: not known yet
    double secondsLeft = -1;          ///< at the pace of the last seconds; -1: not known yet
    std::vector<Progress> nodes = {}; ///< what it is the sum of: one part per node, whose `stage`
                                      ///< is its name and what is repaired there
    bool operator==(const Progress&) const = default;
};

} // namespace rm

Q_DECLARE_METATYPE(rm::Progress)
