// SPDX-License-Identifier: Apache-2.0
#include "shared/io/random_hex.h"

#include "shared/enforce.h"

#include <sys/random.h>

#include <cerrno>
#include <vector>

namespace rm {

std::string randomHex(size_t digits) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::vector<unsigned char> bytes(digits);
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t more = ::getrandom(bytes.data() + done, bytes.size() - done, 0);
        RM_ENFORCE(more > 0 || errno == EINTR);
        done += more > 0 ? static_cast<size_t>(more) : 0;
    }
    std::string text;
    for (const unsigned char byte : bytes)
        text += kDigits[byte % 16];
    return text;
}

} // namespace rm
