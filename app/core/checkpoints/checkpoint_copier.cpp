// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/checkpoints/checkpoint_copier.h"

#include "app/core/answer.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/node/node.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/stored_checkpoint.h"

#include <algorithm>

namespace rm {

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kLookNs = 2 * kSecondNs;
constexpr int64_t kRestFactor = 4;
constexpr int64_t kAgentsLookNs = 10 * kSecondNs;
constexpr int64_t kAgentsNs = 300 * kSecondNs; ///< without a copy of theirs
constexpr int64_t kLeastRate = 10'000'000;     ///< bytes a second, of a copy that they make
constexpr int64_t kFirstRetryNs = 60 * kSecondNs;
constexpr int kMostDoublings = 6; ///< about an hour

/// The run's second node; empty: it has none.
std::string secondNode(const std::vector<RunNode>& nodes, const std::string& first) {
    const auto second = std::ranges::find_if(
        nodes, [&first](const RunNode& node) { return node.nodeName != first && node.ranks > 0; });
    return second == nodes.end() ? std::string() : second->nodeName;
}

} // namespace

std::optional<DueCopy> dueCopy(const std::vector<StoredCheckpoint>& newestFirst,
                               const std::vector<RunNode>& nodes, const std::string& rule) {
    const auto newest = std::ranges::find_if(newestFirst, [](const StoredCheckpoint& each) {
        return !each.removed && each.retiredBy == 0 && !each.isDamaged;
    });
    if (newest == newestFirst.end() || newest->node.empty() || rule == "off")
        return std::nullopt;
    const bool toComputer = rule == "computer";
    const std::string target = toComputer ? kLocalNodeName : secondNode(nodes, newest->node);
    const bool isThere = std::ranges::any_of(newest->copies, [&](const CheckpointCopy& copy) {
        return !toComputer || copy.node == target;
    });
    if (target.empty() || target == newest->node || isThere)
        return std::nullopt;
    return DueCopy{checkpointNameOf(*newest), newest->saved.path, target};
}

bool isLeftToAgents(const std::vector<StoredCheckpoint>& newestFirst, int64_t wallNs) {
    int64_t sinceNs = 0;
    int64_t bytes = 0;
    for (const StoredCheckpoint& each : newestFirst) {
        if (each.removed || each.retiredBy != 0)
            continue;
        if (!each.copies.empty()) {
            for (const CheckpointCopy& copy : each.copies)
                sinceNs = std::max(sinceNs, copy.wallNs);
            break;
        }
        sinceNs = each.saved.wallNs;
        bytes = std::max(bytes, each.saved.bytes);
    }
    return wallNs - sinceNs < kAgentsNs + bytes / kLeastRate * kSecondNs;
}

CheckpointCopier::CheckpointCopier(Means means, QObject* parent)
    : QObject(parent)
    , m_means(std::move(means)) {
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &CheckpointCopier::look);
}

void CheckpointCopier::touch(const QString& run) {
    m_touched.insert(run);
    const bool isSoon = m_timer.isActive() &&
                        m_timer.remainingTimeAsDuration() <= std::chrono::nanoseconds(kLookNs);
    if (!isSoon && !m_isCopying)
        lookIn(kLookNs);
}

void CheckpointCopier::lookIn(int64_t ns) {
    m_timer.start(std::chrono::ceil<std::chrono::milliseconds>(std::chrono::nanoseconds(ns)));
}

void CheckpointCopier::look() {
    const int64_t now = m_means.nowNs();
    if (m_isCopying)
        return; // its end looks again
    if (now < m_restUntilNs)
        return lookIn(m_restUntilNs - now);
    std::optional<int64_t> earliest;
    // Behind the last one first, so that a run with much to copy leaves room for the others.
    std::vector<QString> order(m_touched.begin(), m_touched.end());
    std::rotate(order.begin(), std::ranges::upper_bound(order, m_last), order.end());
    for (const QString& run : order) {
        const auto due = m_means.due(run);
        const auto shared = m_shared.find(run);
        if (!due || (shared != m_shared.end() && shared->second == *due)) {
            m_touched.erase(run);
            continue;
        }
        const auto failure = m_failures.find(due->path);
        const int64_t retryNs = failure == m_failures.end() ? now : failure->second.retryNs;
        const int64_t fromNs = due->isOfAgents ? std::max(retryNs, now + kAgentsLookNs) : retryNs;
        if (fromNs <= now)
            return begin(run, *due);
        earliest = std::min(earliest.value_or(INT64_MAX), fromNs);
    }
    if (earliest)
        lookIn(*earliest - now);
}

void CheckpointCopier::begin(const QString& run, const DueCopy& due) {
    m_isCopying = true;
    m_last = run;
    m_beganNs = m_means.nowNs();
    whenAnswered(m_means.copy(run, due), this,
                 [this, run, due](const Result<bool>& done) { onDone(run, due, done); });
}

void CheckpointCopier::onDone(const QString& run, const DueCopy& due, const Result<bool>& done) {
    const int64_t now = m_means.nowNs();
    m_isCopying = false;
    m_restUntilNs = now + kRestFactor * (now - m_beganNs);
    if (done) {
        m_failures.erase(due.path);
        if (!*done)
            m_shared[run] = due;
    } else {
        Failure& failure = m_failures[due.path];
        if (failure.times == 0)
            m_means.failed(run, due, done.error());
        failure.retryNs = now + (kFirstRetryNs << std::min(failure.times++, kMostDoublings));
    }
    lookIn(std::max(kLookNs, m_restUntilNs - now));
}

} // namespace rm
