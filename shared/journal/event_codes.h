// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rm {

// Texts of records that a program looks for.

/// Code of the event of an attempt that failed and is followed by another one by itself.
inline constexpr const char* kRestartsEvent = "restarts";
/// That says why a checkpoint was not copied.
inline constexpr const char* kNotCopiedEvent = "checkpoint-not-copied";

/// AttemptEnded::message where a person had every rank killed; its outcome is that of a stop.
inline constexpr const char* kKilledMessage = "killed on request";

} // namespace rm
