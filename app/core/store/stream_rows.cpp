// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/stream_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace rm {

namespace {

static_assert(std::endian::native == std::endian::little, "stored numbers are little-endian");

struct ColumnHead {
    int64_t metric;
    uint32_t count;
    uint32_t reserved;
};

template <class T>
void put(std::vector<std::byte>& out, std::span<const T> values) {
    const auto bytes = std::as_bytes(values);
    out.insert(out.end(), bytes.begin(), bytes.end());
}

template <class T>
void putOne(std::vector<std::byte>& out, const T& value) {
    put(out, std::span<const T>(&value, 1));
}

/// Takes values off the front; fails once and for all when there are too few bytes.
class Taker {
public:
    explicit Taker(std::span<const std::byte> bytes)
        : m_bytes(bytes) {}

    std::span<const std::byte> bytes(size_t count, size_t width) {
        m_failed = m_failed || count > m_bytes.size() / width;
        if (m_failed)
            return {};
        const auto taken = m_bytes.first(count * width);
        m_bytes = m_bytes.subspan(count * width);
        return taken;
    }

    template <class T>
    std::vector<T> values(size_t count) {
        const auto source = bytes(count, sizeof(T));
        std::vector<T> out(source.size() / sizeof(T));
        if (!out.empty())
            std::memcpy(out.data(), source.data(), source.size());
        return out;
    }

    template <class T>
    T value() {
        const auto one = values<T>(1);
        return one.empty() ? T{} : one[0];
    }

    bool failed() const { return m_failed; }

private:
    std::span<const std::byte> m_bytes;
    bool m_failed = false;
};

tl::unexpected<Error> damagedTail() {
    return fail(ErrorCode::kCorrupt, "read the newest samples: damaged");
}

bool areRowIndices(const std::vector<uint32_t>& rows, uint32_t rowCount) {
    return std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) == rows.end() &&
           (rows.empty() || rows.back() < rowCount);
}

std::vector<uint32_t> rowsOf(Taker& taker, uint32_t count, uint32_t rowCount) {
    if (count < rowCount)
        return taker.values<uint32_t>(count);
    std::vector<uint32_t> all(rowCount);
    std::iota(all.begin(), all.end(), 0u);
    return all;
}

struct Opened {
    Taker taker;
    uint32_t rowCount;
    std::vector<ColumnHead> heads;
    std::span<const std::byte> steps, walls;
};

Opened open(std::span<const std::byte> bytes) {
    Opened opened{Taker(bytes), 0, {}, {}, {}};
    opened.rowCount = opened.taker.value<uint32_t>();
    const auto columns = opened.taker.value<uint32_t>();
    opened.heads = opened.taker.values<ColumnHead>(columns);
    opened.steps = opened.taker.bytes(opened.rowCount, sizeof(int64_t));
    opened.walls = opened.taker.bytes(opened.rowCount, sizeof(int64_t));
    return opened;
}

int64_t at(std::span<const std::byte> integers, size_t index) {
    int64_t value = 0;
    std::memcpy(&value, integers.data() + index * sizeof value, sizeof value);
    return value;
}

} // namespace

void addRow(StreamRows& rows, int64_t step, int64_t wallNs) {
    rows.steps.push_back(step);
    rows.walls.push_back(wallNs);
}

void set(StreamRows& rows, int64_t metric, float value) {
    StreamRows::Column& column = rows.columns[metric];
    const auto row = static_cast<uint32_t>(rows.size() - 1);
    if (!column.rows.empty() && column.rows.back() == row)
        return;
    column.rows.push_back(row);
    column.values.push_back(value);
}

void append(StreamRows& rows, const StreamRows& more) {
    const auto offset = static_cast<uint32_t>(rows.size());
    rows.steps.insert(rows.steps.end(), more.steps.begin(), more.steps.end());
    rows.walls.insert(rows.walls.end(), more.walls.begin(), more.walls.end());
    for (const auto& [metric, source] : more.columns) {
        StreamRows::Column& column = rows.columns[metric];
        for (const uint32_t row : source.rows)
            column.rows.push_back(offset + row);
        column.values.insert(column.values.end(), source.values.begin(), source.values.end());
    }
}

