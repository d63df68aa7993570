// SPDX-License-Identifier: Apache-2.0
// The plugin's own kernels against ATen on the GPU.
#include "tests/gpu/tests/harness.h"
#include "trainer/train/self_test/fused_checks.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>

#include <utility>

using namespace rm;
using gpu::require;

namespace {

constexpr int64_t kLongestRow = 8192; ///< that the layer norm covers
constexpr at::ScalarType kTypes[] = {at::kFloat, at::kBFloat16, at::kHalf};

const FusedOps& opsOf(const Device& device) {
    const FusedOps* ops = device.plugin->fusedOps();
    require(ops, "the plugin has no kernels for this GPU");
    return *ops;
}

void verify(const FusedCase& at, const std::vector<Deviation>& found) {
    for (const Deviation& one : found)
        require(one.isFine(), nameOf(at) + ", " + one.what + ": off by " + gpu::text(one.error) +
                                  ", allowed " + gpu::text(one.limit));
}

std::vector<FusedCase> casesFor(const Device& device, at::ScalarType type,
                                std::initializer_list<std::pair<int64_t, int64_t>> large) {
    auto cases = awkwardCases(device.at, type, kLongestRow);
    for (const auto& [rows, columns] : large)
        cases.push_back({device.at, type, rows, columns});
    return cases;
}

} // namespace

GPU_TEST(kernels, layerNormOfASumEqualsAten) {
    for (const at::ScalarType type : kTypes)
        for (const FusedCase& at : casesFor(device, type, {{4096, 768}, {1500, 1024}, {999, 513}}))
            for (const NormedFor use : {NormedFor::kProducts, NormedFor::kResidual})
                verify(at, checkAddLayerNorm(opsOf(device), at, use, false));
}

GPU_TEST(kernels, unusedSumHasNoGradient) {
    const FusedCase at{device.at, at::kBFloat16, 70, 512};
    verify(at, checkAddLayerNorm(opsOf(device), at, NormedFor::kResidual, true));
}

GPU_TEST(kernels, geluWithBiasEqualsAten) {
    for (const at::ScalarType type : kTypes)
        for (const FusedCase& at : casesFor(device, type, {{4096, 3072}, {70000, 33}}))
            verify(at, checkBiasGelu(opsOf(device), at));
}

GPU_TEST(kernels, chunkedLossEqualsAten) {
    // The last two have several chunks: 256 MiB of logits each.
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
        for (const auto& [rows, classes] :
             {std::pair<int64_t, int64_t>{1, 2}, {3, 64}, {130, 65}, {300, 257}, {3000, 50257}})
            for (const double smoothing : {0.0, 0.1})
                for (const bool withBias : {false, true}) {
                    const FusedCase at{device.at, type, rows, 48};
                    verify(at,
                           checkClassifierLoss(opsOf(device), at, classes, smoothing, withBias));
                }
}

GPU_TEST(kernels, sameInputGivesTheSameBits) {
    const auto options = at::TensorOptions(at::kFloat).device(device.at);
    const at::Tensor residual = at::randn({2048, 768}, options).requires_grad_(true);
    const at::Tensor delta = at::randn({2048, 768}, options).to(at::kBFloat16);
    const at::Tensor weight = at::randn({768}, options).requires_grad_(true);
    const at::Tensor bias = at::randn({768}, options);
    at::Tensor before;
    for (int i = 0; i < 3; ++i) {
        weight.mutable_grad().reset();
        const NormedSum both =
            opsOf(device).addLayerNorm(residual, delta, weight, bias, 1e-5, NormedFor::kResidual);
        both.normed.square().sum().backward();
        require(!before.defined() || at::equal(before, weight.grad()),
                "the gradient of the weight changed from run to run");
        before = weight.grad().clone();
    }
}
