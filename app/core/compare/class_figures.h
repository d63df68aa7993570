// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/journal/records.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// How a validation did on the pictures of one class.
struct ClassFigures {
    std::string name;
    uint64_t pictures = 0;
    double recall = 0;    ///< share of its pictures that were found; NaN: it has none
    double precision = 0; ///< share of what was taken for it that is it; NaN: nothing was
    std::string
        confusedWith;        ///< what its pictures were taken for most often, wrongly; empty: never
    uint64_t confusions = 0; ///< how often that was
};

/// Of every class that has a row, in their order.
std::vector<ClassFigures> classFigures(const ConfusionMatrix& matrix);

/// The name of a row: of all other classes "2 other classes".
std::string rowName(const ConfusionMatrix& matrix, size_t row);

} // namespace rm
