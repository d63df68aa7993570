// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace rm {

/// Ringmaster's folder on this machine for what was sent to it or found out about it: absolute
/// RINGMASTER_HOME, else below XDG_DATA_HOME or the user's home. It need not exist.
std::string ringmasterHome();

/// The folder that an XDG variable names, else `fallback` in the user's home.
std::string xdgFolder(const char* name, const char* fallback);

} // namespace rm
