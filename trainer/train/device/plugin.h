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

/// Memory of one device in bytes, by torch's caching allocator and the driver. For the CPU only
/// `free` is known.
struct DeviceMemory {
    int64_t allocated = 0;     ///< in tensors now
    int64_t peakAllocated = 0; ///< most since resetPeakMemory()
    int64_t reserved = 0;      ///< held by the allocator
    int64_t total = 0;         ///< of the device
    int64_t free = 0;          ///< available to tensors, including the allocator's cache
    bool operator==(const DeviceMemory&) const = default;
};

/// How long the phases of one step took on the device.
struct StepLaps {
    int64_t step = 0;
    std::vector<std::pair<int, float>> ms; ///< (phase, milliseconds) in the order of lap()
};

/// The laps that a clock recorded into a graph; opaque to everybody else.
using RecordedLaps = std::shared_ptr<const void>;

/// Times work on the current stream with events. The host never waits. One thread.
class StreamClock {
public:
    virtual ~StreamClock() = default;
    /// Opens a step; drops an open one without laps.
    virtual void start(int64_t step) = 0;
    /// Ends `phase`, which began at the previous lap() or at start().
    virtual void lap(int phase) = 0;
    /// The steps that the device has finished, oldest first, each once. The newest step is not
    /// returned before the next start() or close(), as it may get more laps.
    virtual std::vector<StepLaps> takeFinished() = 0;
    /// No further lap of the newest step will come.
    virtual void close() = 0;

    /// Whether a StepGraph is being recorded. Then lap() becomes part of the graph, also outside of
    /// start() and close(), and measures nothing yet.
    virtual bool isRecording() const = 0;
    /// The laps that were recorded since the last call; null: none.
    virtual RecordedLaps takeRecorded() = 0;
    /// The graph with these laps ran once as a part of the open step. If it runs several times in a
    /// step, the time of each run is divided among the laps in the proportions of the last run.
    /// Take the step's times before the graph runs in another step.
    virtual void replayed(const RecordedLaps& laps) = 0;
};

/// A training step, or a part of one, that always does the same work in the same memory. Once
/// recorded, the host starts it with one call. One thread.
class StepGraph {
public:
    virtual ~StepGraph() = default;

    /// Runs the step once, in order with the current stream. True: by replaying the recording.
    /// Exceptions of the step outside of a recording are passed on.
    virtual bool run() = 0;

    /// Why the step cannot be recorded and hence runs eagerly; empty otherwise.
    virtual std::string obstacle() const = 0;
};

/// Recordings that share memory, as they never run at the same time. A run of one may overwrite the
/// outputs of others, except tensors that still existed when it was recorded. One thread.
class StepGraphs {
public:
    virtual ~StepGraphs() = default;

    /// `step` must compute on the device only, never wait, and always read and write the same
    /// tensors. It must not change state on the host, as it runs less often than the graph. The
    /// graph may outlive this.
    virtual std::unique_ptr<StepGraph> make(std::function<void()> step) = 0;
};

/// A device, its driver and its libraries: what holds for one combination need not for another.
struct DeviceIdentity {
    std::string uuid;    ///< "GPU-...", the same after a restart; empty: it has none
    std::string driver;  ///< "580.65.06"; empty: unknown
    std::string runtime; ///< libraries that compute on it: "CUDA 13.0"; empty: the CPU
    bool operator==(const DeviceIdentity&) const = default;
};

/// How a device computes, and where it writes traces.
struct DeviceSettings {
    bool tryConvolutions = false; ///< for constant sizes: choose algorithms by timing them
    std::string traceFolder;      ///< for traces of hanging collectives; empty: none
};

/// The interface to a kind of accelerator: `lib/libringmaster-cuda.so` is loaded with dlopen() when
/// the spec asks for it or the node has a driver. Only probe() may be called before select(). The
/// other calls throw LibTorch's exceptions. Training thread only.
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
    virtual DeviceIdentity identity() { return {}; }

    /// Whether autocast to this number format may be used on it; else it computes in float32.
    virtual bool isTrusted(at::ScalarType) { return true; }

    /// The process group for the selected device. Collectives that exceed `timeout` and errors of
    /// peers end the process; each rank's last collectives are then in the trace folder. Torch's
    /// environment variables take precedence.
    virtual c10::intrusive_ptr<c10d::Backend>
    makeBackend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int worldSize,
                std::chrono::milliseconds timeout) = 0;

    virtual std::unique_ptr<StreamClock> makeClock() = 0;

    virtual std::unique_ptr<StepGraphs> makeStepGraphs() = 0; ///< null: the device has no graphs

    /// Copies the tensors of a batch to the device; they can be used on the current stream at once.
    /// The host does not wait for the copies, and these do not wait for the current stream.
    /// Pictures (4 dimensions) become channels-last.
    virtual std::vector<at::Tensor> copyHere(std::vector<at::Tensor> host) = 0;

    /// Operations for which the plugin has its own kernels; null: none.
    virtual const FusedOps* fusedOps() = 0;

    virtual DeviceMemory memory() = 0; ///< no synchronisation
    virtual void resetPeakMemory() = 0;

    /// State of the device's default generator, for checkpoints.
    virtual std::vector<uint8_t> rngState() = 0;
    virtual void setRngState(const std::vector<uint8_t>& state) = 0;

    virtual void synchronize() = 0; ///< waits for all that was queued
};

/// To be raised with every change above; a plugin of another version is refused.
inline constexpr int kDevicePluginVersion = 5;

/// The C names that a plugin exports: `int ringmaster_plugin_version()` and
/// `rm::DevicePlugin* ringmaster_plugin()`, an object that lives as long as the process.
inline constexpr const char* kPluginVersionSymbol = "ringmaster_plugin_version";
inline constexpr const char* kPluginSymbol = "ringmaster_plugin";
using PluginVersionFunction = int (*)();
using PluginFunction = DevicePlugin* (*)();

} // namespace rm
