// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/machines/machine_board.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// How much something wants to be looked at.
enum class Attention { kNone, kWarn, kBad };

/// The state of a machine in two or three words.
struct MachineChip {
    enum class Tone { kNeutral, kGood, kWarn, kBad } tone = Tone::kNeutral;
    std::string text;
    bool operator==(const MachineChip&) const = default;
};
MachineChip chipOf(const ShownMachine& machine);

/// Whether a process has the GPU, or it computes.
bool isGpuBusy(const ShownMachine& machine, size_t gpu);

/// "translation · rank 0", "python · alice", "free".
std::string ownerOf(const ShownMachine& machine, size_t gpu);
std::string ownerOf(const ProcessFigures& process);
/// Likewise of the processors: ranks that live there, else the process that uses most; "free".
std::string cpuOwnerOf(const ShownMachine& machine);

/// Of its temperature: near the one from which on the driver slows it, or beyond.
Attention attentionOfHeat(const MachineGpu& gpu, const GpuFigures& figures);
/// What of a GPU somebody has to look at, with words for each; empty: nothing.
std::vector<std::string> warningsOf(const MachineGpu& gpu, const GpuFigures& figures);
/// Those of all GPUs and of the machine itself.
std::vector<std::string> warningsOf(const ShownMachine& machine);

/// Why the clock of a GPU is held down, in words; empty: nothing does.
std::string throttleWords(const std::vector<std::string>& throttled);

/// "4 × V100 16.0 GiB · driver 550.90", without GPUs "64 CPUs · AMD EPYC 9".
std::string modelWords(const MachineFacts& facts);

/// What stands below the devices: CPU, memory, interface, disk.
std::vector<std::string> footOf(const ShownMachine& machine);

/// What is told of a selected GPU besides: clocks, PCIe, what holds the clock down.
std::vector<std::string> detailsOf(const GpuFigures& figures);

/// Of each node that is listed under several names: the others, in words.
std::map<std::string, std::string> sameMachines(const std::vector<ShownMachine>& machines);

/// The interface with the most traffic of late; nullptr: none has any.
const InterfaceFigures* busiestInterface(const ShownMachine& machine);

struct MachineTotals {
    int machines = 0;
    int gpus = 0;
    int busyGpus = 0;
    std::optional<double> powerW; ///< of all GPUs whose power is known
};
/// A machine that is listed twice counts once.
MachineTotals totalsOf(const std::vector<ShownMachine>& machines);

} // namespace rm
