// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/gradient_sync.h"

#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>

namespace rm {
namespace {

using Group = c10::intrusive_ptr<c10d::ProcessGroup>;

/// All-reduce by mean, which tells when the last bucket of a step sets out.
class StampedAllreduce final : public c10d::CppCommHookInterface<Group> {
public:
    StampedAllreduce(const Group& group, const std::function<void()>& onLast)
        : c10d::CppCommHookInterface<Group>(group)
        , m_onLast(onLast) {}

    c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
        std::vector<at::Tensor> tensors{bucket.getBufferRef()};
        tensors[0].div_(state_->getSize());
        if (bucket.isLast())
            m_onLast();
        return state_->allreduce(tensors)->getFuture();
    }

private:
    const std::function<void()>& m_onLast;
};

} // namespace

GradientSync::GradientSync(const World& world, const Model& model, std::function<void()> onComputed)
    : m_onComputed(std::move(onComputed))
    , m_values(parameterValues(model)) {
    if (world.isAlone())
        return;
    constexpr int kFirst = c10d::kDefaultFirstBucketBytes;
    constexpr int kCap = c10d::kDefaultBucketBytesCap;
    m_buckets = std::get<0>(c10d::compute_bucket_assignment_by_size(m_values, {kFirst, kCap}));
    std::reverse(m_buckets.begin(), m_buckets.end());
    m_reducer = std::make_shared<c10d::Reducer>(
        m_values, m_buckets, world.group(), std::vector<bool>(m_values.size(), false), kCap,
        /*find_unused_parameters=*/false, /*gradient_as_bucket_view=*/true,
        std::unordered_map<size_t, std::string>{}, kFirst,
        /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false,
        std::vector<int64_t>{});
    m_reducer->register_comm_hook(std::make_unique<StampedAllreduce>(world.group(), m_onComputed));
}

GradientSync::~GradientSync() = default;

void GradientSync::beginStep() {
    for (at::Tensor& value : m_values)
        value.mutable_grad().reset();
    if (m_reduced && !m_settled)
        settleBuckets();
}

// The Reducer notes every step's arrival order until it was asked to rebuild its buckets. We go
// back to the first layout at once: a resumed run must sum in the same order.
void GradientSync::settleBuckets() {
    m_reducer->rebuild_buckets();
    m_reducer->initialize_buckets(m_buckets);
    m_settled = true;
}

void GradientSync::backward(const at::Tensor& loss, bool last) {
    const bool reduces = last && m_reducer;
    if (reduces) {
        m_reducer->prepare_for_forward();
        m_reducer->prepare_for_backward({loss});
    }
    loss.backward();
    m_reduced = m_reduced || reduces;
    if (last && !m_reducer)
        m_onComputed();
}

} // namespace rm
