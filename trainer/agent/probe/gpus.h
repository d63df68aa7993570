// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/node_report.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// The figures of one device now, by its driver; unknown values are empty.
struct GpuReading {
    std::optional<float> utilization; ///< 0..1
    std::optional<float> memoryBytes; ///< used
    std::optional<float> powerW;
    std::optional<float> temperatureC;
    bool isLost = false; ///< fallen off the bus, says the driver
};

/// What is shown of a device beside that; unknown values are empty.
struct GpuDetails {
    std::optional<double> smClockMhz;
    std::optional<double> memoryClockMhz;
    std::vector<std::string> throttled; ///< why its clock is held down: words of NODE_REPORT.md
};

struct GpuLimits {
    std::optional<double> powerW;    ///< that the driver enforces
    std::optional<double> slowdownC; ///< from which temperature on its clock is slowed
};

struct PcieRates {
    std::optional<double> rxBytesPerS;
    std::optional<double> txBytesPerS;
};

/// The node's GPUs. A node without any, or without a driver, is an empty list.
class Gpus {
public:
    virtual ~Gpus() = default;
    virtual std::string driver() const = 0; ///< version, empty: none
    virtual const std::vector<GpuReport>& list() const = 0;
    virtual GpuReading read(size_t index) const = 0;
    virtual GpuDetails details(size_t) const { return {}; }
    virtual GpuLimits limits(size_t) const { return {}; }
    /// Those that have memory of it now, without user and name.
    virtual std::vector<GpuProcess> processes(size_t) const { return {}; }
    /// Takes the driver 40 ms.
    virtual PcieRates pcie(size_t) const { return {}; }
};

/// Through libnvidia-ml.so.1, loaded here; absent is not an error.
std::unique_ptr<Gpus> openNvmlGpus(const char* library = "libnvidia-ml.so.1");

/// Index into list() of a rank's device, by CUDA_VISIBLE_DEVICES (which may be empty).
std::optional<size_t> deviceOfRank(const Gpus& gpus, const std::string& visibleDevices,
                                   int localRank);

} // namespace rm
