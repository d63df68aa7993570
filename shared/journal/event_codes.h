// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rm {

/// Code of the event of an attempt that failed and is followed by another one by itself.
inline constexpr const char* kRestartsEvent = "restarts";
/// That says why a checkpoint was not copied.
inline constexpr const char* kNotCopiedEvent = "checkpoint-not-copied";

} // namespace rm
