// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/user_name.h"

#include <pwd.h>
#include <unistd.h>

#include <vector>

namespace rm {

std::string userName() {
    constexpr size_t kEnough = 16384;
    std::vector<char> text(kEnough);
    passwd entry = {};
    passwd* found = nullptr;
    ::getpwuid_r(::geteuid(), &entry, text.data(), text.size(), &found);
    return found ? std::string(found->pw_name) : "user " + std::to_string(::geteuid());
}

} // namespace rm
