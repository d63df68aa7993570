// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>

namespace rm {

/// What a step takes at least in most tests: long enough that a small model's ranks mostly sleep.
constexpr int kPaceMs = 20;

constexpr const char* kPaceVariable = "RINGMASTER_STEP_MS";

/// "NAME=value" for the environment of ranks; see the trainer's Pace. 0: as fast as they can.
inline QString paceOf(int stepMs = kPaceMs) {
    return QString("%1=%2").arg(kPaceVariable).arg(stepMs);
}

/// The same for ranks of the processes that this one starts.
inline void paceOwnRanks() {
    qputenv(kPaceVariable, QByteArray::number(kPaceMs));
}

} // namespace rm
