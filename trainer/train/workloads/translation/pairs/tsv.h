// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/translation/pairs/pair.h"

namespace rm {

/// Reads whole lines "source TAB target" without a header. LF and CRLF, a byte order mark at the
/// front and empty lines are accepted. `firstLine` is the number of the first one in `path`. A line
/// is bad if it has another number of columns, an empty column or invalid UTF-8.
PairHarvest readTsv(std::string_view text, const std::string& path, int64_t firstLine);

} // namespace rm
