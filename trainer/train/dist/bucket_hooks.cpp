// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/bucket_hooks.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

namespace rm {
namespace {

using Future = c10::ivalue::Future;

c10::intrusive_ptr<Future> doneWith(const at::Tensor& bucket) {
    auto future = c10::make_intrusive<Future>(
        c10::TensorType::get(),
        bucket.is_cpu() ? std::vector<c10::Device>() : std::vector<c10::Device>{bucket.device()});
    future->markCompleted(bucket);
    return future;
}

class AllreduceHook final : public BucketHook {
public:
    explicit AllreduceHook(BucketTravel travel)
        : BucketHook(travel.group)
        , m_travel(std::move(travel)) {}

    c10::intrusive_ptr<Future> runHook(c10d::GradBucket& bucket) override {
        if (bucket.isLast())
            m_travel.onLast();
        const at::Tensor whole = bucket.getBufferRef();
        if (!m_travel.compressedTo) {
            std::vector<at::Tensor> tensors{whole};
            return m_travel.group->allreduce(tensors)->getFuture();
        }
        std::vector<at::Tensor> packed{whole.to(*m_travel.compressedTo)};
        const auto unpack = [whole, packed](Future&) -> c10::IValue {
            whole.copy_(packed.front());
            return whole;
        };
        return m_travel.group->allreduce(packed)->getFuture()->then(unpack, c10::TensorType::get());
    }

private:
    BucketTravel m_travel;
};

/// The bucket with zeros behind it, in the format in which it travels.
at::Tensor padded(const at::Tensor& bucket, int64_t size, at::ScalarType format) {
    if (bucket.numel() == size && bucket.scalar_type() == format)
        return bucket;
    at::Tensor whole = at::zeros({size}, bucket.options().dtype(format));
    whole.narrow(0, 0, bucket.numel()).copy_(bucket);
    return whole;
}

} // namespace

std::unique_ptr<BucketHook> makeAllreduceHook(BucketTravel travel) {
    return std::make_unique<AllreduceHook>(std::move(travel));
}

ScatterHook::ScatterHook(BucketTravel travel, const std::vector<at::Tensor>& parameters,
                         ParameterShards& shards)
    : BucketHook(travel.group)
    , m_travel(std::move(travel))
    , m_shards(shards) {
    for (size_t i = 0; i < shards.buckets().size(); ++i)
        m_bucketOf[parameters[shards.buckets()[i].parameters.front()].unsafeGetTensorImpl()] = i;
}

c10::intrusive_ptr<Future> ScatterHook::runHook(c10d::GradBucket& bucket) {
    if (bucket.isLast())
        m_travel.onLast();
    // The bucket's own index is wrong in the first pass over a static graph.
    const size_t index = m_bucketOf.at(bucket.getParameters().front().unsafeGetTensorImpl());
    auto& mine = m_shards.buckets()[index];
    const at::Tensor buffer = bucket.getBufferRef();
    const at::ScalarType format = m_travel.compressedTo.value_or(buffer.scalar_type());
    Pending pending;
    pending.bucket = index;
    pending.whole = padded(buffer, mine.values.numel(), format);
    pending.shard = m_travel.compressedTo
                        ? at::empty_like(mine.gradient, mine.gradient.options().dtype(format))
                        : mine.gradient;
    pending.work = m_travel.group->_reduce_scatter_base(pending.shard, pending.whole);
    m_pending.push_back(std::move(pending));
    return doneWith(buffer);
}

void ScatterHook::finish() {
    for (const Pending& pending : m_pending) {
        pending.work->wait();
        if (m_travel.compressedTo)
            m_shards.buckets()[pending.bucket].gradient.copy_(pending.shard);
    }
    m_pending.clear();
}

} // namespace rm
