// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/machines/machine_words.h"

#include "app/core/findings/text.h"
#include "shared/amounts.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace rm {

namespace {

constexpr double kIdle = 0.05;         ///< of a GPU: what a desktop or a driver uses
constexpr double kBusyCpu = 0.2;       ///< of all cores
constexpr double kFullMemory = 0.95;   ///< from here on processes are killed soon
constexpr double kWarmC = 5;           ///< below the temperature of a slowdown
constexpr double kUsualSlowdownC = 90; ///< where the driver names none

std::string rounded(double value) {
    return std::to_string(static_cast<int64_t>(std::llround(value)));
}

std::string bytesText(double bytes) {
    return bytesWords(static_cast<int64_t>(bytes));
}

std::vector<const ProcessFigures*> usersOf(const ShownMachine& machine, size_t gpu) {
    std::vector<const ProcessFigures*> users;
    for (const ProcessFigures& process : machine.processes)
        if (std::ranges::any_of(process.gpus, [gpu](const ProcessGpu& each) {
                return each.gpu == static_cast<int>(gpu);
            }))
            users.push_back(&process);
    // Ranks first, in order; what is none has -1.
    std::ranges::stable_sort(users, {}, [](const ProcessFigures* process) {
        return static_cast<unsigned>(process->rank);
    });
    return users;
}

bool isMemoryFull(const ShownMachine& machine, const MachineSample& now) {
    return machine.facts && machine.facts->memoryBytes > 0 &&
           static_cast<double>(now.memoryBytes) >
               kFullMemory * static_cast<double>(machine.facts->memoryBytes);
}

/// The reason in words, and whether somebody has to look at it.
std::pair<std::string, bool> reasonWords(const std::string& word) {
    if (word == "thermal" || word == "hardware-thermal")
        return {say("machine.thermal"), true};
    if (word == "hardware-slowdown")
        return {say("machine.hardware-slowdown"), true};
    if (word == "power-brake")
        return {say("machine.power-brake"), true};
    if (word == "power-cap")
        return {say("machine.power-cap"), false};
    if (word == "application-clocks")
        return {say("machine.application-clocks"), false};
    if (word == "sync-boost")
        return {say("machine.sync-boost"), false};
    if (word == "display-clocks")
        return {say("machine.display-clocks"), false};
    return {word, false};
}

/// Each once: a driver gives two words for heat.
std::vector<std::string> reasonsOf(const std::vector<std::string>& throttled, bool graveAlone) {
    std::vector<std::string> reasons;
    for (const std::string& word : throttled) {
        const auto [words, isGrave] = reasonWords(word);
        if ((isGrave || !graveAlone) && std::ranges::find(reasons, words) == reasons.end())
            reasons.push_back(words);
    }
    return reasons;
}

MachineChip chipOfBusyness(const ShownMachine& machine, const MachineSample& now) {
    using Tone = MachineChip::Tone;
    const size_t gpus = now.gpus.size();
    if (gpus == 0) {
        const double all = machine.facts ? std::max(machine.facts->cpus, 1) : 1;
        const double share = now.cpu.value_or(0) / all;
        if (share < kBusyCpu)
            return {Tone::kGood, say("machine.free")};
        return {Tone::kNeutral, say("machine.cpu-busy", {{"share", rounded(100 * share) + " %"}})};
    }
    size_t busy = 0;
    for (size_t i = 0; i < gpus; ++i)
        busy += isGpuBusy(machine, i) ? 1 : 0;
    if (busy == 0)
        return {Tone::kGood, say("machine.free")};
    if (busy == gpus)
        return {Tone::kNeutral, say("machine.all-busy")};
    return {Tone::kGood, say("machine.some-free", {{"count", std::to_string(gpus - busy)}})};
}

} // namespace

MachineChip chipOf(const ShownMachine& machine) {
    using Tone = MachineChip::Tone;
    switch (machine.state) {
    case MachineState::kConnecting:
        return {Tone::kNeutral, say("machine.connecting")};
    case MachineState::kLost:
        return {Tone::kBad, say("machine.unreachable")};
    case MachineState::kRefused:
        return {Tone::kWarn, say("machine.needs-answer")};
    case MachineState::kFailed:
        return {Tone::kBad, say("machine.no-figures")};
    case MachineState::kCluster:
        return {Tone::kNeutral, say("machine.is-cluster")};
    case MachineState::kLive:
        break;
    }
    const MachineSample* now = machine.now();
    if (!now)
        return {Tone::kNeutral, say("machine.connecting")};
    const size_t warnings = warningsOf(machine).size();
    const bool isBad =
        std::ranges::any_of(now->gpus, [](const GpuFigures& gpu) { return gpu.isLost; });
    if (warnings > 0)
        return {isBad ? Tone::kBad : Tone::kWarn,
                warnings == 1 ? say("machine.one-warning")
                              : say("machine.warnings", {{"count", std::to_string(warnings)}})};
    return chipOfBusyness(machine, *now);
}

