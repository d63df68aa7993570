// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/series.h"
#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace rm {

/// Rows of samples of one rank: all metrics of a row share its step and time, so those are stored
/// once. A stream is what one rank in one attempt emits at its steps (or, `timed`, what the agent
/// samples of it by the clock), sorted by step.
struct StreamRows {
    struct Column {
        std::vector<uint32_t> rows; ///< ascending indices into steps: where the metric has a value
        std::vector<float> values;  ///< as long as `rows`
        bool operator==(const Column&) const = default;
    };

    std::vector<int64_t> steps;
    std::vector<int64_t> walls;
    std::map<int64_t, Column> columns; ///< by metric.id of the database

    size_t size() const { return steps.size(); }
    bool operator==(const StreamRows&) const = default;
};

/// Adds an empty row; set() fills it. A second value of a metric in one row is ignored.
void addRow(StreamRows& rows, int64_t step, int64_t wallNs);
void set(StreamRows& rows, int64_t metric, float value);

void append(StreamRows& rows, const StreamRows& more);
void sortBySteps(StreamRows& rows); ///< stable: equal steps keep their order
/// The rows without the first `firstKept[metric]` values of each column; empty rows are removed.
StreamRows rest(const StreamRows& rows, const std::map<int64_t, size_t>& firstKept);

/// The uncompressed form of a tail row (resources/schema/SCHEMA.md).
std::vector<std::byte> encodeRows(const StreamRows& rows);
Result<StreamRows> decodeRows(std::span<const std::byte> bytes);
/// Appends one metric's points, without decoding the others.
Result<void> decodePoints(std::span<const std::byte> bytes, int64_t metric,
                          std::vector<Point>& points);

} // namespace rm
