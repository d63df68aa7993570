// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/amounts.h"

#include <QLocale>

#include <iterator>

namespace rm {

std::string bytesWords(int64_t bytes) {
    constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    auto amount = static_cast<double>(bytes);
    size_t unit = 0;
    while (amount >= 1000 && unit + 1 < std::size(kUnits)) {
        amount /= 1000;
        ++unit;
    }
    const int decimals = unit == 0 || amount >= 100 ? 0 : 1;
    return QString::number(amount, 'f', decimals).toStdString() + ' ' + kUnits[unit];
}

std::string memoryWords(int64_t bytes) {
    return QLocale::c().formattedDataSize(bytes, 1).toStdString();
}

} // namespace rm
