// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/sampler.h"

#include "trainer/agent/machine/process_meter.h"

#include <unistd.h>

#include <algorithm>

namespace rm {

namespace {

constexpr double kNsPerS = 1e9;

void add(Samples& samples, MetricId metric, double value) {
    samples.metric.push_back(metric);
    samples.value.push_back(static_cast<float>(value));
}

template <class Number>
void addIfKnown(Samples& samples, MetricId metric, const std::optional<Number>& value) {
    if (value)
        add(samples, metric, *value);
}

} // namespace

Sampler::Sampler(SysRoot root, const Gpus* gpus, std::string visibleDevices)
    : m_root(std::move(root))
    , m_gpus(gpus)
    , m_visibleDevices(std::move(visibleDevices))
    , m_node(m_root) {}

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
    const NodeReading node = m_node.read(now.monotonicNs);
    add(samples, metric::kNodeMemoryBytes, node.memoryUsedBytes);
    addIfKnown(samples, metric::kNodeCpu, node.cpu);
    addIfKnown(samples, metric::kNodeRxBytesPerS, node.rxBytesPerS);
    addIfKnown(samples, metric::kNodeTxBytesPerS, node.txBytesPerS);
    addIfKnown(samples, metric::kNodeDiskReadBytesPerS, node.diskReadBytesPerS);
    addIfKnown(samples, metric::kNodeDiskWriteBytesPerS, node.diskWriteBytesPerS);
}

void Sampler::addRank(Samples& samples, const SampledRank& rank, Moment now) {
    const std::optional<ProcessCounters> counters = readProcessCounters(m_root, rank.pid);
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
