// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <string>

namespace rm {

/// What a rank's journal in `folder` says, as one line of JSON: {"series": {"train/loss": [[step,
/// value], ...],
/// ...}, "events": ["...", ...]}, in the order in which it was written.
Result<std::string> journalFigures(const std::string& folder, int rank);

} // namespace rm
