// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace rm {

// What `ringmaster-agent machine` prints while someone looks at a machine: MACHINE.md beside this.

struct MachineGpu {
    std::string name; ///< "NVIDIA H200"
    std::string uuid;
    int64_t memoryBytes = 0;
    std::optional<double> powerLimitW;
    std::optional<double> slowdownC; ///< from which temperature on the driver slows its clock
    bool operator==(const MachineGpu&) const = default;
};

/// What stays as it is while the stream lasts.
struct MachineFacts {
    std::string machine; ///< as NodeReport::machine
    std::string release; ///< of the agent
    std::string cpuModel;
    int cpus = 0; ///< logical ones of the whole machine
    int64_t memoryBytes = 0;
    std::string driver;           ///< NVIDIA's version, empty: none
    std::vector<MachineGpu> gpus; ///< in the driver's order
    bool operator==(const MachineFacts&) const = default;
};

/// One GPU at one moment; what the driver does not tell is empty.
struct GpuFigures {
    std::optional<double> utilization; ///< 0..1, the share of the time in which a kernel ran
    std::optional<double> memoryBytes; ///< used
    std::optional<double> temperatureC;
    std::optional<double> powerW;
    std::optional<double> smClockMhz;
    std::optional<double> memoryClockMhz;
    std::optional<double> pcieRxBytesPerS; ///< measured less often than the rest
    std::optional<double> pcieTxBytesPerS;
    std::vector<std::string> throttled; ///< words of NODE_REPORT.md
    bool isLost = false;                ///< fallen off the bus
    bool operator==(const GpuFigures&) const = default;
};

struct InterfaceFigures {
    std::string name; ///< "ens5"
    double rxBytesPerS = 0;
    double txBytesPerS = 0;
    bool operator==(const InterfaceFigures&) const = default;
};

/// Memory of a GPU that a process has.
struct ProcessGpu {
    int gpu = 0;       ///< index in MachineFacts::gpus
    int64_t bytes = 0; ///< 0: unknown
    bool operator==(const ProcessGpu&) const = default;
};

struct ProcessFigures {
    int64_t pid = 0;
    std::string user;          ///< empty: unknown, as in another container
    std::string name;          ///< likewise
    std::string command;       ///< its beginning
    std::optional<double> cpu; ///< cores that it keeps busy
    int64_t memoryBytes = 0;   ///< resident
    std::vector<ProcessGpu> gpus;
    std::string runId; ///< empty: it is none of a run of this user's Ringmaster
    std::string runName;
    int rank = -1; ///< -1: none
    bool operator==(const ProcessFigures&) const = default;
};

/// A machine at one moment. Rates are means since the sample before.
struct MachineSample {
    int64_t wallNs = 0;               ///< the machine's clock
    std::optional<double> cpu;        ///< cores that are busy
    std::optional<double> busiestCpu; ///< 0..1, of the busiest core
    int64_t memoryBytes = 0;          ///< used, without caches
    std::optional<double> diskReadBytesPerS;
    std::optional<double> diskWriteBytesPerS;
    std::vector<InterfaceFigures> interfaces; ///< those that are no bridge of containers
    std::vector<GpuFigures> gpus;             ///< as many as MachineFacts::gpus
    /// The processes that matter most; nullopt: they were not looked at for this sample.
    std::optional<std::vector<ProcessFigures>> processes;
    bool operator==(const MachineSample&) const = default;
};

/// Limits of a line; a parser refuses more, and the agent leaves out what exceeds them.
inline constexpr size_t kMaxMachineLine = 256 << 10; ///< bytes
inline constexpr size_t kMaxMachineGpus = 64;
inline constexpr size_t kMaxMachineInterfaces = 64;
inline constexpr size_t kMaxMachineProcesses = 256;
inline constexpr size_t kMaxMachineText = 512; ///< bytes of a name or a command

/// How often a machine may be asked to be looked at.
inline constexpr int kLeastMachineIntervalMs = 200;
inline constexpr int kMostMachineIntervalMs = 60'000;
/// The stream ends once nothing was heard from the app for so long.
inline constexpr int kMachineSilenceMs = 10'000;

/// One line, without its end.
std::string toJson(const MachineFacts& facts);
std::string toJson(const MachineSample& sample);

using MachineLine = std::variant<MachineFacts, MachineSample>;

/// kCorrupt names the key whose value has another type or is out of its limits. Unknown keys are
/// passed over, missing ones leave what a default struct has.
Result<MachineLine> parseMachineLine(const std::string& line);

} // namespace rm
