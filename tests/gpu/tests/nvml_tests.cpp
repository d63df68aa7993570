// SPDX-License-Identifier: Apache-2.0
// What the agent says about the GPU while it computes.
#include "tests/gpu/tests/harness.h"
#include "trainer/agent/supervisor/sampler.h"

#include <ATen/ops/rand.h>

#include <map>

using namespace rm;
using gpu::require;

GPU_TEST(nvml, driverNamesTheDevice) {
    const auto gpus = openNvmlGpus();
    require(!gpus->list().empty(), "NVML lists no GPU");
    require(!gpus->driver().empty(), "NVML knows no version of the driver");
    const auto index = deviceOfRank(*gpus, "", 0);
    require(index.has_value(), "rank 0 has no device");
    const GpuReport& info = gpus->list()[*index];
    require(info.name == device.plugin->deviceName(), info.name + " is another device");
    require(info.memoryBytes >= device.plugin->memory().total, "NVML sees less memory than CUDA");
}

GPU_TEST(nvml, samplesShowWorkAndMemory) {
    const auto gpus = openNvmlGpus();
    at::Tensor busy =
        at::rand({8192, 8192}, at::TensorOptions(at::kFloat).device(device.at)).mul_(1e-4);
    for (int i = 0; i < 60; ++i) // more than a second of work
        busy = busy.matmul(busy);
    Sampler sampler(SysRoot{}, gpus.get(), "");
    std::map<MetricId, float> seen;
    for (const Record& record : sampler.sample({{0, 0, 1, 0}}, Moment::now()))
        if (const auto* samples = std::get_if<Samples>(&record))
            for (size_t i = 0; i < samples->metric.size(); ++i)
                seen[samples->metric[i]] = samples->value[i];
    device.plugin->synchronize();
    require(seen[metric::kGpuMemoryBytes] >= static_cast<float>(busy.nbytes()),
            "the memory in use is too small");
    require(seen[metric::kGpuPowerW] > 10, "the device draws no power");
    require(seen[metric::kGpuTemperatureC] > 5, "the device is frozen");
    require(seen.contains(metric::kGpuUtilization), "no utilization");
}
