// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/pyramid.h"

#include "app/core/store/column_codec.h"
#include "app/core/store/series.h"

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

/// One field of every entry after the other, so that a level is one compressed column.
template <class T, size_t N>
std::vector<T> fieldsOf(std::span<const Summary> level, T Summary::*const (&fields)[N]) {
    std::vector<T> values;
    values.reserve(level.size() * N);
    for (const auto field : fields)
        for (const Summary& summary : level)
            values.push_back(summary.*field);
    return values;
}

template <class T, size_t N>
void setFields(std::vector<Summary>& level, const std::vector<T>& values,
               T Summary::*const (&fields)[N]) {
    auto value = values.begin();
    for (const auto field : fields)
        for (Summary& summary : level)
            summary.*field = *value++;
}

constexpr int64_t Summary::*kAxisFields[] = {&Summary::firstStep, &Summary::lastStep,
                                             &Summary::wallNs};
constexpr float Summary::*kValueFields[] = {&Summary::min, &Summary::max, &Summary::mean,
                                            &Summary::last};

/// Counts are left out if no value is NaN, which is the usual case.
std::vector<std::byte> encodeCounts(std::span<const Summary> level) {
    std::vector<std::byte> counts;
    bool isNeeded = false;
    for (const Summary& summary : level) {
        counts.push_back(static_cast<std::byte>(summary.count));
        isNeeded = isNeeded || summary.count != summary.points;
    }
    return isNeeded ? counts : std::vector<std::byte>();
}

bool takeCounts(std::span<const std::byte>& bytes, std::vector<Summary>& level) {
    if (bytes.empty())
        return false;
    const bool areThere = bytes[0] != std::byte(0);
    bytes = bytes.subspan(1);
    if (areThere && bytes.size() < level.size())
        return false;
    for (size_t i = 0; i < level.size(); ++i)
        level[i].count = areThere ? std::to_integer<uint32_t>(bytes[i]) : level[i].points;
    bytes = bytes.subspan(areThere ? level.size() : 0);
    return true;
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
    return encodeColumn(std::span<const int64_t>(fieldsOf(level, kAxisFields)));
}

std::vector<std::byte> encodeValueLevel(std::span<const Summary> level) {
    const auto counts = encodeCounts(level);
    const auto values = encodeColumn(std::span<const float>(fieldsOf(level, kValueFields)));
    std::vector<std::byte> out{static_cast<std::byte>(!counts.empty())};
    out.insert(out.end(), counts.begin(), counts.end());
    out.insert(out.end(), values.begin(), values.end());
    return out;
}

Result<std::vector<Summary>> decodeLevel(std::span<const std::byte> axis,
                                         std::span<const std::byte> values, size_t chunkPoints) {
    std::vector<Summary> level((chunkPoints + kFanOut - 1) / kFanOut);
    for (size_t i = 0; i < level.size(); ++i)
        level[i].points = static_cast<uint32_t>(std::min(kFanOut, chunkPoints - i * kFanOut));
    const bool haveCounts = takeCounts(values, level);
    const auto integers = decodeIntegers(axis, level.size() * std::size(kAxisFields));
    const auto floats = decodeFloats(values, level.size() * std::size(kValueFields));
    if (!haveCounts || !integers || !floats)
        return fail(ErrorCode::kCorrupt, "read a pyramid of samples: damaged");
    setFields(level, *integers, kAxisFields);
    setFields(level, *floats, kValueFields);
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
