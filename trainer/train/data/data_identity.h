// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <functional>
#include <string>
#include <vector>

namespace rm {

/// Task::dataIdentity() of data that is told apart in two ways: by what is there, such as its names
/// or its length, and by its content. Checkpoints of earlier releases have the first alone.
std::string withContent(const std::string& identity, const std::string& content);

/// Whether both tell of the same data, as far as both tell it. Empty: it is not known.
bool mayBeSameData(const std::string& a, const std::string& b);

/// A hash of what files are, without reading them: of the size of each and of a few bytes of some,
/// of `most` at the most. `path(i)` of `count` files. Files that are gone count as empty.
std::string sampledContent(int64_t count, int64_t most,
                           const std::function<std::string(int64_t)>& path);

} // namespace rm
