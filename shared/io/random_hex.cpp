// SPDX-License-Identifier: Apache-2.0
#include "shared/io/random_hex.h"

#include "shared/enforce.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <span>

namespace rm {

std::string randomHex(size_t digits) {
    static constexpr char kDigits[] = "0123456789abcdef";
    constexpr size_t kMost = 256; // bytes of one call of getentropy
    std::array<unsigned char, kMost> bytes;
    std::string text;
    while (text.size() < digits) {
        const size_t count = std::min(digits - text.size(), kMost);
        RM_ENFORCE(::getentropy(bytes.data(), count) == 0);
        for (const unsigned char byte : std::span(bytes).first(count))
            text += kDigits[byte % 16];
    }
    return text;
}

} // namespace rm
