// SPDX-License-Identifier: Apache-2.0
#include "shared/metrics/straggler_watch.h"

#include "shared/enforce.h"
#include "shared/metrics/median.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace rm {

namespace {

constexpr double kHalf = 0.5; ///< of a limit: in single rows, and until a rank is no longer slow

size_t indexOf(SlowCause cause) {
    return static_cast<size_t>(cause);
}

/// Medians of all values but one.
class OtherMedians {
public:
    explicit OtherMedians(std::vector<double> values)
        : m_values(std::move(values))
        , m_sorted(m_values) {
        std::ranges::sort(m_sorted);
    }

    /// Of those but `value(at)`; two in the middle count half each.
    double without(size_t at) const {
        const size_t own = static_cast<size_t>(std::ranges::lower_bound(m_sorted, m_values[at]) -
                                               m_sorted.begin());
        const auto other = [&](size_t index) { return m_sorted[index < own ? index : index + 1]; };
        const size_t count = m_sorted.size() - 1;
        return (other((count - 1) / 2) + other(count / 2)) / 2;
    }
    double over(size_t at) const { return m_values[at] - without(at); }

private:
    std::vector<double> m_values, m_sorted;
};

template <class Figure>
OtherMedians mediansOf(const std::vector<RankTimes>& ranks, Figure figure) {
    std::vector<double> values;
    for (const RankTimes& rank : ranks)
        values.push_back(figure(rank));
    return OtherMedians(std::move(values));
}

/// What each node sends, by its first rank; empty: not known of all, or there is one node.
std::map<int, double> sendingOf(const std::vector<RankTimes>& ranks) {
    std::map<int, double> nodes;
    for (const RankTimes& rank : ranks) {
        if (rank.sendMs < 0 || rank.firstOfNode < 0 ||
            rank.firstOfNode >= static_cast<int>(ranks.size()))
            return {};
        nodes[rank.firstOfNode] += rank.sendMs;
    }
    return nodes.size() > 1 ? nodes : std::map<int, double>();
}

} // namespace

const char* slowCauseName(SlowCause cause) {
    constexpr const char* kNames[] = {"data", "compute", "link"};
    return kNames[indexOf(cause)];
}

StragglerWatch::StragglerWatch(size_t ranks)
    : m_sum(ranks)
    , m_slow(ranks) {}

StragglerWatch::Row StragglerWatch::rowOf(const std::vector<RankTimes>& ranks) {
    Row row;
    row.excess.resize(ranks.size());
    const auto busy = mediansOf(ranks, [](const RankTimes& rank) { return rank.busyMs(); });
    const auto data = mediansOf(ranks, [](const RankTimes& rank) { return rank.dataMs; });
    const auto compute = mediansOf(ranks, [](const RankTimes& rank) { return rank.computeMs; });
    std::vector<double> busyTimes;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
        const RankTimes& times = ranks[rank];
        busyTimes.push_back(times.busyMs());
        row.stepMs = std::max(row.stepMs, times.busyMs() + times.exposedMs);
        const auto add = [&](SlowCause cause, const OtherMedians& of) {
            row.excess[rank][indexOf(cause)] = {std::min(of.over(rank), busy.over(rank)),
                                                of.without(rank)};
        };
        add(SlowCause::kData, data);
        add(SlowCause::kCompute, compute);
    }
    std::ranges::sort(busyTimes);
    row.busyMs = busyTimes[(busyTimes.size() - 1) / 2]; // of two the quicker one

    const std::map<int, double> nodes = sendingOf(ranks);
    if (nodes.empty())
        return row;
    const double unhidden = std::ranges::min_element(ranks, {}, &RankTimes::exposedMs)->exposedMs;
    std::vector<double> values;
    for (const auto& [first, ms] : nodes)
        values.push_back(ms);
    const OtherMedians sending(values);
    size_t at = 0;
    for (const auto& [first, ms] : nodes) {
        row.excess[static_cast<size_t>(first)][indexOf(SlowCause::kLink)] = {
            std::min(sending.over(at), unhidden), sending.without(at)};
        ++at;
    }
    return row;
}

std::vector<StragglerWatch::Change> StragglerWatch::note(const std::vector<RankTimes>& step) {
    RM_ENFORCE(step.size() == m_sum.size());
    if (step.size() < 2 || ++m_steps <= kFirstSteps)
        return {};
    double stepMs = 0;
    for (size_t rank = 0; rank < step.size(); ++rank) {
        RankTimes& sum = m_sum[rank];
        sum.dataMs += step[rank].dataMs;
        sum.computeMs += step[rank].computeMs;
        sum.exposedMs += step[rank].exposedMs;
        const bool isKnown = step[rank].sendMs >= 0 && (m_sumSteps == 0 || sum.sendMs >= 0);
        sum.sendMs = isKnown ? std::max(0.0, sum.sendMs) + step[rank].sendMs : -1;
        sum.firstOfNode = step[rank].firstOfNode;
        stepMs = std::max(stepMs, step[rank].busyMs() + step[rank].exposedMs);
    }
    m_sumMs += stepMs;
    ++m_sumSteps;
    if (m_sumMs < kRowMs)
        return {};
    closeRow();
    std::vector<Change> changes;
    for (size_t rank = 0; rank < m_slow.size(); ++rank)
        for (size_t cause = 0; cause < kCauses; ++cause)
            if (auto change = judge(rank, cause))
                changes.push_back(std::move(*change));
    std::ranges::stable_sort(changes, std::ranges::greater(),
                             [](const Change& change) { return change.straggler.overMs; });
    return changes;
}

