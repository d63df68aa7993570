// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/llama/cpu/llama_kernels.h"

#include "trainer/train/device/skipped_work.h"
#include "trainer/train/model/cpu/bias_gelu.h"
#include "trainer/train/workloads/llama/cpu/llama_rows.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

namespace rm {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using MaybeTensor = std::optional<at::Tensor>; // autograd takes no undefined ones

/// Rows per block: float32 sums of this many rows keep their precision; the blocks' sums are then
/// added.
constexpr int64_t kSummedRows = 64;
constexpr int64_t kLeastPerThread = 32768; ///< numbers: fewer are not worth another thread

/// Calls work(begin, end) for parts of `rows`, each of `columns` numbers, on several threads.
template <class Work>
void forRows(int64_t rows, int64_t columns, const Work& work) {
    if (!isWorkSkipped())
        at::parallel_for(0, rows, std::max<int64_t>(1, kLeastPerThread / columns), work);
}

const float* rowAt(const at::Tensor& x, int64_t row) {
    return x.defined() ? x.const_data_ptr<float>() + row * x.size(-1) : nullptr;
}

float* rowAt(at::Tensor& x, int64_t row) {
    return x.defined() ? x.mutable_data_ptr<float>() + row * x.size(-1) : nullptr;
}

at::Tensor contiguousOr(const at::Tensor& x) {
    return x.defined() ? x.contiguous() : x;
}

struct AddRmsNorm : torch::autograd::Function<AddRmsNorm> {
    /// The normed sum, and the sum where there is a delta.
    static variable_list forward(AutogradContext* ctx, const at::Tensor& x,
                                 const MaybeTensor& delta, const at::Tensor& weight, double eps) {
        const int64_t columns = weight.numel();
        const at::Tensor added = delta ? *delta : at::Tensor();
        at::Tensor sum = delta ? at::empty_like(x) : at::Tensor();
        at::Tensor normed = at::empty_like(x);
        at::Tensor scales = at::empty({x.numel() / columns, 1}, x.options());
        forRows(scales.size(0), columns, [&](int64_t begin, int64_t end) {
            normForward({end - begin, columns, rowAt(x, begin), rowAt(weight, 0)},
                        rowAt(added, begin), static_cast<float>(eps), rowAt(sum, begin),
                        rowAt(normed, begin), rowAt(scales, begin));
        });
        ctx->save_for_backward({delta ? sum : x, weight, scales});
        ctx->set_materialize_grads(false);
        return delta ? variable_list{normed, sum} : variable_list{normed};
    }

    // The blocks, and hence the sums, are the same for any number of threads.
    static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
        const variable_list saved = ctx->get_saved_variables();
        const at::Tensor &x = saved[0], &weight = saved[1], &scales = saved[2];
        const at::Tensor ofSum = gradients.size() > 1 ? contiguousOr(gradients[1]) : at::Tensor();
        if (!gradients[0].defined())
            return {ofSum, ofSum, {}, {}};
        const at::Tensor dy = gradients[0].contiguous();
        const int64_t rows = scales.size(0), columns = weight.numel();
        const int64_t blocks = (rows + kSummedRows - 1) / kSummedRows;
        at::Tensor dx = at::empty_like(x);
        at::Tensor sums = at::zeros({blocks, columns}, x.options());
        forRows(blocks, kSummedRows * columns, [&](int64_t firstBlock, int64_t endBlock) {
            for (int64_t block = firstBlock; block < endBlock; ++block) {
                const int64_t begin = block * kSummedRows;
                const int64_t count = std::min(rows - begin, kSummedRows);
                normBackward({count, columns, rowAt(x, begin), rowAt(weight, 0)},
                             rowAt(scales, begin), rowAt(dy, begin), rowAt(ofSum, begin),
                             rowAt(dx, begin), rowAt(sums, block));
            }
        });
        return {dx, gradients.size() > 1 ? dx : at::Tensor(), at::sum(sums, 0), {}};
    }
};

struct SwiGlu : torch::autograd::Function<SwiGlu> {
    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& gate, const at::Tensor& up) {
        ctx->save_for_backward({gate, up});
        at::Tensor y = at::empty_like(gate);
        const int64_t columns = gate.size(1);
        forRows(gate.size(0), columns, [&](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; ++row)
                swiGluForward(columns, rowAt(gate, row), rowAt(up, row), rowAt(y, row));
        });
        return y;
    }

    static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
        const variable_list saved = ctx->get_saved_variables();
        const at::Tensor &gate = saved[0], &up = saved[1];
        const at::Tensor dy = gradients[0].contiguous();
        at::Tensor ofGate = at::empty_like(gate), ofUp = at::empty_like(up);
        const int64_t columns = gate.size(1);
        forRows(gate.size(0), columns, [&](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; ++row)
                swiGluBackward(columns, rowAt(gate, row), rowAt(up, row), rowAt(dy, row),
                               rowAt(ofGate, row), rowAt(ofUp, row));
        });
        return {ofGate, ofUp};
    }
};

/// Rotates the heads of `from` (N, H D), whose row n is at position n % T, into `to`, which may be
/// `from`.
void turn(const at::Tensor& from, at::Tensor& to, const at::Tensor& cosine, const at::Tensor& sine,
          bool backwards) {
    const int64_t tokens = cosine.size(0), half = cosine.size(1);
    const int64_t heads = from.size(1) / (2 * half);
    forRows(from.size(0), from.size(1), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            const int64_t token = row % tokens;
            turnHeads({heads, half, rowAt(cosine, token), rowAt(sine, token), backwards},
                      rowAt(from, row), rowAt(to, row));
        }
    });
}

struct Rotate : torch::autograd::Function<Rotate> {
    static at::Tensor forward(AutogradContext* ctx, at::Tensor x, const at::Tensor& cosine,
                              const at::Tensor& sine) {
        ctx->mark_dirty({x});
        ctx->save_for_backward({cosine, sine});
        turn(x, x, cosine, sine, false);
        return x;
    }

    static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
        const variable_list saved = ctx->get_saved_variables();
        const at::Tensor dy = gradients[0].contiguous();
        at::Tensor dx = at::empty_like(dy);
        turn(dy, dx, saved[0], saved[1], true);
        return {dx, {}, {}};
    }
};

} // namespace

bool coverLlamaKernels(const at::Tensor& x) {
    return coversBiasGelu(x) && x.is_contiguous();
}

NormedSum addRmsNormKernel(const at::Tensor& residual, const at::Tensor& delta,
                           const at::Tensor& weight, double eps) {
    const MaybeTensor added = delta.defined() ? MaybeTensor(delta) : std::nullopt;
    const variable_list out = AddRmsNorm::apply(residual, added, weight, eps);
    return {out.size() > 1 ? out[1] : residual, out[0]};
}

at::Tensor swiGluKernel(const at::Tensor& gate, const at::Tensor& up) {
    return SwiGlu::apply(gate, up);
}

at::Tensor rotateKernel(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine) {
    return Rotate::apply(x, cosine, sine);
}

} // namespace rm
