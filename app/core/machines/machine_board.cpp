// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/machines/machine_board.h"

#include "shared/io/clock.h"

#include <algorithm>
#include <utility>

namespace rm {

const MachineSample* ShownMachine::now() const {
    return state == MachineState::kLive && !points.empty() ? &points.back().sample : nullptr;
}

void MachineBoard::setNodes(const std::vector<std::string>& nodes) {
    std::vector<ShownMachine> machines;
    for (const std::string& node : nodes) {
        const auto known = std::ranges::find(m_machines, node, &ShownMachine::node);
        if (known != m_machines.end())
            machines.push_back(std::move(*known));
        else
            machines.emplace_back().node = node;
    }
    m_machines = std::move(machines);
}

MachineLook MachineBoard::next(int intervalMs,
                               const std::vector<std::string>& allProcessesOf) const {
    MachineLook look{m_by, {}, intervalMs};
    for (const ShownMachine& machine : m_machines) {
        const bool all = std::ranges::find(allProcessesOf, machine.node) != allProcessesOf.end();
        look.questions.push_back(
            {machine.node, machine.points.empty() ? 0 : machine.points.back().atNs, all});
    }
    return look;
}

void MachineBoard::take(const std::vector<MachineNews>& news) {
    const int64_t oldest = wallNowNs() - kMachineHistoryNs;
    for (const MachineNews& each : news) {
        const auto machine = std::ranges::find(m_machines, each.node, &ShownMachine::node);
        if (machine == m_machines.end())
            continue;
        machine->state = each.state;
        machine->why = each.why;
        machine->fix = each.fix;
        machine->processes = each.processes;
        const bool isOther =
            each.facts && machine->facts && each.facts->gpus.size() != machine->facts->gpus.size();
        if (isOther)
            machine->points.clear();
        if (each.facts)
            machine->facts = each.facts;
        const int64_t newest = machine->points.empty() ? 0 : machine->points.back().atNs;
        for (const MachinePoint& point : each.points)
            if (point.atNs > newest)
                machine->points.push_back(point);
        while (!machine->points.empty() && machine->points.front().atNs < oldest)
            machine->points.pop_front();
    }
}

bool MachineBoard::isSettled() const {
    return std::ranges::all_of(m_machines, [](const ShownMachine& machine) {
        return machine.state != MachineState::kConnecting &&
               (machine.state != MachineState::kLive || machine.now());
    });
}

const ShownMachine* MachineBoard::find(const std::string& node) const {
    const auto found = std::ranges::find(m_machines, node, &ShownMachine::node);
    return found == m_machines.end() ? nullptr : &*found;
}

} // namespace rm