void StragglerWatch::closeRow() {
    const auto steps = static_cast<double>(m_sumSteps);
    for (RankTimes& sum : m_sum) {
        sum.dataMs /= steps;
        sum.computeMs /= steps;
        sum.exposedMs /= steps;
        sum.sendMs = sum.sendMs < 0 ? -1 : sum.sendMs / steps;
    }
    m_rows.push_back(rowOf(m_sum));
    if (m_rows.size() > kRows)
        m_rows.pop_front();
    m_sum.assign(m_sum.size(), {});
    m_sumMs = 0;
    m_sumSteps = 0;
    if (++m_blockRows == kBlock)
        closeBlock();
}

/// Notes by how much the excesses changed since the block a window before.
void StragglerWatch::closeBlock() {
    m_blockRows = 0;
    Block block(m_slow.size());
    for (size_t cause = 0; cause < kCauses; ++cause) {
        std::vector<double> changes;
        for (size_t rank = 0; rank < block.size(); ++rank) {
            std::vector<double> excesses;
            for (size_t row = m_rows.size() - kBlock; row < m_rows.size(); ++row)
                excesses.push_back(m_rows[row].excess[rank][cause].ms);
            block[rank][cause] = medianOf(std::move(excesses));
            if (m_blocks.size() == kApart)
                changes.push_back(std::abs(block[rank][cause] - m_blocks.front()[rank][cause]));
        }
        if (changes.empty())
            continue;
        m_changes[cause].push_back(medianOf(std::move(changes)));
        if (m_changes[cause].size() > kBlocks)
            m_changes[cause].pop_front();
    }
    m_blocks.push_back(std::move(block));
    if (m_blocks.size() > kApart)
        m_blocks.pop_front();
}

double StragglerWatch::noiseOf(size_t cause) const {
    std::vector<double> changes(m_changes[cause].begin(), m_changes[cause].end());
    if (changes.empty())
        return 0;
    std::ranges::sort(changes);
    return changes[changes.size() / 4];
}

Straggler StragglerWatch::medians(size_t rank, size_t cause) const {
    std::vector<double> over, usual, steps;
    for (const Row& row : m_rows) {
        over.push_back(row.excess[rank][cause].ms);
        usual.push_back(row.excess[rank][cause].usualMs);
        steps.push_back(row.stepMs);
    }
    return {static_cast<int>(rank), static_cast<SlowCause>(cause), medianOf(std::move(over)),
            medianOf(std::move(usual)), medianOf(std::move(steps))};
}

std::optional<StragglerWatch::Change> StragglerWatch::judge(size_t rank, size_t cause) {
    std::optional<Straggler>& slow = m_slow[rank][cause];
    const bool mayBegin = m_rows.size() == kRows && m_rows.back().excess[rank][cause].ms > 0;
    if (!slow && !mayBegin)
        return std::nullopt;
    std::vector<double> busy;
    for (const Row& row : m_rows)
        busy.push_back(row.busyMs);
    const Straggler now = medians(rank, cause);
    const double limit = std::max(kOver * medianOf(std::move(busy)), kOfStep * now.stepMs);
    const auto rowsOver = [&](double ms) {
        return static_cast<size_t>(std::ranges::count_if(
            m_rows, [&](const Row& row) { return row.excess[rank][cause].ms >= ms; }));
    };
    if (!slow) {
        if (now.overMs < limit || rowsOver(kHalf * now.overMs) < kSlowRows ||
            now.overMs < kNoise * noiseOf(cause))
            return std::nullopt;
        slow = now;
        return Change{true, now};
    }
    slow = now;
    if (now.overMs >= kHalf * limit && rowsOver(kHalf * kHalf * limit) >= kEvenRows)
        return std::nullopt;
    slow.reset();
    return Change{false, now};
}

std::vector<Straggler> StragglerWatch::now() const {
    std::vector<Straggler> all;
    for (const auto& causes : m_slow)
        for (const auto& slow : causes)
            if (slow)
                all.push_back(*slow);
    std::ranges::stable_sort(all, std::ranges::greater(), &Straggler::overMs);
    return all;
}

std::string describe(const Straggler& straggler, bool begins) {
    const bool isLink = straggler.cause == SlowCause::kLink;
    const char* what = isLink                                ? "sending from its node to others"
                       : straggler.cause == SlowCause::kData ? "waiting for data"
                                                             : "computing";
    char text[320];
    const int length = std::snprintf(text, sizeof text,
                                     "%s takes %.1f ms of a step, on the median of the other %s "
                                     "%.1f ms",
                                     what, straggler.usualMs + straggler.overMs,
                                     isLink ? "nodes" : "ranks", straggler.usualMs);
    std::string told(text, static_cast<size_t>(length));
    if (!begins)
        return "keeps up with the others again: " + told;
    if (isLink)
        told += "; its link is slow, or that of the node to which it sends,";
    std::snprintf(text, sizeof text, "%s steps are %.0f %% longer",
                  isLink ? " and" : "; all wait for it, and", 100 * straggler.slowsBy());
    return told + text;
}

} // namespace rm
