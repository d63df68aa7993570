// SPDX-License-Identifier: Apache-2.0
#include "shared/amounts.h"

#include <array>
#include <cstdio>

namespace rm {
namespace {

using Units = std::array<const char*, 6>;

struct Amount {
    double value;
    const char* unit;
    bool isWhole; ///< in bytes
};

Amount scaled(int64_t bytes, double step, const Units& units) {
    auto value = static_cast<double>(bytes);
    size_t unit = 0;
    for (; value >= step && unit + 1 < units.size(); ++unit)
        value /= step;
    return {value, units[unit], unit == 0};
}

std::string words(const Amount& amount, int decimals) {
    char text[48];
    std::snprintf(text, sizeof text, "%.*f %s", amount.isWhole ? 0 : decimals, amount.value,
                  amount.unit);
    return text;
}

} // namespace

std::string bytesWords(int64_t bytes) {
    const Amount amount = scaled(bytes, 1000, {"B", "kB", "MB", "GB", "TB", "PB"});
    return words(amount, amount.value >= 100 ? 0 : 1);
}

std::string memoryWords(int64_t bytes) {
    return words(scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"}), 1);
}

} // namespace rm
