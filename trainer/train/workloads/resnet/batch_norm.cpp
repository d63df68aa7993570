// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/resnet/batch_norm.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/batch_norm_backward_elemt.h>
#include <ATen/ops/batch_norm_backward_reduce.h>
#include <ATen/ops/batch_norm_update_stats.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/stack.h>
#include <torch/csrc/autograd/custom_function.h>

namespace rm {
namespace {

constexpr double kEps = 1e-5;
constexpr double kMomentum = 0.1;

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Group = c10::intrusive_ptr<c10d::ProcessGroup>;

/// (C) -> (1, C, 1, 1)
at::Tensor byChannel(const at::Tensor& values) {
    return values.view({1, -1, 1, 1});
}

/// The statistics of the batches of R ranks together.
struct Statistics {
    at::Tensor mean, variance; ///< (C); the variance of all values, not an estimate from a sample
    at::Tensor counts;         ///< (R): values of a channel, by rank
};

Statistics statisticsOver(const Group& group, const at::Tensor& x) {
    const bool narrow = x.is_cpu() && at::isReducedFloatingType(x.scalar_type());
    const at::Tensor wide = narrow ? x.to(at::kFloat) : x; // other kernels sum in float32 anyway
    const auto [mean, variance] = at::batch_norm_update_stats(wide, {}, {}, kMomentum);
    const at::Tensor count =
        at::full({1}, static_cast<double>(x.numel() / x.size(1)), mean.options());
    std::vector<at::Tensor> mine{at::cat({mean, variance, count})};
    std::vector<std::vector<at::Tensor>> gathered(1);
    for (int rank = 0; rank < group->getSize(); ++rank)
        gathered[0].push_back(at::empty_like(mine[0]));
    group->allgather(gathered, mine)->wait();
    const at::Tensor all = at::stack(gathered[0]); // (R, 2C + 1)
    const int64_t channels = mean.size(0);
    const at::Tensor counts = all.narrow(1, 2 * channels, 1);
    const at::Tensor shares = counts / counts.sum();
    const at::Tensor means = all.narrow(1, 0, channels);
    const at::Tensor together = (means * shares).sum(0);
    // The variance within the ranks plus the variance of their means.
    const at::Tensor spread = all.narrow(1, channels, channels) + (means - together).square();
    return {together, (spread * shares).sum(0), counts.flatten()};
}

void follow(const NormTensors& norm, const Statistics& all) {
    if (!norm.mean.defined())
        return;
    const at::Tensor count = all.counts.sum();
    const at::Tensor unbiased = all.variance * (count / (count - 1));
    at::Tensor(norm.mean).lerp_(all.mean, kMomentum);
    at::Tensor(norm.variance).lerp_(unbiased, kMomentum);
}

struct Sums {
    at::Tensor dy, dyXmu;            ///< sums of dy and of dy * (x - mean)
    at::Tensor gradWeight, gradBias; ///< this rank's
};

Sums sumsOf(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight,
            const at::Tensor& mean, const at::Tensor& invstd) {
    if (!x.is_cpu()) {
        const auto [sumDy, sumDyXmu, gradWeight, gradBias] =
            at::batch_norm_backward_reduce(dy, x, mean, invstd, weight, true, true, true);
        return {sumDy, sumDyXmu, gradWeight, gradBias};
    }
    const auto gradients = at::native_batch_norm_backward(dy, x, weight, {}, {}, mean, invstd, true,
                                                          kEps, {false, true, true});
    const at::Tensor& gradWeight = std::get<1>(gradients);
    const at::Tensor& gradBias = std::get<2>(gradients);
    return {gradBias, gradWeight / invstd, gradWeight, gradBias};
}

/// weight * invstd * (dy - mean(dy) - (x - mean) * invstd^2 * mean(dy * (x - mean)))
at::Tensor gradientOf(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight,
                      const at::Tensor& mean, const at::Tensor& invstd, const Sums& sums,
                      const at::Tensor& counts) {
    if (!x.is_cpu())
        return at::batch_norm_backward_elemt(dy, x, mean, invstd, weight, sums.dy, sums.dyXmu,
                                             counts.to(at::kInt));
    const at::Tensor scale = weight * invstd;
    const at::Tensor count = counts.sum();
    const at::Tensor slope = -scale * invstd * invstd * sums.dyXmu / count;
    const at::Tensor offset = -scale * sums.dy / count;
    at::Tensor gradient = at::addcmul(byChannel(offset), x - byChannel(mean), byChannel(slope));
    gradient.addcmul_(dy, byChannel(scale));
    return gradient.to(x.scalar_type());
}

/// The mathematics of torch.nn.SyncBatchNorm.
struct BatchNormOver : torch::autograd::Function<BatchNormOver> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                              const at::Tensor& weight, const at::Tensor& bias,
                              const NormTensors& norm, const Group& group) {
        const Statistics all = statisticsOver(group, x);
        follow(norm, all);
        context->save_for_backward(
            {x, weight, all.mean, (all.variance + kEps).rsqrt(), all.counts});
        context->saved_data["group"] = at::IValue::make_capsule(group);
        return std::get<0>(
            at::native_batch_norm(x, weight, bias, all.mean, all.variance, false, kMomentum, kEps));
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const variable_list saved = context->get_saved_variables();
        const at::Tensor& x = saved[0];
        const at::Tensor& weight = saved[1];
        const at::Tensor& mean = saved[2];
        const at::Tensor& invstd = saved[3];
        const at::Tensor dy = gradients[0].contiguous(x.suggest_memory_format());
        Sums sums = sumsOf(dy, x, weight, mean, invstd);
        std::vector<at::Tensor> both{at::cat({sums.dy, sums.dyXmu})};
        static_cast<c10d::ProcessGroup&>(*context->saved_data["group"].toCapsule())
            .allreduce(both)
            ->wait();
        sums.dy = both[0].narrow(0, 0, mean.size(0));
        sums.dyXmu = both[0].narrow(0, mean.size(0), mean.size(0));
        return {gradientOf(dy, x, weight, mean, invstd, sums, saved[4]),
                sums.gradWeight,
                sums.gradBias,
                {},
                {}};
    }
};

} // namespace

at::Tensor batchNorm(const at::Tensor& x, const NormTensors& norm, bool training,
                     const World* over) {
    if (training && norm.batches.defined())
        at::Tensor(norm.batches).add_(1);
    if (training && over && !over->isAlone())
        return BatchNormOver::apply(x, norm.weight, norm.bias, norm, over->group());
    return at::batch_norm(x, norm.weight, norm.bias, norm.mean, norm.variance, training, kMomentum,
                          kEps, /*cudnn_enabled=*/true);
}

} // namespace rm
