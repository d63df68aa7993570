// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/findings/text.h"

#include <QMetaType>
#include <QString>
#include <QStringList>

#include <cstddef>
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

/// The known parts of a transfer in words: "52 MB sent", "80 MB/s", "1 s left". The window and
/// the terminal say bytes and durations each in their way.
template <class Bytes, class Duration>
QStringList amountParts(const Progress& progress, Bytes bytes, Duration duration) {
    const auto part = [](const char* id, Values values = {}) {
        return QString::fromStdString(say(id, values));
    };
    QStringList parts{
        part("launch.sent", {{"bytes", bytes(static_cast<double>(progress.sent)).toStdString()}})};
    if (progress.done >= progress.total)
        return parts << part("launch.put-in-place");
    if (progress.bytesPerSec >= 0)
        parts << part("launch.a-second", {{"bytes", bytes(progress.bytesPerSec).toStdString()}});
    if (progress.secondsLeft >= 0)
        parts << part("launch.left", {{"time", duration(progress.secondsLeft).toStdString()}});
    return parts;
}

/// At most `most` parts of a transfer, in their order: those that take longest. A part whose pace
/// is not known stands still.
std::vector<Progress> slowestOf(const std::vector<Progress>& nodes, size_t most);

} // namespace rm

Q_DECLARE_METATYPE(rm::Progress)
