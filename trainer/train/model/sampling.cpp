// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/model/sampling.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/multinomial.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/topk.h>

#include <algorithm>
#include <limits>

namespace rm {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

at::Tensor likeliest(const at::Tensor& scores, int64_t count) {
    const int64_t kept = std::min(count, scores.size(-1));
    const at::Tensor least = std::get<0>(at::topk(scores, kept)).narrow(-1, kept - 1, 1);
    return scores.masked_fill(scores.lt(least), kNever);
}

at::Tensor nucleus(const at::Tensor& scores, double share) {
    const auto [sorted, order] = at::sort(scores, -1); // the likeliest last
    at::Tensor removed = at::cumsum(at::softmax(sorted, -1), -1).le(1.0 - share);
    removed.narrow(-1, removed.size(-1) - 1, 1).fill_(false);
    return scores.masked_fill(removed.scatter(-1, order, removed), kNever);
}

} // namespace

at::Tensor tokenProbabilities(const at::Tensor& scores, const Sampling& sampling) {
    at::Tensor left = scores.to(at::kCPU, at::kFloat);
    if (sampling.temperature == 0)
        return at::one_hot(left.argmax(-1), left.size(-1)).to(at::kFloat);
    left = left.div(sampling.temperature);
    if (sampling.topK > 0)
        left = likeliest(left, sampling.topK);
    if (sampling.topP < 1)
        left = nucleus(left, sampling.topP);
    return at::softmax(left, -1);
}

int32_t drawToken(const at::Tensor& scores, const Sampling& sampling,
                  const at::Generator& generator) {
    const at::Tensor chances = tokenProbabilities(scores, sampling);
    return static_cast<int32_t>(at::multinomial(chances, 1, false, generator).item<int64_t>());
}

} // namespace rm
