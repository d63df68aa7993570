// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace rm {

/// How the reason of a checkpoint begins that is saved before settings change: "before set clip,
/// lr". Release 0.1.0 named no settings.
inline const std::string kBeforeSetReason = "before set";

/// Whether a checkpoint of that reason was saved before settings changed. It stays as long as the
/// change is in force, and a person may remove it.
inline bool isBeforeSet(std::string_view reason) {
    return reason.starts_with(kBeforeSetReason);
}

} // namespace rm
