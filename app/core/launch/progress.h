// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMetaType>
#include <QString>

#include <cstdint>

namespace rm {

/// How a procedure (launch, resume, restore) goes on.
struct Progress {
    QString stage;               ///< "Check nodes", "Send trainer to node-a", "Start ranks"
    int64_t done = 0, total = 0; ///< bytes; total 0: not counted
    double bytesPerSec = 0;
    double secondsLeft = -1;
};

} // namespace rm

Q_DECLARE_METATYPE(rm::Progress)
