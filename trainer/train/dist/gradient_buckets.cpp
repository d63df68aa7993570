// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/gradient_buckets.h"

#include "trainer/train/model/gradients.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>

namespace rm {
namespace {

constexpr int64_t kLeastBuckets = 48;

int64_t bytesOf(const std::vector<at::Tensor>& values) {
    int64_t bytes = 0;
    for (const at::Tensor& value : values)
        bytes += static_cast<int64_t>(value.nbytes());
    return bytes;
}

} // namespace

std::vector<std::vector<size_t>> gradientBuckets(const std::vector<at::Tensor>& values,
                                                 int64_t bytes) {
    int64_t left = bytesOf(values);
    const int64_t little = std::min<int64_t>(c10d::kDefaultFirstBucketBytes, bytes);
    const int64_t usual = std::clamp(left / kLeastBuckets, little, bytes);
    std::vector<std::vector<size_t>> buckets;
    int64_t size = 0;
    for (size_t i = values.size(); i-- > 0;) {
        if (size == 0)
            buckets.emplace_back();
        buckets.back().push_back(i);
        const auto own = static_cast<int64_t>(values[i].nbytes());
        const bool leavesTheLast = left > little && left - own <= little;
        size += own;
        left -= own;
        if (leavesTheLast || size >= (buckets.size() == 1 ? little : usual))
            size = 0;
    }
    for (auto& bucket : buckets)
        std::ranges::reverse(bucket);
    return buckets;
}

GradientBuckets::GradientBuckets(const BucketCollectives& collectives,
                                 const std::vector<at::Tensor>& values,
                                 const std::vector<std::vector<size_t>>& layout, bool inParts)
    : m_collectives(collectives) {
    const int64_t early = bytesOf(values) * 2 / 3;
    int64_t before = 0;
    for (const auto& indices : layout) {
        m_buckets.push_back({indices, !inParts && before >= early, {}, {}});
        for (const size_t index : indices)
            before += static_cast<int64_t>(values[index].nbytes());
    }
}

std::vector<at::Tensor> GradientBuckets::sums() const {
    std::vector<at::Tensor> sums;
    for (const GradientBucket& bucket : m_buckets)
        sums.push_back(bucket.comesWhole ? bucket.sum : bucket.mine);
    return sums;
}

at::Tensor GradientBuckets::norm(const World& world) const {
    const at::NoGradGuard noGrad;
    std::vector<at::Tensor> parts;
    for (const GradientBucket& bucket : m_buckets)
        parts.push_back(bucket.mine);
    at::Tensor squares = normOf(parts).square_();
    world.sum(squares);
    return squares.sqrt_();
}

void GradientBuckets::gather(PendingBuckets& pending, const std::function<void(size_t)>& onWhole) {
    const at::NoGradGuard noGrad;
    for (size_t i = m_buckets.size(); i-- > 0;) { // as the forward pass needs them
        if (m_buckets[i].comesWhole)
            continue;
        Transfer transfer = m_collectives.gather(m_buckets[i].sum);
        pending.expect(i, std::move(transfer.work), [unpack = transfer.unpack, onWhole, i] {
            unpack();
            onWhole(i);
        });
    }
    for (size_t i = m_buckets.size(); i-- > 0;)
        if (m_buckets[i].comesWhole)
            onWhole(i);
}

} // namespace rm
