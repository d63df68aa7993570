// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/home_id.h"

#include "shared/io/file.h"
#include "shared/io/random_hex.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>

namespace rm {

namespace {

constexpr size_t kDigits = 32;

bool isId(const std::string& text) {
    return text.size() == kDigits && std::ranges::all_of(text, [](unsigned char c) {
               return std::isdigit(c) || (c >= 'a' && c <= 'f');
           });
}

std::string idIn(const std::string& path) {
    if (const auto known = readFile(path, kDigits); known && isId(*known))
        return *known;
    const std::string id = randomHex(kDigits);
    const std::string own = path + "-" + id;
    if (!writeFileAtomically(own, id))
        return {};
    // Unlike rename(2), this does not replace the file that another node made meanwhile.
    (void)::link(own.c_str(), path.c_str());
    ::unlink(own.c_str());
    const auto agreed = readFile(path, kDigits);
    return agreed && isId(*agreed) ? *agreed : std::string();
}

} // namespace

std::string homeId(const std::string& home) {
    return idIn(home + "/home-id");
}

std::string stateId(const std::string& stateDir) {
    return idIn(stateDir + "/state-id");
}

} // namespace rm
