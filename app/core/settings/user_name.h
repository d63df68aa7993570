// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace rm {

/// Who runs this program, by the password database; "user 1000" where that has no name.
std::string userName();

} // namespace rm
