// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/sampler.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace rm {

namespace {

constexpr double kSectorBytes = 512; // /proc/diskstats' unit for every disk
constexpr double kNsPerS = 1e9;

void add(Samples& samples, MetricId metric, double value) {
    samples.metric.push_back(metric);
    samples.value.push_back(static_cast<float>(value));
}

void addIfKnown(Samples& samples, MetricId metric, const std::optional<float>& value) {
    if (value)
        add(samples, metric, *value);
}

void readCpu(const SysRoot& root, NodeCounters& counters) {
    std::istringstream fields(root.line("/proc/stat"));
    std::string name;
    fields >> name;
    double value = 0;
    // user nice system idle iowait irq softirq steal; the fields after them are included in user.
    for (int field = 0; field < 8 && fields >> value; ++field) {
        counters.allTicks += value;
        if (field != 3 && field != 4)
            counters.busyTicks += value;
    }
}

void readMemory(const SysRoot& root, NodeCounters& counters) {
    std::istringstream lines(root.text("/proc/meminfo"));
    double total = 0, available = 0;
    std::string name, rest;
    double kib = 0;
    while (lines >> name >> kib && std::getline(lines, rest)) {
        if (name == "MemTotal:")
            total = kib;
        else if (name == "MemAvailable:")
            available = kib;
    }
    counters.memoryUsedBytes = (total - available) * 1024;
}

void readNetwork(const SysRoot& root, NodeCounters& counters) {
    std::istringstream lines(root.text("/proc/net/dev"));
    std::string line;
    while (std::getline(lines, line)) {
        const size_t colon = line.find(':');
        if (colon == std::string::npos)
            continue;
        const size_t begin = line.find_first_not_of(' ');
        if (line.substr(begin, colon - begin) == "lo")
            continue;
        std::istringstream fields(line.substr(colon + 1));
        double values[9] = {};
        for (double& value : values)
            fields >> value;
        counters.rxBytes += values[0];
        counters.txBytes += values[8];
    }
}

// Whole disks only: the traffic of partitions and device mappers would be counted twice.
bool isDisk(const SysRoot& root, const std::string& name) {
    std::error_code error;
    return std::filesystem::exists(root.path("/sys/block/" + name + "/device"), error);
}

void readDisks(const SysRoot& root, NodeCounters& counters) {
    std::istringstream lines(root.text("/proc/diskstats"));
    std::string line;
    while (std::getline(lines, line)) {
        std::istringstream fields(line);
        std::string major, minor, name;
        double values[7] = {};
        fields >> major >> minor >> name;
        for (double& value : values)
            fields >> value;
        if (!isDisk(root, name))
            continue;
        counters.diskReadBytes += values[2] * kSectorBytes;
        counters.diskWriteBytes += values[6] * kSectorBytes;
    }
}

} // namespace

NodeCounters readNodeCounters(const SysRoot& root) {
    NodeCounters counters;
    readCpu(root, counters);
    readMemory(root, counters);
    readNetwork(root, counters);
    readDisks(root, counters);
    return counters;
}

std::optional<RankCounters> readRankCounters(const SysRoot& root, int64_t pid) {
    const std::string stat = root.line("/proc/" + std::to_string(pid) + "/stat");
    const size_t close = stat.rfind(')');
    if (close == std::string::npos)
        return std::nullopt;
    std::istringstream fields(stat.substr(close + 1));
    std::string skipped;
    for (int field = 3; field < 14; ++field)
        fields >> skipped;
    double user = 0, system = 0;
    fields >> user >> system;
    for (int field = 16; field < 24; ++field)
        fields >> skipped;
    double residentPages = 0;
    fields >> residentPages;
    if (!fields)
        return std::nullopt;
    return RankCounters{user + system,
                        residentPages * static_cast<double>(::sysconf(_SC_PAGESIZE))};
}

Sampler::Sampler(SysRoot root, const Gpus* gpus, std::string visibleDevices)
    : m_root(std::move(root))
    , m_gpus(gpus)
    , m_visibleDevices(std::move(visibleDevices)) {}

