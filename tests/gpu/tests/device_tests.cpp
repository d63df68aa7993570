// SPDX-License-Identifier: Apache-2.0
// The plugin's door: memory, random numbers, copies.
#include "tests/gpu/tests/harness.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>

using namespace rm;
using gpu::require;

GPU_TEST(device, memoryIsCounted) {
    constexpr int64_t kBytes = int64_t{256} << 20;
    device.plugin->resetPeakMemory();
    const DeviceMemory before = device.plugin->memory();
    {
        const at::Tensor big = at::empty({kBytes}, at::TensorOptions(at::kByte).device(device.at));
        require(device.plugin->memory().allocated >= before.allocated + kBytes,
                "a tensor does not count");
    }
    const DeviceMemory after = device.plugin->memory();
    require(after.allocated == before.allocated, "a freed tensor counts");
    require(after.peakAllocated >= before.allocated + kBytes, "the peak is forgotten");
    require(after.total > kBytes && after.reserved >= after.allocated, "totals make no sense");
}

GPU_TEST(device, randomStateComesBack) {
    const auto options = at::TensorOptions(at::kFloat).device(device.at);
    const auto state = device.plugin->rngState();
    const at::Tensor first = at::rand({100}, options);
    device.plugin->setRngState(state);
    require(at::equal(first, at::rand({100}, options)), "other random numbers");
}

GPU_TEST(device, copiesArriveWholeWhileTheDeviceComputes) {
    constexpr int kBatches = 64;
    at::Tensor busy = at::rand({4096, 4096}, at::TensorOptions(at::kFloat).device(device.at));
    std::vector<at::Tensor> sums;
    for (int i = 0; i < kBatches; ++i) {
        busy = busy.matmul(busy).tanh_();
        // The host tensor dies at once: its pinned copy must not be written again too early.
        const auto here = device.plugin->copyHere({at::full({1 << 20}, i, at::kLong)});
        require(here[0].device() == device.at, "not on the device");
        sums.push_back(here[0].sum());
    }
    for (int i = 0; i < kBatches; ++i)
        require(sums[static_cast<size_t>(i)].item<int64_t>() == int64_t{i} << 20,
                "batch " + std::to_string(i) + " is damaged");
}

GPU_TEST(device, picturesComeChannelsLast) {
    const at::Tensor plain = at::randint(0, 255, {4, 3, 9, 7}, at::kByte);
    const at::Tensor last = plain.contiguous(at::MemoryFormat::ChannelsLast);
    for (const at::Tensor& host : {plain, last}) {
        const at::Tensor here = device.plugin->copyHere({host})[0];
        require(here.is_contiguous(at::MemoryFormat::ChannelsLast), "channels are not last");
        require(at::equal(here.cpu(), plain), "pixels moved");
    }
}

GPU_TEST(device, emptyTensorsAreCopied) {
    const auto here = device.plugin->copyHere({at::empty({0}, at::kBool), at::full({2}, 1)});
    require(here[0].numel() == 0 && here[1].sum().item<double>() == 2, "an empty tensor broke it");
}