bool isGpuBusy(const ShownMachine& machine, size_t gpu) {
    const MachineSample* now = machine.now();
    return !usersOf(machine, gpu).empty() ||
           (now && gpu < now->gpus.size() && now->gpus[gpu].utilization.value_or(0) > kIdle);
}

std::string ownerOf(const ShownMachine& machine, size_t gpu) {
    const MachineSample* now = machine.now();
    if (now && gpu < now->gpus.size() && now->gpus[gpu].isLost)
        return say("machine.lost-gpu");
    const auto users = usersOf(machine, gpu);
    if (users.empty())
        return isGpuBusy(machine, gpu) ? say("machine.unlisted") : say("machine.nobody");
    const std::string first = ownerOf(*users.front());
    return users.size() == 1 ? first
                             : say("machine.and-more",
                                   {{"first", first}, {"count", std::to_string(users.size() - 1)}});
}

std::string ownerOf(const ProcessFigures& process) {
    if (process.rank >= 0)
        return say("machine.rank",
                   {{"run", process.runName.empty() ? process.runId : process.runName},
                    {"rank", std::to_string(process.rank)}});
    if (process.name.empty())
        return say("machine.of-container", {{"pid", std::to_string(process.pid)}});
    return say("machine.of-user", {{"program", process.name}, {"user", process.user}});
}

std::string cpuOwnerOf(const ShownMachine& machine) {
    constexpr double kUsesOne = 0.5; // cores
    std::vector<const ProcessFigures*> users;
    for (const ProcessFigures& process : machine.processes)
        if (process.rank >= 0)
            users.push_back(&process);
    std::ranges::sort(users, {}, &ProcessFigures::rank);
    const auto most =
        std::ranges::max_element(machine.processes, {}, [](const ProcessFigures& process) {
            return process.cpu.value_or(0);
        });
    if (users.empty() && most != machine.processes.end() && most->cpu.value_or(0) >= kUsesOne)
        users.push_back(&*most);
    if (users.empty())
        return say("machine.nobody");
    const std::string first = ownerOf(*users.front());
    return users.size() == 1 ? first
                             : say("machine.and-more",
                                   {{"first", first}, {"count", std::to_string(users.size() - 1)}});
}

Attention attentionOfHeat(const MachineGpu& gpu, const GpuFigures& figures) {
    if (!figures.temperatureC)
        return Attention::kNone;
    const double limit = gpu.slowdownC.value_or(kUsualSlowdownC);
    return *figures.temperatureC >= limit            ? Attention::kBad
           : *figures.temperatureC >= limit - kWarmC ? Attention::kWarn
                                                     : Attention::kNone;
}

std::vector<std::string> warningsOf(const MachineGpu& gpu, const GpuFigures& figures) {
    if (figures.isLost)
        return {say("machine.lost")};
    std::vector<std::string> warnings = reasonsOf(figures.throttled, true);
    if (warnings.empty() && attentionOfHeat(gpu, figures) != Attention::kNone)
        warnings.push_back(
            say("machine.hot", {{"degrees", rounded(*figures.temperatureC)},
                                {"limit", rounded(gpu.slowdownC.value_or(kUsualSlowdownC))}}));
    return warnings;
}

std::vector<std::string> warningsOf(const ShownMachine& machine) {
    const MachineSample* now = machine.now();
    std::vector<std::string> warnings;
    if (!now || !machine.facts)
        return warnings;
    for (size_t i = 0; i < std::min(now->gpus.size(), machine.facts->gpus.size()); ++i)
        for (const std::string& what : warningsOf(machine.facts->gpus[i], now->gpus[i]))
            warnings.push_back(
                say("machine.gpu-warning", {{"index", std::to_string(i)}, {"what", what}}));
    if (isMemoryFull(machine, *now))
        warnings.push_back(say("machine.memory-full"));
    return warnings;
}

std::string throttleWords(const std::vector<std::string>& throttled) {
    return joined(reasonsOf(throttled, false), ", ");
}

