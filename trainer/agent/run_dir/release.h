// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rm {

inline constexpr const char* kRelease = RINGMASTER_RELEASE; ///< "0.1.0"

} // namespace rm
