// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_reader.h"

#include <QString>

#include <cstdint>
#include <string>

namespace rm {

/// The time from which, or up to which, a person wants to read the log of a run: a step ("1200"),
/// how long ago
/// ("90s", "15m", "2h", "3d"), a time of this day ("14:30", "14:30:05"), or a day with or without
/// one ("2026-11-21", "2026-11-21 14:30"). Times are of this computer's zone. kInvalid: it is none
/// of these; kNotFound: the run has no such step.
/// `end`: whether lines from then on are wanted, or up to then: up to the end of a day or minute,
/// and up to a step that the run does not have yet is all that there is.
enum class LogEnd { kSince, kUntil };
Result<int64_t> logTime(StoreReader& reader, const QString& run, const std::string& text,
                        int64_t nowNs, LogEnd end = LogEnd::kSince);

} // namespace rm
