// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace rm {

/// So many digits 0-9a-f, of the kernel's random numbers, which nobody can guess.
std::string randomHex(size_t digits);

} // namespace rm
