// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/trace_alignment.h"

#include "shared/metrics/median.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

namespace rm {

namespace {

constexpr double kMostDrift = 500e-6;
constexpr double kNormalMad = 1.4826; ///< standard deviation of a normal distribution per MAD
constexpr double kLeastForDrift = 16; ///< collectives
constexpr double kSureErrors = 4;
constexpr size_t kOffsetParts = 4; ///< of the ends, the nearest part counts

/// A collective on both ranks, in nanoseconds since the first of the rank's ends, and their
/// difference since the first difference.
struct SharedEnd {
    double atNs = 0;
    double apartNs = 0;
    double leastNs = 0, mostNs = 0; ///< limits of `apartNs`, if there were no noise
};

/// The shortest interval that holds a share of the values.
struct Shorth {
    double median = 0;    ///< of those in it
    double halfWidth = 0; ///< of half of a normal distribution 0.6745 times its deviation
};

/// `parts`: 2 for half of them.
Shorth shorthOf(std::vector<double> values, size_t parts) {
    std::ranges::sort(values);
    const size_t held = values.size() / parts + 1;
    size_t best = 0;
    for (size_t at = 0; at + held <= values.size(); ++at)
        if (values[at + held - 1] - values[at] < values[best + held - 1] - values[best])
            best = at;
    const size_t middle = best + held / 2;
    return {held % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2,
            (values[best + held - 1] - values[best]) / 2};
}

std::vector<double> withoutDrift(const std::vector<SharedEnd>& shared, double drift) {
    std::vector<double> apart;
    for (const SharedEnd& each : shared)
        apart.push_back(each.apartNs - drift * each.atNs);
    return apart;
}

/// The median of the slopes between collectives that lie half of their number apart.
double medianSlope(const std::vector<SharedEnd>& shared) {
    std::vector<double> slopes;
    for (size_t i = 0; i + shared.size() / 2 < shared.size(); ++i) {
        const SharedEnd& from = shared[i];
        const SharedEnd& to = shared[i + shared.size() / 2];
        if (to.atNs > from.atNs)
            slopes.push_back((to.apartNs - from.apartNs) / (to.atNs - from.atNs));
    }
    return slopes.empty() ? 0 : medianOf(std::move(slopes));
}

struct Slope {
    double value = 0;
    double error = INFINITY; ///< standard
};

/// The line of least squares through what lies near the line of slope `drift`.
Slope slopeNear(const std::vector<SharedEnd>& shared, double drift) {
    const std::vector<double> apart = withoutDrift(shared, drift);
    const Shorth shorth = shorthOf(apart, 2);
    const double near = 3 * kNormalMad * shorth.halfWidth + 1;
    double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < shared.size(); ++i) {
        const double off = apart[i] - shorth.median;
        if (std::abs(off) > near)
            continue;
        const double at = shared[i].atNs * 1e-9;
        n += 1;
        x += at;
        y += off;
        xx += at * at;
        xy += at * off;
        yy += off * off;
    }
    const double spread = xx - x * x / n;
    if (n < kLeastForDrift || spread <= 0)
        return {};
    const double slope = (xy - x * y / n) / spread;
    const double rest = std::max(0.0, yy - y * y / n - slope * slope * spread);
    return {drift + slope * 1e-9, std::sqrt(rest / (n - 2) / spread) * 1e-9};
}

double driftOf(const std::vector<SharedEnd>& shared) {
    if (shared.size() < static_cast<size_t>(kLeastForDrift))
        return 0;
    constexpr int kRounds = 3;
    Slope slope{medianSlope(shared)};
    for (int round = 0; round < kRounds && std::abs(slope.value) < kMostDrift; ++round)
        slope = slopeNear(shared, slope.value);
    const bool isSure = std::abs(slope.value) > kSureErrors * slope.error;
    return isSure && std::abs(slope.value) < kMostDrift ? slope.value : 0;
}

} // namespace

int64_t ClockFit::toReference(int64_t rankNs) const {
    const auto gained = std::llround(drift * static_cast<double>(rankNs - aroundNs));
    return rankNs - offsetNs - gained;
}

std::optional<ClockFit> fitClock(const std::vector<TraceSlice>& rank,
                                 const std::vector<TraceSlice>& reference) {
    std::map<int64_t, const TraceSlice*> theirs; // by number
    for (const TraceSlice& slice : reference)
        if (isCollective(slice.kind))
            theirs[slice.number] = &slice;
    std::vector<std::pair<const TraceSlice*, const TraceSlice*>> pairs;
    for (const TraceSlice& slice : rank)
        if (const auto other = theirs.find(slice.number);
            isCollective(slice.kind) && other != theirs.end() && other->second->kind == slice.kind)
            pairs.emplace_back(&slice, other->second);
    if (pairs.empty())
        return std::nullopt;
    std::ranges::sort(pairs, {}, [](const auto& pair) { return pair.first->endNs(); });
    // Counted from here, as nanoseconds since a machine's start need more digits than a double has.
    const int64_t from = pairs.front().first->endNs();
    const int64_t offset = from - pairs.front().second->endNs();
    std::vector<SharedEnd> shared;
    for (const auto& [mine, other] : pairs)
        shared.push_back({static_cast<double>(mine->endNs() - from),
                          static_cast<double>(mine->endNs() - other->endNs() - offset),
                          static_cast<double>(mine->beginNs - other->endNs() - offset),
                          static_cast<double>(mine->endNs() - other->beginNs - offset)});
    const double drift = driftOf(shared);
    const double around = shared[shared.size() / 2].atNs;
    std::vector<double> apart;
    double least = -INFINITY, most = INFINITY;
    for (const SharedEnd& each : shared) {
        const double gained = drift * (each.atNs - around);
        apart.push_back(each.apartNs - gained);
        least = std::max(least, each.leastNs - gained);
        most = std::min(most, each.mostNs - gained);
    }
    double found = shorthOf(apart, kOffsetParts).median;
    if (least <= most) // else the drift is more than a line
        found = std::clamp(found, least, most);
    ClockFit fit;
    fit.offsetNs = offset + std::llround(found);
    fit.drift = drift;
    fit.aroundNs = from + std::llround(around);
    fit.collectives = static_cast<int>(shared.size());
    const double bound = std::max(std::abs(found - least), std::abs(most - found));
    fit.boundNs = std::llround(bound);
    fit.errorNs = std::llround(std::min(bound, shorthOf(apart, 2).halfWidth));
    return fit;
}

ClockFit fitByWallClock(const RankTrace& rank, const RankTrace& reference) {
    ClockFit fit;
    fit.aroundNs = rank.clockNs;
    fit.offsetNs = (rank.clockNs - rank.wallNs) - (reference.clockNs - reference.wallNs);
    return fit;
}

} // namespace rm
