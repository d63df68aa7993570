// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

namespace rm {

/// The text of an exception, without LibTorch's stack traces.
std::string causeOf(const std::exception& error);

} // namespace rm
