// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/machine/machine_sampler.h"

#include "shared/wire/virtual_interface.h"
#include "trainer/agent/probe/machine.h"
#include "trainer/agent/run_dir/release.h"

#include <algorithm>
#include <utility>

namespace rm {

namespace {

constexpr int kLooksBetweenRanks = 3;

std::string withinLimit(std::string text) {
    text.resize(std::min(text.size(), kMaxMachineText / 4)); // a byte may become three: U+FFFD
    return text;
}

} // namespace

MachineSampler::MachineSampler(SysRoot root, const Gpus& gpus, Folders folders)
    : m_root(root)
    , m_gpus(gpus)
    , m_folders(std::move(folders))
    , m_node(root)
    , m_processes(std::move(root))
    , m_pcie(std::min(gpus.list().size(), kMaxMachineGpus)) {}

MachineFacts MachineSampler::facts() {
    const Machine machine = readMachine(m_root);
    MachineFacts facts;
    facts.machine = withinLimit(machineName());
    facts.release = kRelease;
    facts.cpuModel = withinLimit(machine.cpuModel);
    facts.cpus = machine.cores;
    facts.memoryBytes = machine.memoryBytes;
    facts.driver = withinLimit(m_gpus.driver());
    for (size_t i = 0; i < m_pcie.size(); ++i) {
        const GpuReport& gpu = m_gpus.list()[i];
        const GpuLimits limits = m_gpus.limits(i);
        facts.gpus.push_back({withinLimit(gpu.name), withinLimit(gpu.uuid), gpu.memoryBytes,
                              limits.powerW, limits.slowdownC});
    }
    return facts;
}

void MachineSampler::addGpus(MachineSample& sample, bool measuresPcie) {
    if (measuresPcie && !m_pcie.empty()) {
        m_nextPcie = (m_nextPcie + 1) % m_pcie.size();
        m_pcie[m_nextPcie] = m_gpus.pcie(m_nextPcie);
    } else if (!measuresPcie) {
        std::ranges::fill(m_pcie, PcieRates()); // what is not measured any more is not told
    }
    for (size_t i = 0; i < m_pcie.size(); ++i) {
        const GpuReading reading = m_gpus.read(i);
        const GpuDetails details = m_gpus.details(i);
        GpuFigures figures;
        figures.utilization = reading.utilization;
        figures.memoryBytes = reading.memoryBytes;
        figures.temperatureC = reading.temperatureC;
        figures.powerW = reading.powerW;
        figures.smClockMhz = details.smClockMhz;
        figures.memoryClockMhz = details.memoryClockMhz;
        figures.pcieRxBytesPerS = m_pcie[i].rxBytesPerS;
        figures.pcieTxBytesPerS = m_pcie[i].txBytesPerS;
        figures.throttled = details.throttled;
        figures.isLost = reading.isLost;
        sample.gpus.push_back(std::move(figures));
    }
}

std::vector<ProcessFigures> MachineSampler::processes(int64_t monotonicNs) {
    if (m_looksUntilRanks-- <= 0) {
        m_ranks = livingRanks(m_folders);
        m_looksUntilRanks = kLooksBetweenRanks - 1;
    }
    GpuUsers users;
    for (size_t i = 0; i < m_pcie.size(); ++i)
        for (const GpuProcess& process : m_gpus.processes(i))
            users[process.pid].push_back({static_cast<int>(i), process.bytes});
    std::vector<ProcessFigures> found = m_processes.read(users, m_ranks, monotonicNs);
    for (ProcessFigures& each : found) {
        each.user = withinLimit(std::move(each.user));
        each.runName = withinLimit(std::move(each.runName));
    }
    return found;
}

MachineSample MachineSampler::sample(int64_t monotonicNs, int64_t wallNs, Extent extent) {
    const NodeReading reading = m_node.read(monotonicNs);
    MachineSample sample;
    sample.wallNs = wallNs;
    if (reading.cpu)
        sample.cpu = *reading.cpu * reading.cpus;
    sample.busiestCpu = reading.busiestCpu;
    sample.memoryBytes = std::max<int64_t>(0, static_cast<int64_t>(reading.memoryUsedBytes));
    sample.diskReadBytesPerS = reading.diskReadBytesPerS;
    sample.diskWriteBytesPerS = reading.diskWriteBytesPerS;
    for (const InterfaceFigures& each : reading.interfaces)
        if (!isVirtualInterface(each.name) && sample.interfaces.size() < kMaxMachineInterfaces)
            sample.interfaces.push_back(each);
    addGpus(sample, extent.pcie);
    if (extent.processes)
        sample.processes = processes(monotonicNs);
    return sample;
}

} // namespace rm
