// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/transfer_rate.h"

#include "app/core/findings/text.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace rm {

namespace {

using namespace std::chrono_literals;

constexpr auto kReportEvery = 100ms;
constexpr auto kWindow = 5s;
constexpr auto kShortest = 500ms; ///< a shorter one gives no useful rate

QString labelOf(const std::string& node, const Transferred& transferred) {
    std::string text = node;
    if (!transferred.from.empty())
        text = say("launch.sent-from", {{"node", text}, {"from", transferred.from}});
    if (transferred.reused > 0)
        text = say("launch.own-torch-used",
                   {{"node", text}, {"mb", std::to_string(transferred.reused / 1'000'000)}});
    if (!transferred.repairs.empty())
        text = say("launch.sent-again", {{"node", text}, {"what", transferred.repairs}});
    return QString::fromStdString(text);
}

double secondsLeftOf(const Progress& node) {
    if (node.done >= node.total)
        return 0;
    return node.secondsLeft >= 0 ? node.secondsLeft : std::numeric_limits<double>::infinity();
}

} // namespace

std::vector<Progress> slowestOf(const std::vector<Progress>& nodes, size_t most) {
    std::vector<size_t> order(nodes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater(),
                             [&nodes](size_t node) { return secondsLeftOf(nodes[node]); });
    order.resize(std::min(order.size(), most));
    std::ranges::sort(order);
    std::vector<Progress> slowest;
    for (const size_t node : order)
        slowest.push_back(nodes[node]);
    return slowest;
}

void Pace::remember(Clock::time_point now, const Transferred& transferred) {
    m_moments.push_back({now, transferred});
    // Keeps one moment that is older than the window, so that a stall counts in full.
    while (m_moments.size() > 2 && now - m_moments[1].when >= kWindow)
        m_moments.pop_front();
}

Progress Pace::progress(const QString& stage) const {
    const Moment& before = m_moments.front();
    const auto& [when, last] = m_moments.back();
    Progress progress{stage, last.done, last.total, last.sent};
    const double seconds = std::chrono::duration<double>(when - before.when).count();
    if (when - before.when >= kShortest && last.done > before.transferred.done) {
        progress.bytesPerSec = static_cast<double>(last.sent - before.transferred.sent) / seconds;
        progress.secondsLeft = static_cast<double>(last.total - last.done) * seconds /
                               static_cast<double>(last.done - before.transferred.done);
    }
    return progress;
}

TransferRate::TransferRate(QString stage, std::vector<std::string> nodes,
                           std::function<void(const Progress&)> sink,
                           std::function<Clock::time_point()> now)
    : m_stage(std::move(stage))
    , m_nodes(std::move(nodes))
    , m_sink(std::move(sink))
    , m_now(std::move(now)) {}

void TransferRate::update(size_t node, const Transferred& transferred) {
    const std::lock_guard lock(m_mutex);
    m_parts[node].transferred = transferred;
    Transferred all;
    for (const auto& [index, part] : m_parts) {
        all.done += part.transferred.done;
        all.total += part.transferred.total;
        all.sent += part.transferred.sent;
    }
    const auto now = m_now();
    if (all.done < all.total && now - m_reported < kReportEvery)
        return;
    m_reported = now;
    m_pace.remember(now, all);
    Progress progress = m_pace.progress(m_stage);
    for (auto& [index, part] : m_parts) {
        part.pace.remember(now, part.transferred);
        progress.nodes.push_back(part.pace.progress(labelOf(m_nodes[index], part.transferred)));
    }
    m_sink(progress);
}

} // namespace rm
