// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/compare/class_figures.h"

#include "app/core/findings/text.h"

#include <limits>

namespace rm {

namespace {

double shareOf(uint64_t part, uint64_t whole) {
    return whole == 0 ? std::numeric_limits<double>::quiet_NaN()
                      : static_cast<double>(part) / static_cast<double>(whole);
}

} // namespace

std::string rowName(const ConfusionMatrix& matrix, size_t row) {
    if (row < matrix.names.size())
        return matrix.names[row];
    const auto others = matrix.classes - static_cast<int64_t>(matrix.names.size());
    return others == 1 ? say("samples.other-class")
                       : say("samples.other-classes", {{"count", std::to_string(others)}});
}

std::vector<ClassFigures> classFigures(const ConfusionMatrix& matrix) {
    std::vector<ClassFigures> all;
    for (size_t row = 0; row < matrix.names.size(); ++row) {
        ClassFigures figures;
        figures.name = matrix.names[row];
        uint64_t taken = 0;
        for (size_t other = 0; other < matrix.side(); ++other) {
            const uint64_t count = matrix.at(row, other);
            figures.pictures += count;
            taken += matrix.at(other, row);
            if (other == row || count <= figures.confusions)
                continue;
            figures.confusions = count;
            figures.confusedWith = rowName(matrix, other);
        }
        figures.recall = shareOf(matrix.at(row, row), figures.pictures);
        figures.precision = shareOf(matrix.at(row, row), taken);
        all.push_back(std::move(figures));
    }
    return all;
}

} // namespace rm
