// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/machines/machine_watch.h"

#include "app/core/findings/text.h"
#include "shared/io/clock.h"

#include <algorithm>
#include <utility>

namespace rm {

namespace {

/// After which somebody who does not ask any more counts as gone. Who leaves says so; this is for
/// a process that was killed.
constexpr int64_t kAsksWithinNs = 4'000'000'000;
constexpr int kSettleEveryMs = 500;
/// Of all points of one answer, which is one message of at most 1 MiB with the processes.
constexpr size_t kBytesOfPoints = 320 << 10;

} // namespace

MachineWatch::MachineWatch(Login login)
    : m_login(std::move(login)) {
    m_timer.setInterval(kSettleEveryMs);
    connect(&m_timer, &QTimer::timeout, this, &MachineWatch::settle);
}

MachineWatch::~MachineWatch() {
    end();
}

void MachineWatch::end() {
    for (auto& [name, machine] : m_machines)
        if (machine.link)
            machine.link->hangUp();
    m_lookers.clear();
}

int MachineWatch::links() const {
    const auto linked = std::ranges::count_if(
        m_machines, [](const auto& each) { return each.second.link != nullptr; });
    return static_cast<int>(linked + std::ssize(m_ending));
}

/// Begins the link where there is none, and another one where the node is reached in another way.
/// The login node of a cluster has none.
MachineRecord& MachineWatch::recordOf(const Node& node) {
    Machine& machine = m_machines[node.name];
    if (machine.link && (node.isSlurm || !areReachedAlike(machine.link->node(), node))) {
        machine.link->hangUp();
        m_ending.push_back(std::move(machine.link));
        machine.record.reset();
    }
    if (!machine.record)
        machine.record = std::make_shared<MachineRecord>(node.name);
    if (node.isSlurm)
        machine.record->report(MachineState::kCluster, say("machine.cluster"),
                               say("machine.look-at-cluster", {{"node", node.name}}));
    else if (!machine.link)
        machine.link =
            std::make_unique<MachineLink>(m_login(node), machine.record, intervalFor(node.name));
    return *machine.record;
}

int MachineWatch::intervalFor(const std::string& node) const {
    int least = kMostMachineIntervalMs;
    for (const auto& [by, looker] : m_lookers)
        if (std::ranges::find(looker.nodes, node) != looker.nodes.end())
            least = std::min(least, looker.intervalMs);
    return std::max(least, kLeastMachineIntervalMs);
}

std::vector<MachineNews> MachineWatch::look(const MachineLook& look,
                                            const std::vector<Node>& nodes) {
    Looker& looker = m_lookers[look.by];
    looker.askedNs = monotonicNowNs();
    looker.intervalMs = look.intervalMs;
    looker.nodes.clear();
    for (const Node& node : nodes)
        looker.nodes.push_back(node.name);
    std::vector<MachineNews> news;
    const size_t share = kBytesOfPoints / std::max<size_t>(nodes.size(), 1);
    for (size_t i = 0; i < nodes.size(); ++i)
        news.push_back(recordOf(nodes[i]).newsFor(look.questions[i], share));
    settle();
    m_timer.start();
    return news;
}

void MachineWatch::leave(const std::string& by) {
    m_lookers.erase(by);
    settle();
}

void MachineWatch::retry(const std::string& node) {
    const auto machine = m_machines.find(node);
    if (machine != m_machines.end() && machine->second.link)
        machine->second.link->retry();
}

/// Ends the links that nobody looks at, and forgets what is too old to be shown.
void MachineWatch::settle() {
    const int64_t now = monotonicNowNs();
    std::erase_if(m_lookers, [now](const auto& each) {
        // One who asks seldom has as long again.
        const int64_t pauseNs = int64_t{each.second.intervalMs} * 2'000'000;
        return each.second.askedNs + std::max(kAsksWithinNs, pauseNs) < now;
    });
    for (auto& [name, machine] : m_machines) {
        const bool isLookedAt = std::ranges::any_of(m_lookers, [&name = name](const auto& each) {
            return std::ranges::find(each.second.nodes, name) != each.second.nodes.end();
        });
        if (!machine.link)
            continue;
        if (isLookedAt) {
            machine.link->setInterval(intervalFor(name));
        } else {
            machine.link->hangUp();
            m_ending.push_back(std::move(machine.link));
        }
    }
    std::erase_if(m_ending, [](const auto& link) { return link->isOver(); });
    const int64_t oldest = wallNowNs() - kMachineHistoryNs;
    std::erase_if(m_machines, [oldest](const auto& each) {
        return !each.second.link && each.second.record->newestNs() < oldest;
    });
    if (m_machines.empty() && m_ending.empty())
        m_timer.stop();
}

} // namespace rm
