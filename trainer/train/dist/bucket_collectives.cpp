// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/bucket_collectives.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sum.h>

#include <algorithm>

namespace rm {

int64_t BucketCollectives::partSize(const at::Tensor& bucket) const {
    return (bucket.numel() + m_world.size() - 1) / m_world.size();
}

at::Tensor BucketCollectives::partOf(const at::Tensor& bucket) const {
    const int64_t size = partSize(bucket);
    const int64_t begin = std::min(size * m_world.rank(), bucket.numel());
    return bucket.narrow(0, begin, std::min(size, bucket.numel() - begin));
}

/// The bucket itself if it can be sent as it is, else a buffer that can; `filled`: with its
/// elements.
at::Tensor BucketCollectives::evenly(const at::Tensor& bucket, bool filled) const {
    const int64_t size = partSize(bucket) * m_world.size();
    const at::ScalarType format = m_format.value_or(bucket.scalar_type());
    if (bucket.numel() == size && bucket.scalar_type() == format)
        return bucket;
    at::Tensor even = at::empty({size}, bucket.options().dtype(format));
    if (filled)
        even.narrow(0, 0, bucket.numel()).copy_(bucket);
    even.narrow(0, bucket.numel(), size - bucket.numel()).zero_();
    return even;
}

/// The work's own thread tells when it is over. A device's work tells when it was queued, so there
/// the recorder finds the end otherwise.
c10::intrusive_ptr<c10d::Work>
BucketCollectives::traced(TraceKind kind, const at::Tensor& wire,
                          const std::function<c10::intrusive_ptr<c10d::Work>()>& start) const {
    const auto ended =
        m_trace ? m_trace->beginCollective(kind, static_cast<int64_t>(wire.nbytes())) : nullptr;
    auto work = start();
    if (ended && wire.is_cpu())
        work->getFuture()->addCallback(
            [ended](c10::ivalue::Future& future) { ended(future.hasError()); },
            /*uses_future=*/true);
    return work;
}

Transfer BucketCollectives::sum(const at::Tensor& bucket) const {
    std::vector<at::Tensor> wire{m_format ? bucket.to(*m_format) : bucket};
    Transfer transfer{traced(TraceKind::kAllReduce, wire.front(),
                             [&] { return m_world.group()->allreduce(wire); }),
                      [] {}};
    if (m_format)
        transfer.unpack = [bucket, wire] { bucket.copy_(wire.front()); };
    return transfer;
}

// Gloo's reduce-scatter is an all-reduce that discards most of the result. With two ranks it sends
// 1.5 times as much as the all-to-all used here.
Transfer BucketCollectives::sumParts(const at::Tensor& bucket) const {
    at::Tensor wire = evenly(bucket, true);
    at::Tensor mine = partOf(bucket);
    if (!bucket.is_cpu()) {
        at::Tensor part = partOf(wire);
        auto work = traced(TraceKind::kReduceScatter, wire,
                           [&] { return m_world.group()->_reduce_scatter_base(part, wire); });
        return {std::move(work), [part, mine] {
                    if (!part.is_alias_of(mine))
                        at::Tensor(mine).copy_(part.narrow(0, 0, mine.numel()));
                }};
    }
    at::Tensor parts = at::empty_like(wire); // every rank's values of my part
    std::vector<int64_t> evenSizes;
    auto work = traced(TraceKind::kReduceScatter, wire, [&] {
        return m_world.group()->alltoall_base(parts, wire, evenSizes, evenSizes);
    });
    return {std::move(work),
            [parts, wire, mine, ranks = m_world.size(), format = m_format]() mutable {
                const at::Tensor rows = parts.view({ranks, -1}).narrow(1, 0, mine.numel());
                at::sum_out(mine, rows, 0, /*keepdim=*/false, mine.scalar_type());
                if (format) // overflow of this format must show before the gather
                    mine.copy_(mine.to(*format));
            }};
}

Transfer BucketCollectives::gather(const at::Tensor& bucket) const {
    at::Tensor wire = evenly(bucket, false);
    at::Tensor part = wire.narrow(0, partSize(bucket) * m_world.rank(), partSize(bucket));
    const auto start = [&] { return m_world.group()->_allgather_base(wire, part); };
    if (wire.is_same(bucket))
        return {traced(TraceKind::kAllGather, wire, start), [] {}};
    const at::Tensor mine = partOf(bucket);
    part.narrow(0, 0, mine.numel()).copy_(mine);
    return {traced(TraceKind::kAllGather, wire, start),
            [bucket, wire] { bucket.copy_(wire.narrow(0, 0, bucket.numel())); }};
}

} // namespace rm
