// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/pyramid.h"

#include "app/core/store/column_codec.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace rm {

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Adds neighbours one by one.
class Merger {
public:
    void add(const Summary& next) {
        if (m_sum.points == 0)
            m_sum.firstStep = next.firstStep;
        m_sum.lastStep = next.lastStep;
        m_sum.wallNs = next.wallNs;
        m_sum.points += next.points;
        if (next.count == 0)
            return;
        m_sum.min = m_sum.count ? std::min(m_sum.min, next.min) : next.min;
        m_sum.max = m_sum.count ? std::max(m_sum.max, next.max) : next.max;
        m_sum.last = next.last;
        m_sum.count += next.count;
        m_total += static_cast<double>(next.mean) * next.count;
    }

    Summary sum() const {
        Summary out = m_sum;
        if (out.count == 0)
            out.min = out.max = out.mean = out.last = kNaN;
        else
            out.mean = static_cast<float>(m_total / out.count);
        return out;
    }

    uint32_t points() const { return m_sum.points; }

private:
    Summary m_sum;
    double m_total = 0;
};

template <class Element>
std::vector<Summary> folded(std::span<const Element> elements) {
    std::vector<Summary> level;
    level.reserve(elements.size() / kFanOut + 1);
    for (size_t i = 0; i < elements.size(); i += kFanOut) {
        Merger merger;
        for (const Element& element : elements.subspan(i, std::min(kFanOut, elements.size() - i)))
            if constexpr (std::is_same_v<Element, Point>)
                merger.add(summaryOf(element));
            else
                merger.add(element);
        level.push_back(merger.sum());
    }
    return level;
}

Bucket toBucket(const Summary& sum) {
    return {sum.firstStep, sum.lastStep, sum.wallNs, sum.min,
            sum.max,       sum.mean,     sum.last,   static_cast<int64_t>(sum.count)};
}

void putColumn(std::vector<std::byte>& out, const std::vector<std::byte>& column) {
    const auto size = static_cast<uint32_t>(column.size());
    const auto head = std::as_bytes(std::span(&size, 1));
    out.insert(out.end(), head.begin(), head.end());
    out.insert(out.end(), column.begin(), column.end());
}

std::span<const std::byte> takeColumn(std::span<const std::byte>& bytes) {
    uint32_t size = 0;
    if (bytes.size() < sizeof size)
        return {};
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes = bytes.subspan(sizeof size);
    const auto column = bytes.first(std::min<size_t>(size, bytes.size()));
    bytes = bytes.subspan(column.size());
    return column;
}

template <class T>
void putField(std::vector<std::byte>& out, std::span<const Summary> level, T Summary::*field) {
    using Stored = std::conditional_t<std::is_same_v<T, uint32_t>, int64_t, T>;
    std::vector<Stored> values;
    for (const Summary& summary : level)
        values.push_back(static_cast<Stored>(summary.*field));
    putColumn(out, encodeColumn(std::span<const Stored>(values)));
}

template <class T>
bool takeField(std::span<const std::byte>& bytes, std::vector<Summary>& level, T Summary::*field) {
    const auto column = takeColumn(bytes);
    const auto fill = [&](const auto& values) {
        for (size_t i = 0; values && i < level.size(); ++i)
            level[i].*field = static_cast<T>((*values)[i]);
        return values.has_value();
    };
    if constexpr (std::is_same_v<T, float>)
        return fill(decodeFloats(column, level.size()));
    else
        return fill(decodeIntegers(column, level.size()));
}

} // namespace

Summary summaryOf(const Point& point) {
    if (std::isnan(point.value))
        return {point.step, point.step, point.wallNs, kNaN, kNaN, kNaN, kNaN, 0, 1};
    const float v = point.value;
    return {point.step, point.step, point.wallNs, v, v, v, v, 1, 1};
}

Summary summaryOf(std::span<const Point> points) {
    Merger merger;
    for (const Point& point : points)
        merger.add(summaryOf(point));
    return merger.sum();
}

Summary merged(std::span<const Summary> neighbours) {
    Merger merger;
    for (const Summary& next : neighbours)
        merger.add(next);
    return merger.sum();
}

std::vector<Summary> coarser(std::span<const Summary> level) {
    return folded(level);
}

std::vector<Summary> firstLevel(std::span<const Point> points) {
    return folded(points);
}

std::vector<Bucket> toBuckets(std::span<const Summary> summaries, size_t maxBuckets) {
    uint64_t points = 0;
    for (const Summary& summary : summaries)
        points += summary.points;
    const uint64_t perBucket = std::max<uint64_t>(1, (points + maxBuckets - 1) / maxBuckets);
    std::vector<Bucket> buckets;
    Merger merger;
    for (const Summary& summary : summaries) {
        merger.add(summary);
        if (merger.points() < perBucket)
            continue;
        buckets.push_back(toBucket(merger.sum()));
        merger = Merger();
    }
    if (merger.points() > 0)
        buckets.push_back(toBucket(merger.sum()));
    return buckets;
}

std::vector<std::byte> encodeAxisLevel(std::span<const Summary> level) {
    std::vector<std::byte> out;
    putField(out, level, &Summary::firstStep);
    putField(out, level, &Summary::lastStep);
    putField(out, level, &Summary::wallNs);
    return out;
}

std::vector<std::byte> encodeValueLevel(std::span<const Summary> level) {
    std::vector<std::byte> out;
    putField(out, level, &Summary::min);
    putField(out, level, &Summary::max);
    putField(out, level, &Summary::mean);
    putField(out, level, &Summary::last);
    putField(out, level, &Summary::count);
    return out;
}

Result<std::vector<Summary>> decodeLevel(std::span<const std::byte> axis,
                                         std::span<const std::byte> values, size_t chunkPoints) {
    std::vector<Summary> level((chunkPoints + kFanOut - 1) / kFanOut);
    for (size_t i = 0; i < level.size(); ++i)
        level[i].points = static_cast<uint32_t>(std::min(kFanOut, chunkPoints - i * kFanOut));
    const bool whole =
        takeField(axis, level, &Summary::firstStep) && takeField(axis, level, &Summary::lastStep) &&
        takeField(axis, level, &Summary::wallNs) && takeField(values, level, &Summary::min) &&
        takeField(values, level, &Summary::max) && takeField(values, level, &Summary::mean) &&
        takeField(values, level, &Summary::last) && takeField(values, level, &Summary::count);
    if (!whole)
        return fail(ErrorCode::kCorrupt, "read a pyramid of samples: damaged");
    return level;
}

std::vector<std::byte> encodeSummaries(std::span<const Summary> summaries) {
    const auto bytes = std::as_bytes(summaries);
    return {bytes.begin(), bytes.end()};
}

Result<std::vector<Summary>> decodeSummaries(std::span<const std::byte> bytes) {
    if (bytes.size() % sizeof(Summary) != 0 || bytes.size() > kFanOut * sizeof(Summary))
        return fail(ErrorCode::kCorrupt, "read a pyramid of samples: damaged");
    std::vector<Summary> summaries(bytes.size() / sizeof(Summary));
    if (!summaries.empty())
        std::memcpy(summaries.data(), bytes.data(), bytes.size());
    return summaries;
}

} // namespace rm