std::vector<Record> Sampler::sample(const std::vector<SampledRank>& ranks, Moment now) {
    std::vector<Record> records;
    for (const SampledRank& rank : ranks) {
        Samples samples;
        samples.rank = rank.rank;
        samples.step = rank.step;
        samples.wallNs = now.wallNs;
        if (records.empty())
            addNode(samples, now);
        addRank(samples, rank, now);
        const std::optional<Event> lost = addGpu(samples, rank);
        records.push_back(std::move(samples));
        if (lost)
            records.push_back(*lost);
    }
    return records;
}

void Sampler::addNode(Samples& samples, Moment now) {
    const NodeCounters counters = readNodeCounters(m_root);
    add(samples, metric::kNodeMemoryBytes, counters.memoryUsedBytes);
    const double seconds = static_cast<double>(now.monotonicNs - m_lastNodeNs) / kNsPerS;
    if (m_lastNode && seconds > 0) {
        const NodeCounters& last = *m_lastNode;
        const double ticks = counters.allTicks - last.allTicks;
        if (ticks > 0)
            add(samples, metric::kNodeCpu, (counters.busyTicks - last.busyTicks) / ticks);
        // A sum falls when an interface or disk disappears with its counters.
        const auto rate = [seconds](double then, double present) {
            return std::max(0.0, present - then) / seconds;
        };
        add(samples, metric::kNodeRxBytesPerS, rate(last.rxBytes, counters.rxBytes));
        add(samples, metric::kNodeTxBytesPerS, rate(last.txBytes, counters.txBytes));
        add(samples, metric::kNodeDiskReadBytesPerS,
            rate(last.diskReadBytes, counters.diskReadBytes));
        add(samples, metric::kNodeDiskWriteBytesPerS,
            rate(last.diskWriteBytes, counters.diskWriteBytes));
    }
    m_lastNode = counters;
    m_lastNodeNs = now.monotonicNs;
}

void Sampler::addRank(Samples& samples, const SampledRank& rank, Moment now) {
    const std::optional<RankCounters> counters = readRankCounters(m_root, rank.pid);
    if (!counters)
        return;
    add(samples, metric::kRankMemoryBytes, counters->residentBytes);
    m_lastRanks.resize(std::max(m_lastRanks.size(), static_cast<size_t>(rank.localRank) + 1));
    Last& last = m_lastRanks[static_cast<size_t>(rank.localRank)];
    const double seconds = static_cast<double>(now.monotonicNs - last.atNs) / kNsPerS;
    if (last.pid == rank.pid && seconds > 0)
        add(samples, metric::kRankCpu,
            (counters->cpuTicks - last.cpuTicks) / static_cast<double>(::sysconf(_SC_CLK_TCK)) /
                seconds);
    last = {rank.pid, counters->cpuTicks, now.monotonicNs};
}

std::optional<Event> Sampler::addGpu(Samples& samples, const SampledRank& rank) {
    if (!m_gpus)
        return std::nullopt;
    const std::optional<size_t> device = deviceOfRank(*m_gpus, m_visibleDevices, rank.localRank);
    if (!device)
        return std::nullopt;
    const GpuReading reading = m_gpus->read(*device);
    addIfKnown(samples, metric::kGpuUtilization, reading.utilization);
    addIfKnown(samples, metric::kGpuMemoryBytes, reading.memoryBytes);
    addIfKnown(samples, metric::kGpuPowerW, reading.powerW);
    addIfKnown(samples, metric::kGpuTemperatureC, reading.temperatureC);
    if (!reading.isLost || !m_withoutGpu.insert(rank.rank).second)
        return std::nullopt;
    const GpuReport& gpu = m_gpus->list()[*device];
    return Event{rank.rank,
                 rank.step,
                 samples.wallNs,
                 Severity::kError,
                 "gpu-lost",
                 "the driver has lost GPU " + std::to_string(*device) + " (" + gpu.name + ", " +
                     gpu.uuid +
                     "), which has fallen off the bus: the rank cannot go on there; "
                     "resume on other nodes, and restart this one"};
}

} // namespace rm
