// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/bucket_hook.h"

#include <ATen/core/grad_mode.h>

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

} // namespace

BucketHook::BucketHook(const World& world, GradientBuckets& buckets,
                       const std::vector<at::Tensor>& parameters, std::function<void()> onLast)
    : CppCommHookInterface(world.group())
    , m_buckets(buckets)
    , m_onLast(std::move(onLast)) {
    for (size_t i = 0; i < buckets.all().size(); ++i)
        m_bucketOf[parameters[buckets.all()[i].parameters.front()].unsafeGetTensorImpl()] = i;
}

c10::intrusive_ptr<Future> BucketHook::runHook(c10d::GradBucket& given) {
    const at::NoGradGuard noGrad;
    unpackArrived();
    // The bucket's own index is wrong in the first pass over a static graph.
    GradientBucket& bucket =
        m_buckets.all()[m_bucketOf.at(given.getParameters().front().unsafeGetTensorImpl())];
    bucket.sum = given.getBufferRef();
    const BucketCollectives& collectives = m_buckets.collectives();
    bucket.mine = collectives.partOf(bucket.sum);
    m_transfers.push_back(bucket.comesWhole ? collectives.sum(bucket.sum)
                                            : collectives.sumParts(bucket.sum));
    if (given.isLast())
        m_onLast();
    return doneWith(bucket.sum);
}

void BucketHook::unpackArrived() {
    std::erase_if(m_transfers, [](const Transfer& transfer) {
        if (!transfer.work->isCompleted())
            return false;
        transfer.work->wait();
        transfer.unpack();
        return true;
    });
}

void BucketHook::finish() {
    const at::NoGradGuard noGrad;
    for (const Transfer& transfer : m_transfers) {
        transfer.work->wait();
        transfer.unpack();
    }
    m_transfers.clear();
}

} // namespace rm
