// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/peers/copy_plan.h"

#include "shared/io/json.h"

#include <algorithm>
#include <utility>

namespace rm {

namespace {

constexpr int kMostDoublings = 6; ///< about an hour

} // namespace

bool CopyPlan::isBusy(int64_t nowNs) const {
    return !m_offered.empty() && nowNs - m_movedNs < kAnswerNs;
}

bool CopyPlan::isDue(int64_t nowNs) const {
    return m_isOver ? m_deadlineNs == 0 : !isBusy(nowNs) && nowNs - m_lookedNs >= kLookNs;
}

bool CopyPlan::onNewest(const std::string& path, int64_t bytes, int64_t nowNs) {
    m_lookedNs = nowNs;
    if (m_isOver)
        m_deadlineNs = nowNs + kLastNs + bytes / kLeastRate * kSecondNs;
    // What is on its way when the run is over goes on, or makes room for a newer one.
    const bool waits = m_isOver ? path == m_offered : path == m_failed && nowNs < m_retryNs;
    if (path.empty() || path == m_copied || waits)
        return false;
    m_offered = path;
    m_movedNs = nowNs;
    return true;
}

bool CopyPlan::isDone(int64_t nowNs) const {
    return m_deadlineNs > 0 && (!isBusy(nowNs) || nowNs >= m_deadlineNs);
}

bool CopyPlan::onAnswer(const FetchAnswer& answer, int64_t nowNs) {
    if (answer.path != m_offered)
        return false; // of an offer that was given up
    m_offered.clear();
    if (answer.problem.empty()) {
        m_copied = answer.path;
        m_failed.clear();
        m_failures = 0;
        return false;
    }
    m_failed = answer.path;
    m_retryNs = nowNs + (kRetryNs << std::min(m_failures, kMostDoublings));
    return m_failures++ == 0 || m_isOver;
}

FetchedCopy fetchedCopy(const FetchOrder& order, const std::string& text, int64_t wallNs) {
    const Json answer = parseJson(text, "the fetched checkpoint").value_or(Json());
    FetchedCopy fetched{{order.path, {}}, {}};
    if (boolAt(answer, "shared").value_or(false))
        return fetched;
    const auto folder = textAt(answer, "folder");
    if (!folder) {
        fetched.answer.problem = textAt(answer, "problem").value_or("its agent could not fetch it");
        return fetched;
    }
    fetched.copied = CheckpointCopied{order.step,
                                      wallNs,
                                      order.path,
                                      *folder,
                                      {},
                                      order.attempt,
                                      intAt(answer, "bytes").value_or(0),
                                      textAt(answer, "reason").value_or("")};
    if (const Json* dropped = arrayAt(answer, "dropped"))
        for (const Json& each : *dropped)
            fetched.copied->dropped.push_back(each.is_string() ? each.get<std::string>() : "");
    return fetched;
}

} // namespace rm
