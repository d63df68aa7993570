// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/machine_sample.h"
#include "trainer/agent/probe/sys_root.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// What /proc shows of a whole machine at one moment. Rates are means since the read before, and
/// empty at the first.
struct NodeReading {
    int cpus = 0;                     ///< logical ones
    std::optional<double> cpu;        ///< 0..1, the share of all CPUs that is busy
    std::optional<double> busiestCpu; ///< likewise, of the busiest one
    double memoryBytes = 0;
    double memoryUsedBytes = 0;
    std::optional<double> rxBytesPerS, txBytesPerS; ///< all interfaces but loopback together
    std::optional<double> diskReadBytesPerS, diskWriteBytesPerS;
    std::vector<InterfaceFigures> interfaces; ///< one by one, from the second read on
};

/// Reads the counters of the machine. The one that samples it for a run's journal and for who
/// looks at it.
class NodeMeter {
public:
    explicit NodeMeter(SysRoot root)
        : m_root(std::move(root)) {}

    NodeReading read(int64_t monotonicNs);

private:
    struct Ticks {
        double busy = 0, all = 0;
    };
    struct Traffic {
        double rxBytes = 0, txBytes = 0;
    };
    /// Counters since boot.
    struct Counters {
        Ticks all;                              ///< of all CPUs
        std::map<std::string, Ticks> cpus;      ///< by name: "cpu0"
        std::map<std::string, Traffic> traffic; ///< by interface
        double diskReadBytes = 0, diskWriteBytes = 0;
    };
    Counters counters() const;
    void readCpus(Counters& counters) const;
    void readTraffic(Counters& counters) const;
    void readDisks(Counters& counters) const;
    void readMemory(NodeReading& reading) const;
    static void addRates(const Counters& last, const Counters& now, double seconds,
                         NodeReading& reading);

    SysRoot m_root;
    std::optional<Counters> m_last;
    int64_t m_lastNs = 0;
};

} // namespace rm
