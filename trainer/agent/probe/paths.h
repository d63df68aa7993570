// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <string>

namespace rm {

/// `paths`: what lies at each path of `list`, a JSON array of texts, as a JSON array in its order
/// of {"path", "kind", "error"}. Kinds: "file" and "folder", which this user may read, "empty" (a
/// folder), "other", "missing" and "denied"; `error` is the system's message for the last two.
/// kInvalid: `list` is something else.
Result<std::string> pathsReport(const std::string& list);

} // namespace rm
