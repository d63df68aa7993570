// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace c10d {
class Backend;
class Store;
} // namespace c10d

namespace rm {

/// Bytes of one device, as torch's caching allocator and the driver see them.
struct DeviceMemory {
    int64_t allocated = 0;     ///< in tensors now
    int64_t peakAllocated = 0; ///< most since resetPeakMemory()
    int64_t reserved = 0;      ///< held by the allocator
    int64_t total = 0;         ///< of the device
    bool operator==(const DeviceMemory&) const = default;
};

/// How long the phases of one step took on the device.
struct StepLaps {
    int64_t step = 0;
    std::vector<std::pair<int, float>> ms; ///< (phase, milliseconds) in the order of lap()
};

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
    virtual std::string deviceName() = 0; ///< "NVIDIA H200"

    /// The process group for the device selected; collectives that outlast `timeout`, and errors
    /// of peers, end the process (TORCH_NCCL_ASYNC_ERROR_HANDLING stays as it is).
    virtual c10::intrusive_ptr<c10d::Backend>
    makeBackend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int worldSize,
                std::chrono::milliseconds timeout) = 0;

    virtual std::unique_ptr<StreamClock> makeClock() = 0;
    virtual DeviceMemory memory() = 0; ///< no synchronisation
    virtual void resetPeakMemory() = 0;

    /// State of the device's default generator, for checkpoints.
    virtual std::vector<uint8_t> rngState() = 0;
    virtual void setRngState(const std::vector<uint8_t>& state) = 0;

    virtual void synchronize() = 0; ///< waits for all that was queued
};

/// Raised with every change above: a plugin of another version is refused.
inline constexpr int kDevicePluginVersion = 1;

/// What a plugin exports, as C names: `int ringmaster_plugin_version()` and
/// `rm::DevicePlugin* ringmaster_plugin()`, an object that lives as long as the process.
inline constexpr const char* kPluginVersionSymbol = "ringmaster_plugin_version";
inline constexpr const char* kPluginSymbol = "ringmaster_plugin";
using PluginVersionFunction = int (*)();
using PluginFunction = DevicePlugin* (*)();

} // namespace rm
