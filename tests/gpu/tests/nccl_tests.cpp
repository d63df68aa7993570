// SPDX-License-Identifier: Apache-2.0
// NCCL as one GPU can show it: a world of one rank.
#include "tests/gpu/tests/harness.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <cstdlib>

using namespace rm;
using gpu::require;

namespace {

c10::intrusive_ptr<c10d::ProcessGroup> groupOfOne(const Device& device) {
    using Group = c10d::ProcessGroup;
    const auto store = c10::make_intrusive<c10d::HashStore>();
    auto group = c10::make_intrusive<Group>(store, 0, 1);
    device.plugin->configure({.traceFolder = "/tmp"});
    group->setBackend(device.at.type(), Group::BackendType::NCCL,
                      device.plugin->makeBackend(store, 0, 1, std::chrono::seconds(60)));
    return group;
}

} // namespace

GPU_TEST(nccl, collectivesOfOneRankGiveItsTensors) {
    const auto group = groupOfOne(device);
    const at::Tensor values = at::randn({1 << 16}, at::TensorOptions(at::kFloat).device(device.at));
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
        const at::Tensor before = values.to(type);
        std::vector<at::Tensor> tensors{before.clone()};
        group->allreduce(tensors)->wait();
        require(at::equal(tensors[0], before), "all-reduce changed a tensor");
        group->broadcast(tensors)->wait();
        require(at::equal(tensors[0], before), "broadcast changed a tensor");
        at::Tensor out = at::empty_like(before);
        at::Tensor in = before.clone();
        group->_allgather_base(out, in)->wait();
        require(at::equal(out, before), "all-gather lost a tensor");
        at::Tensor scattered = at::empty_like(before);
        group->_reduce_scatter_base(scattered, in)->wait();
        require(at::equal(scattered, before), "reduce-scatter changed a tensor");
    }
}

GPU_TEST(nccl, recorderIsOn) {
    groupOfOne(device);
    for (const char* name : {"TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_DUMP_ON_TIMEOUT",
                             "TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_FR_DUMP_TEMP_FILE"})
        require(std::getenv(name), std::string(name) + " is not set");
}
