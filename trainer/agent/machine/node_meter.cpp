// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/machine/node_meter.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace rm {

namespace {

constexpr double kSectorBytes = 512; // /proc/diskstats' unit for every disk
constexpr double kNsPerS = 1e9;

// Whole disks only: the traffic of partitions and device mappers would be counted twice.
bool isDisk(const SysRoot& root, const std::string& name) {
    std::error_code error;
    return std::filesystem::exists(root.path("/sys/block/" + name + "/device"), error);
}

/// What a counter grew by. It falls when what it counts is taken away and comes back.
double growth(double then, double now) {
    return std::max(0.0, now - then);
}

} // namespace

void NodeMeter::readCpus(Counters& counters) const {
    std::istringstream lines(m_root.text("/proc/stat"));
    std::string line;
    while (std::getline(lines, line) && line.starts_with("cpu")) {
        std::istringstream fields(line);
        std::string name;
        fields >> name;
        Ticks& ticks = name == "cpu" ? counters.all : counters.cpus[name];
        double value = 0;
        // user nice system idle iowait irq softirq steal; the fields after them are included in
        // user.
        for (int field = 0; field < 8 && fields >> value; ++field) {
            ticks.all += value;
            if (field != 3 && field != 4)
                ticks.busy += value;
        }
    }
}

void NodeMeter::readMemory(NodeReading& reading) const {
    std::istringstream lines(m_root.text("/proc/meminfo"));
    double total = 0, available = 0;
    std::string name, rest;
    double kib = 0;
    while (lines >> name >> kib && std::getline(lines, rest)) {
        if (name == "MemTotal:")
            total = kib;
        else if (name == "MemAvailable:")
            available = kib;
    }
    reading.memoryBytes = total * 1024;
    reading.memoryUsedBytes = (total - available) * 1024;
}

void NodeMeter::readTraffic(Counters& counters) const {
    std::istringstream lines(m_root.text("/proc/net/dev"));
    std::string line;
    while (std::getline(lines, line)) {
        const size_t colon = line.find(':');
        if (colon == std::string::npos)
            continue;
        const size_t begin = line.find_first_not_of(' ');
        const std::string name = line.substr(begin, colon - begin);
        if (name == "lo")
            continue;
        std::istringstream fields(line.substr(colon + 1));
        double values[9] = {};
        for (double& value : values)
            fields >> value;
        counters.traffic[name] = {values[0], values[8]};
    }
}

void NodeMeter::readDisks(Counters& counters) const {
    std::istringstream lines(m_root.text("/proc/diskstats"));
    std::string line;
    while (std::getline(lines, line)) {
        std::istringstream fields(line);
        std::string major, minor, name;
        double values[7] = {};
        fields >> major >> minor >> name;
        for (double& value : values)
            fields >> value;
        if (!isDisk(m_root, name))
            continue;
        counters.diskReadBytes += values[2] * kSectorBytes;
        counters.diskWriteBytes += values[6] * kSectorBytes;
    }
}

NodeMeter::Counters NodeMeter::counters() const {
    Counters counters;
    readCpus(counters);
    readTraffic(counters);
    readDisks(counters);
    return counters;
}

void NodeMeter::addRates(const Counters& last, const Counters& now, double seconds,
                         NodeReading& reading) {
    const auto share = [](const Ticks& then, const Ticks& present) -> std::optional<double> {
        const double ticks = present.all - then.all;
        return ticks > 0 ? std::optional(growth(then.busy, present.busy) / ticks) : std::nullopt;
    };
    reading.cpu = share(last.all, now.all);
    for (const auto& [name, ticks] : now.cpus)
        if (const auto before = last.cpus.find(name); before != last.cpus.end())
            if (const auto busy = share(before->second, ticks))
                reading.busiestCpu = std::max(reading.busiestCpu.value_or(0), *busy);
    reading.rxBytesPerS = reading.txBytesPerS = 0;
    for (const auto& [name, traffic] : now.traffic) {
        const auto before = last.traffic.find(name);
        if (before == last.traffic.end())
            continue;
        const double rx = growth(before->second.rxBytes, traffic.rxBytes) / seconds;
        const double tx = growth(before->second.txBytes, traffic.txBytes) / seconds;
        *reading.rxBytesPerS += rx;
        *reading.txBytesPerS += tx;
        reading.interfaces.push_back({name, rx, tx});
    }
    reading.diskReadBytesPerS = growth(last.diskReadBytes, now.diskReadBytes) / seconds;
    reading.diskWriteBytesPerS = growth(last.diskWriteBytes, now.diskWriteBytes) / seconds;
}

NodeReading NodeMeter::read(int64_t monotonicNs) {
    NodeReading reading;
    readMemory(reading);
    Counters now = counters();
    reading.cpus = static_cast<int>(now.cpus.size());
    const double seconds = static_cast<double>(monotonicNs - m_lastNs) / kNsPerS;
    if (m_last && seconds > 0)
        addRates(*m_last, now, seconds, reading);
    m_last = std::move(now);
    m_lastNs = monotonicNs;
    return reading;
}

} // namespace rm