void sortBySteps(StreamRows& rows) {
    if (std::is_sorted(rows.steps.begin(), rows.steps.end()))
        return;
    std::vector<uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return rows.steps[a] < rows.steps[b]; });
    StreamRows sorted;
    std::vector<uint32_t> placeOf(rows.size());
    for (uint32_t place = 0; place < order.size(); ++place) {
        placeOf[order[place]] = place;
        addRow(sorted, rows.steps[order[place]], rows.walls[order[place]]);
    }
    for (const auto& [metric, column] : rows.columns) {
        std::vector<std::pair<uint32_t, float>> placed;
        for (size_t i = 0; i < column.rows.size(); ++i)
            placed.emplace_back(placeOf[column.rows[i]], column.values[i]);
        std::sort(placed.begin(), placed.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [row, value] : placed) {
            sorted.columns[metric].rows.push_back(row);
            sorted.columns[metric].values.push_back(value);
        }
    }
    rows = std::move(sorted);
}

StreamRows rest(const StreamRows& rows, const std::map<int64_t, size_t>& firstKept) {
    std::vector<bool> used(rows.size());
    for (const auto& [metric, first] : firstKept)
        for (size_t i = first; i < rows.columns.at(metric).rows.size(); ++i)
            used[rows.columns.at(metric).rows[i]] = true;
    StreamRows kept;
    std::vector<uint32_t> placeOf(rows.size());
    for (size_t row = 0; row < rows.size(); ++row) {
        placeOf[row] = static_cast<uint32_t>(kept.size());
        if (used[row])
            addRow(kept, rows.steps[row], rows.walls[row]);
    }
    for (const auto& [metric, first] : firstKept) {
        const StreamRows::Column& source = rows.columns.at(metric);
        for (size_t i = first; i < source.rows.size(); ++i) {
            kept.columns[metric].rows.push_back(placeOf[source.rows[i]]);
            kept.columns[metric].values.push_back(source.values[i]);
        }
    }
    return kept;
}

std::vector<std::byte> encodeRows(const StreamRows& rows) {
    std::vector<std::byte> out;
    putOne(out, static_cast<uint32_t>(rows.size()));
    putOne(out, static_cast<uint32_t>(rows.columns.size()));
    for (const auto& [metric, column] : rows.columns)
        putOne(out, ColumnHead{metric, static_cast<uint32_t>(column.rows.size()), 0});
    put<int64_t>(out, rows.steps);
    put<int64_t>(out, rows.walls);
    for (const auto& [metric, column] : rows.columns) {
        if (column.rows.size() < rows.size())
            put<uint32_t>(out, column.rows);
        put<float>(out, column.values);
    }
    return out;
}

Result<StreamRows> decodeRows(std::span<const std::byte> bytes) {
    Opened opened = open(bytes);
    StreamRows rows;
    rows.steps = Taker(opened.steps).values<int64_t>(opened.steps.size() / sizeof(int64_t));
    rows.walls = Taker(opened.walls).values<int64_t>(opened.walls.size() / sizeof(int64_t));
    for (const ColumnHead& head : opened.heads) {
        if (opened.taker.failed() || head.count > opened.rowCount)
            return damagedTail();
        StreamRows::Column& column = rows.columns[head.metric];
        column.rows = rowsOf(opened.taker, head.count, opened.rowCount);
        column.values = opened.taker.values<float>(head.count);
        if (!areRowIndices(column.rows, opened.rowCount))
            return damagedTail();
    }
    if (opened.taker.failed())
        return damagedTail();
    return rows;
}

Result<void> decodePoints(std::span<const std::byte> bytes, int64_t metric,
                          std::vector<Point>& points) {
    Opened opened = open(bytes);
    for (const ColumnHead& head : opened.heads) {
        if (opened.taker.failed() || head.count > opened.rowCount)
            return damagedTail();
        if (head.metric != metric) {
            const size_t width = head.count < opened.rowCount ? 8 : 4;
            opened.taker.bytes(head.count, width);
            continue;
        }
        const auto rows = rowsOf(opened.taker, head.count, opened.rowCount);
        const auto values = opened.taker.values<float>(head.count);
        if (opened.taker.failed() || !areRowIndices(rows, opened.rowCount))
            return damagedTail();
        for (size_t i = 0; i < values.size(); ++i)
            points.push_back({at(opened.steps, rows[i]), at(opened.walls, rows[i]), values[i]});
        return {};
    }
    return opened.taker.failed() ? Result<void>(damagedTail()) : Result<void>{};
}

} // namespace rm
