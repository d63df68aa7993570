// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/model/cpu/bias_gelu.h"

#include "trainer/train/device/skipped_work.h"
#include "trainer/train/model/cpu/gelu_rows.h"

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace rm {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Rows per block: float32 sums of this many rows keep their precision; the blocks' sums are then
/// added.
constexpr int64_t kSummedRows = 64;
constexpr int64_t kLeastPerThread = 32768; ///< numbers: fewer are not worth another thread

GeluRows rowsOf(const at::Tensor& x, const at::Tensor& bias, int64_t begin, int64_t end) {
    const int64_t columns = bias.numel();
    return {end - begin, columns, x.const_data_ptr<float>() + begin * columns,
            bias.const_data_ptr<float>()};
}

struct BiasGelu : torch::autograd::Function<BiasGelu> {
    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& bias) {
        ctx->save_for_backward({x, bias});
        const at::Tensor y = at::empty_like(x);
        if (isWorkSkipped())
            return y;
        const int64_t columns = bias.numel();
        float* out = y.mutable_data_ptr<float>();
        at::parallel_for(0, x.size(0), std::max<int64_t>(1, kLeastPerThread / columns),
                         [&](int64_t begin, int64_t end) {
                             geluForward(rowsOf(x, bias, begin, end), out + begin * columns);
                         });
        return y;
    }

    // The blocks, and hence the sums, are the same for any number of threads.
    static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
        const variable_list saved = ctx->get_saved_variables();
        const at::Tensor &x = saved[0], &bias = saved[1];
        const at::Tensor dy = gradients[0].contiguous(), dx = at::empty_like(x);
        const int64_t rows = x.size(0), columns = bias.numel();
        const int64_t blocks = (rows + kSummedRows - 1) / kSummedRows;
        const at::Tensor sums = at::zeros({blocks, columns}, x.options());
        if (isWorkSkipped())
            return {dx, at::sum(sums, 0)};
        const float* in = dy.const_data_ptr<float>();
        float* out = dx.mutable_data_ptr<float>();
        float* biasGradients = sums.mutable_data_ptr<float>();
        const int64_t grain = std::max<int64_t>(1, kLeastPerThread / (kSummedRows * columns));
        at::parallel_for(0, blocks, grain, [&](int64_t firstBlock, int64_t endBlock) {
            for (int64_t block = firstBlock; block < endBlock; ++block) {
                const int64_t begin = block * kSummedRows;
                geluBackward(rowsOf(x, bias, begin, std::min(rows, begin + kSummedRows)),
                             in + begin * columns, out + begin * columns,
                             biasGradients + block * columns);
            }
        });
        return {dx, at::sum(sums, 0)};
    }
};

} // namespace

bool coversBiasGelu(const at::Tensor& x) {
    static const bool hasAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return hasAvx2 && x.is_cpu() && x.scalar_type() == at::kFloat && x.numel() > 0 &&
           !at::autocast::is_autocast_enabled(at::kCPU);
}

at::Tensor biasGelu(const at::Tensor& x, const at::Tensor& bias) {
    TORCH_CHECK(coversBiasGelu(x) && x.dim() == 2 && bias.scalar_type() == at::kFloat &&
                    bias.numel() == x.size(1),
                "biasGelu: x is ", x.sizes(), " and bias ", bias.sizes());
    return BiasGelu::apply(x.contiguous(), bias.contiguous());
}

} // namespace rm
