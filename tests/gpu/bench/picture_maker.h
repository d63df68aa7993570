// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <string>

namespace rm {

/// Writes `count` JPEGs, each another, of 500 x 375 pixels and about 100 kB, as ImageNet's are,
/// into ROOT/CLASS/N.jpg, on all cores. kInvalid: `root` is there already, or `classes` is not 1 to
/// `count`. A picture that cannot be written is named.
Result<void> makePictures(const std::string& root, int64_t count, int64_t classes);

} // namespace rm
