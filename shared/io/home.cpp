// SPDX-License-Identifier: Apache-2.0
#include "shared/io/home.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace rm {
namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::string userHome() {
    const std::string home = variable("HOME");
    if (!home.empty())
        return home;
    const passwd* entry = ::getpwuid(::getuid());
    return entry ? entry->pw_dir : "/";
}

} // namespace

std::string ringmasterHome() {
    const std::string home = variable("RINGMASTER_HOME");
    return home.starts_with('/') ? home
                                 : xdgFolder("XDG_DATA_HOME", "/.local/share") + "/ringmaster";
}

// The XDG specification says that a relative value is to be ignored.
std::string xdgFolder(const char* name, const char* fallback) {
    const std::string value = variable(name);
    return value.starts_with('/') ? value : userHome() + fallback;
}

} // namespace rm
