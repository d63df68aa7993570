// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace rm {

/// How the reason of a checkpoint begins that is saved before settings change: "before set clip,
/// lr". Release 0.1.0 named no settings.
inline const std::string kBeforeSetReason = "before set";

} // namespace rm
