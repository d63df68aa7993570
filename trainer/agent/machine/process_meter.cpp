// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/machine/process_meter.h"

#include "trainer/agent/probe/machine.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <sstream>

namespace rm {

namespace {

constexpr size_t kMostBusy = 24;  ///< told of for their CPU time
constexpr size_t kMostLarge = 12; ///< and for their memory
constexpr size_t kCommandBytes = 160;

std::optional<int64_t> pidNamed(const std::string& name) {
    int64_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    return parsed.ec == std::errc() && parsed.ptr == name.data() + name.size() ? std::optional(pid)
                                                                               : std::nullopt;
}

/// The arguments with spaces between them; of a thread of the kernel, which has none, empty.
std::string commandOf(const SysRoot& root, const std::string& folder) {
    std::string command = root.text(folder + "/cmdline");
    while (!command.empty() && command.back() == '\0')
        command.pop_back();
    command.resize(std::min(command.size(), kCommandBytes));
    std::ranges::replace_if(
        command, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    return command;
}

} // namespace

std::optional<ProcessCounters> readProcessCounters(const SysRoot& root, int64_t pid) {
    const std::string stat = root.line("/proc/" + std::to_string(pid) + "/stat");
    const size_t close = stat.rfind(')');
    if (close == std::string::npos)
        return std::nullopt;
    std::istringstream fields(stat.substr(close + 1));
    std::string skipped;
    ProcessCounters counters;
    double user = 0, system = 0, residentPages = 0;
    fields >> skipped >> counters.parent; // fields 3 and 4
    for (int field = 5; field < 14; ++field)
        fields >> skipped;
    fields >> user >> system;
    for (int field = 16; field < 22; ++field)
        fields >> skipped;
    fields >> counters.startTicks >> skipped >> residentPages;
    if (!fields)
        return std::nullopt;
    counters.cpuTicks = user + system;
    counters.residentBytes = residentPages * static_cast<double>(::sysconf(_SC_PAGESIZE));
    return counters;
}

ProcessMeter::AllSeen ProcessMeter::look(double seconds) const {
    AllSeen all;
    std::error_code error;
    std::filesystem::directory_iterator at(m_root.path("/proc"), error), end;
    for (; !error && at != end; at.increment(error)) {
        const auto pid = pidNamed(at->path().filename().string());
        const auto counters = pid ? readProcessCounters(m_root, *pid) : std::nullopt;
        if (!counters)
            continue;
        Seen seen{*counters, std::nullopt};
        const auto before = m_last.find(*pid);
        if (before != m_last.end() && seconds > 0 &&
            before->second.counters.startTicks == counters->startTicks)
            seen.cpu = std::max(0.0, counters->cpuTicks - before->second.counters.cpuTicks) /
                       static_cast<double>(::sysconf(_SC_CLK_TCK)) / seconds;
        all.emplace(*pid, seen);
    }
    return all;
}

ProcessFigures ProcessMeter::describe(int64_t pid, const Seen* seen, const GpuUsers& gpus,
                                      const LivingRank* rank) const {
    ProcessFigures figures;
    figures.pid = pid;
    if (const auto users = gpus.find(pid); users != gpus.end())
        figures.gpus = users->second;
    if (rank) {
        figures.runId = rank->runId;
        figures.runName = rank->runName;
        figures.rank = rank->rank;
    }
    if (!seen) // of another container
        return figures;
    const std::string folder = "/proc/" + std::to_string(pid);
    struct stat info = {};
    if (::stat(m_root.path(folder).c_str(), &info) == 0)
        figures.user = userName(info.st_uid);
    figures.name = m_root.line(folder + "/comm");
    figures.command = commandOf(m_root, folder);
    figures.cpu = seen->cpu;
    figures.memoryBytes = static_cast<int64_t>(seen->counters.residentBytes);
    return figures;
}

std::vector<ProcessFigures> ProcessMeter::read(const GpuUsers& gpus,
                                               const std::vector<LivingRank>& ranks,
                                               int64_t monotonicNs) {
    AllSeen all = look(static_cast<double>(monotonicNs - m_lastNs) / 1e9);
    std::map<int64_t, const LivingRank*> rankOf;
    for (const LivingRank& rank : ranks)
        rankOf[rank.pid] = &rank;
    const auto rankAbove = [&](int64_t pid) -> const LivingRank* {
        constexpr int kDeepest = 64; // and no endless walk should pids be reused meanwhile
        for (int depth = 0; depth < kDeepest && pid > 1; ++depth) {
            if (const auto rank = rankOf.find(pid); rank != rankOf.end())
                return rank->second;
            const auto seen = all.find(pid);
            if (seen == all.end())
                return nullptr;
            pid = seen->second.counters.parent;
        }
        return nullptr;
    };
    std::set<int64_t> chosen;
    for (const auto& [pid, users] : gpus)
        chosen.insert(pid);
    std::vector<int64_t> pids;
    for (const auto& [pid, seen] : all) {
        pids.push_back(pid);
        if (rankOf.contains(pid))
            chosen.insert(pid);
    }
    const auto cpu = [&all](int64_t pid) { return all[pid].cpu.value_or(0); };
    const auto memory = [&all](int64_t pid) { return all[pid].counters.residentBytes; };
    std::ranges::stable_sort(pids, std::greater(), cpu);
    chosen.insert(pids.begin(), pids.begin() + std::min<ptrdiff_t>(kMostBusy, std::ssize(pids)));
    std::ranges::stable_sort(pids, std::greater(), memory);
    chosen.insert(pids.begin(), pids.begin() + std::min<ptrdiff_t>(kMostLarge, std::ssize(pids)));
    std::vector<ProcessFigures> told;
    for (const int64_t pid : chosen) {
        const auto seen = all.find(pid);
        told.push_back(
            describe(pid, seen == all.end() ? nullptr : &seen->second, gpus, rankAbove(pid)));
    }
    // Threads of the kernel that do nothing are there for their number alone.
    std::erase_if(told, [](const ProcessFigures& each) {
        return each.memoryBytes == 0 && each.gpus.empty() && each.cpu.value_or(0) < 0.01;
    });
    std::ranges::stable_sort(told, [](const ProcessFigures& a, const ProcessFigures& b) {
        if (a.gpus.empty() != b.gpus.empty())
            return b.gpus.empty();
        return a.cpu.value_or(0) > b.cpu.value_or(0);
    });
    told.resize(std::min(told.size(), kMaxMachineProcesses));
    m_last = std::move(all);
    m_lastNs = monotonicNs;
    return told;
}

} // namespace rm
