// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>

namespace rm {

/// What a step takes at least in most tests: long enough that a small model's ranks mostly sleep.
constexpr int kPaceMs = 20;

/// "NAME=value" for the environment of ranks; see the trainer's Pace. 0: as fast as they can.
inline QString paceOf(int stepMs = kPaceMs) {
    return "RINGMASTER_STEP_MS=" + QString::number(stepMs);
}

/// The same for ranks of the processes that this one starts.
inline void paceOwnRanks() {
    qputenv("RINGMASTER_STEP_MS", QByteArray::number(kPaceMs));
}

} // namespace rm
