// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace c10d {
class Backend;
class Store;
} // namespace c10d

namespace rm {

struct FusedOps;

/// Bytes of one device, as torch's caching allocator and the driver see them. Of the CPU only what
/// is free is known.
struct DeviceMemory {
    int64_t allocated = 0;     ///< in tensors now
    int64_t peakAllocated = 0; ///< most since resetPeakMemory()
    int64_t reserved = 0;      ///< held by the allocator
    int64_t total = 0;         ///< of the device
    int64_t free = 0;          ///< that tensors could still have, the allocator's reserve included
    bool operator==(const DeviceMemory&) const = default;
};

/// How long the phases of one step took on the device.
struct StepLaps {
    int64_t step = 0;
    std::vector<std::pair<int, float>> ms; ///< (phase, milliseconds) in the order of lap()
};

/// What a clock's lap() made parts of one recording; only that clock looks into it.
using RecordedLaps = std::shared_ptr<const void>;

/// Times what runs on the current stream by events. The host never waits. One thread.
class StreamClock {
public:
    virtual ~StreamClock() = default;
    /// Opens a step; one that was opened before and has no laps is dropped.
    virtual void start(int64_t step) = 0;
    /// Ends `phase`, which began at the previous lap() or at start().
    virtual void lap(int phase) = 0;
    /// The steps that the device has finished, oldest first; each is given once. The newest
    /// counts as open, hence is kept back, until the next start() or close().
    virtual std::vector<StepLaps> takeFinished() = 0;
    /// No further lap of the newest step will come.
    virtual void close() = 0;

    /// Whether a StepGraph is being recorded: lap() then becomes a part of the graph, also outside
    /// of start() and close(), and takes no time yet.
    virtual bool isRecording() const = 0;
    /// The laps that were recorded since the last call; null: none.
    virtual RecordedLaps takeRecorded() = 0;
    /// The graph with these laps ran once more as a part of the open step. The time of each of its
    /// runs in a step is divided among the laps as that of the last. Take the step's times before
    /// it runs in another.
    virtual void replayed(const RecordedLaps& laps) = 0;
};

/// A training step, or a part of one, that always does the same work in the same memory: recorded
/// once, it costs the host one call. One thread.
class StepGraph {
public:
    virtual ~StepGraph() = default;

    /// Does the step once, in the order of the current stream; true: by the recording. What the
    /// step throws outside of a recording comes through.
    virtual bool run() = 0;

    /// Why the step cannot be recorded, so that it runs as it is written; empty otherwise.
    virtual std::string obstacle() const = 0;
};

/// Recordings that share one memory, as they never run at the same time. A run of one of them may
/// overwrite what the runs of the others left behind, except for tensors that were still there when
/// it was recorded. One thread.
class StepGraphs {
public:
    virtual ~StepGraphs() = default;

    /// `step` computes on the device alone: it waits for nothing, reads and writes the same tensors
    /// every time and changes nothing on the host, since it runs fewer times than the graph does.
    /// The graph may outlive this.
    virtual std::unique_ptr<StepGraph> make(std::function<void()> step) = 0;
};

/// How a device shall compute, and where it reports.
struct DeviceSettings {
    bool tryConvolutions = false; ///< sizes stay the same: choose algorithms by timing them
    std::string traceFolder;      ///< where hanging collectives are written down; empty: nowhere
};

/// The one door to a kind of accelerator: `lib/libringmaster-cuda.so`, loaded with dlopen() when
/// the spec asks for it or the node has a driver. Only probe() may be called before select().
/// Errors of the others are LibTorch's exceptions. One thread, the training thread.
class DevicePlugin {
public:
    virtual ~DevicePlugin() = default;

    struct Probe {
        int count = 0;      ///< usable devices; 0: see `reason`
        std::string reason; ///< why there is none: "no NVIDIA driver is loaded", ...
    };
    /// Never throws and never starts the driver on a machine that has none.
    virtual Probe probe() noexcept = 0;

    /// Makes device `localRank` the current one of this thread.
    virtual void select(int localRank) = 0;
    /// Process-wide; before anything is computed and before makeBackend().
    virtual void configure(const DeviceSettings& settings) = 0;
    virtual std::string deviceName() = 0; ///< "NVIDIA H200"

    /// The process group for the device selected; collectives that outlast `timeout`, and errors
    /// of peers, end the process. Each rank's last collectives are then in the trace folder.
    /// Torch's environment variables that say otherwise are obeyed.
    virtual c10::intrusive_ptr<c10d::Backend>
    makeBackend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int worldSize,
                std::chrono::milliseconds timeout) = 0;

    virtual std::unique_ptr<StreamClock> makeClock() = 0;

    virtual std::unique_ptr<StepGraphs> makeStepGraphs() = 0; ///< null: the device has no graphs

    /// The tensors of a batch on the device; they may be used on the current stream at once. The
    /// host waits for no copy, and none waits for the current stream. Pictures (4 dimensions) come
    /// channels-last.
    virtual std::vector<at::Tensor> copyHere(std::vector<at::Tensor> host) = 0;

    /// What the device has kernels of its own for; null: nothing.
    virtual const FusedOps* fusedOps() = 0;

    virtual DeviceMemory memory() = 0; ///< no synchronisation
    virtual void resetPeakMemory() = 0;

    /// State of the device's default generator, for checkpoints.
    virtual std::vector<uint8_t> rngState() = 0;
    virtual void setRngState(const std::vector<uint8_t>& state) = 0;

    virtual void synchronize() = 0; ///< waits for all that was queued
};

/// Raised with every change above: a plugin of another version is refused.
inline constexpr int kDevicePluginVersion = 4;

/// What a plugin exports, as C names: `int ringmaster_plugin_version()` and
/// `rm::DevicePlugin* ringmaster_plugin()`, an object that lives as long as the process.
inline constexpr const char* kPluginVersionSymbol = "ringmaster_plugin_version";
inline constexpr const char* kPluginSymbol = "ringmaster_plugin";
using PluginVersionFunction = int (*)();
using PluginFunction = DevicePlugin* (*)();

} // namespace rm