std::string modelWords(const MachineFacts& facts) {
    std::vector<std::string> parts;
    for (size_t at = 0; at < facts.gpus.size();) {
        const MachineGpu& gpu = facts.gpus[at];
        const auto begin = facts.gpus.begin() + static_cast<std::ptrdiff_t>(at);
        const auto end = std::find_if(begin, facts.gpus.end(), [&gpu](const MachineGpu& each) {
            return each.name != gpu.name || each.memoryBytes != gpu.memoryBytes;
        });
        parts.push_back(say("machine.gpus-of", {{"count", std::to_string(end - begin)},
                                                {"name", gpu.name},
                                                {"memory", memoryWords(gpu.memoryBytes)}}));
        at += static_cast<size_t>(end - begin);
    }
    if (parts.empty())
        parts.push_back(say("machine.cpu-model",
                            {{"cpus", std::to_string(facts.cpus)}, {"model", facts.cpuModel}}));
    if (!facts.driver.empty())
        parts.push_back(say("machine.driver", {{"version", facts.driver}}));
    return joined(parts, " · ");
}

const InterfaceFigures* busiestInterface(const ShownMachine& machine) {
    const MachineSample* now = machine.now();
    if (!now)
        return nullptr;
    std::map<std::string, double> traffic;
    for (const MachinePoint& point : machine.points)
        for (const InterfaceFigures& each : point.sample.interfaces)
            traffic[each.name] += each.rxBytesPerS + each.txBytesPerS;
    const InterfaceFigures* busiest = nullptr;
    for (const InterfaceFigures& each : now->interfaces)
        if (traffic[each.name] > (busiest ? traffic[busiest->name] : 0))
            busiest = &each;
    return busiest;
}

std::vector<std::string> footOf(const ShownMachine& machine) {
    const MachineSample* now = machine.now();
    std::vector<std::string> parts;
    if (!now || !machine.facts)
        return parts;
    if (now->cpu)
        parts.push_back(say("machine.cpu-of", {{"busy", rounded(*now->cpu)},
                                               {"all", std::to_string(machine.facts->cpus)}}));
    parts.push_back(say("machine.memory-of", {{"used", memoryWords(now->memoryBytes)},
                                              {"all", memoryWords(machine.facts->memoryBytes)}}));
    if (const InterfaceFigures* busiest = busiestInterface(machine))
        parts.push_back(say("machine.interface", {{"name", busiest->name},
                                                  {"rx", bytesText(busiest->rxBytesPerS)},
                                                  {"tx", bytesText(busiest->txBytesPerS)}}));
    if (now->diskReadBytesPerS && now->diskWriteBytesPerS)
        parts.push_back(say("machine.disk", {{"read", bytesText(*now->diskReadBytesPerS)},
                                             {"written", bytesText(*now->diskWriteBytesPerS)}}));
    return parts;
}

std::vector<std::string> detailsOf(const GpuFigures& figures) {
    std::vector<std::string> parts;
    if (figures.smClockMhz && figures.memoryClockMhz)
        parts.push_back(say("machine.gpu-clocks", {{"sm", rounded(*figures.smClockMhz)},
                                                   {"memory", rounded(*figures.memoryClockMhz)}}));
    else if (figures.smClockMhz)
        parts.push_back(say("machine.gpu-clock", {{"sm", rounded(*figures.smClockMhz)}}));
    if (figures.pcieRxBytesPerS && figures.pcieTxBytesPerS)
        parts.push_back(say("machine.pcie", {{"rx", bytesText(*figures.pcieRxBytesPerS)},
                                             {"tx", bytesText(*figures.pcieTxBytesPerS)}}));
    if (const std::string why = throttleWords(figures.throttled); !why.empty())
        parts.push_back(why);
    return parts;
}

std::map<std::string, std::string> sameMachines(const std::vector<ShownMachine>& machines) {
    std::map<std::string, std::vector<std::string>> names;
    for (const ShownMachine& machine : machines)
        if (machine.facts && !machine.facts->machine.empty())
            names[machine.facts->machine].push_back(machine.node);
    std::map<std::string, std::string> same;
    for (const auto& [machine, nodes] : names)
        for (const std::string& node : nodes) {
            std::vector<std::string> others = nodes;
            std::erase(others, node);
            if (!others.empty())
                same[node] = say("machine.same-as", {{"nodes", listed(others)}});
        }
    return same;
}

MachineTotals totalsOf(const std::vector<ShownMachine>& machines) {
    MachineTotals totals;
    std::set<std::string> seen;
    for (const ShownMachine& machine : machines) {
        const bool isNamed = machine.facts && !machine.facts->machine.empty();
        if (isNamed && !seen.insert(machine.facts->machine).second)
            continue;
        ++totals.machines;
        const MachineSample* now = machine.now();
        for (size_t i = 0; now && i < now->gpus.size(); ++i) {
            ++totals.gpus;
            totals.busyGpus += isGpuBusy(machine, i) ? 1 : 0;
            if (now->gpus[i].powerW)
                totals.powerW = totals.powerW.value_or(0) + *now->gpus[i].powerW;
        }
    }
    return totals;
}

} // namespace rm
