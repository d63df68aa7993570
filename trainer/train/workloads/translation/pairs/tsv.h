// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/translation/pairs/pair.h"

namespace rm {

/// Reads whole lines "source TAB target", no header; either end of line, a byte order mark at the
/// front and empty lines are fine. `firstLine` is the number of the first one in `path`. A line
/// with another number of columns, an empty one of them or bytes that are not UTF-8 is bad.
PairHarvest readTsv(std::string_view text, const std::string& path, int64_t firstLine);

} // namespace rm
