// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/counted_backend.h"

#include "trainer/train/dist/torch_versions.h"

#include <utility>

namespace rm {
namespace {

using Tensors = std::vector<at::Tensor>;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using Kind = CollectiveKind;

uint64_t sentBytes(const at::Tensor& tensor) {
    return tensor.nbytes();
}

uint64_t sentBytes(const Tensors& tensors) {
    uint64_t bytes = 0;
    for (const at::Tensor& tensor : tensors)
        bytes += tensor.nbytes();
    return bytes;
}

uint64_t sentBytes(const std::vector<Tensors>& lists) {
    uint64_t bytes = 0;
    for (const Tensors& tensors : lists)
        bytes += sentBytes(tensors);
    return bytes;
}

class CountedBackend final : public BackendBefore {
public:
    CountedBackend(c10::intrusive_ptr<c10d::Backend> backend, Board& board, CollectiveGroup group,
                   bool countsEnds)
        : BackendBefore(std::move(backend))
        , m_board(board)
        , m_group(group)
        , m_countsEnds(countsEnds) {}

    const std::string getBackendName() const override { return m_backend->getBackendName(); }
    bool supportsCoalescing() const override { return m_backend->supportsCoalescing(); }
    void startCoalescing() override { m_backend->startCoalescing(); }
    WorkPtr endCoalescing() override { return m_backend->endCoalescing(); }
    void setSequenceNumberForGroup() override { m_backend->setSequenceNumberForGroup(); }
    uint64_t getSequenceNumberForGroup() override { return m_backend->getSequenceNumberForGroup(); }
    void abort() override { m_backend->abort(); }
    void shutdown() override { m_backend->shutdown(); }

    WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override {
        begin(Kind::kBroadcast, sentBytes(tensors));
        return counted(m_backend->broadcast(tensors, options));
    }
    WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override {
        begin(Kind::kAllReduce, sentBytes(tensors));
        return counted(m_backend->allreduce(tensors, options));
    }
    WorkPtr allreduce_coalesced(Tensors& tensors,
                                const c10d::AllreduceCoalescedOptions& options) override {
        begin(Kind::kAllReduce, sentBytes(tensors));
        return counted(m_backend->allreduce_coalesced(tensors, options));
    }
    WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options) override {
        begin(Kind::kOther, sentBytes(tensors));
        return counted(m_backend->reduce(tensors, options));
    }
    WorkPtr allgather(std::vector<Tensors>& all, Tensors& mine,
                      const c10d::AllgatherOptions& options) override {
        begin(Kind::kAllGather, sentBytes(mine));
        return counted(m_backend->allgather(all, mine, options));
    }
    WorkPtr _allgather_base(at::Tensor& all, at::Tensor& mine,
                            const c10d::AllgatherOptions& options) override {
        begin(Kind::kAllGather, sentBytes(mine));
        return counted(m_backend->_allgather_base(all, mine, options));
    }
    WorkPtr allgather_into_tensor_coalesced(Tensors& all, Tensors& mine,
                                            const c10d::AllgatherOptions& options) override {
        begin(Kind::kAllGather, sentBytes(mine));
        return counted(m_backend->allgather_into_tensor_coalesced(all, mine, options));
    }
    WorkPtr gather(std::vector<Tensors>& all, Tensors& mine,
                   const c10d::GatherOptions& options) override {
        begin(Kind::kGather, sentBytes(mine));
        return counted(m_backend->gather(all, mine, options));
    }
    WorkPtr scatter(Tensors& mine, std::vector<Tensors>& all,
                    const c10d::ScatterOptions& options) override {
        begin(Kind::kOther, sentBytes(all));
        return counted(m_backend->scatter(mine, all, options));
    }
    WorkPtr reduce_scatter(Tensors& mine, std::vector<Tensors>& all,
                           const c10d::ReduceScatterOptions& options) override {
        begin(Kind::kReduceScatter, sentBytes(all));
        return counted(m_backend->reduce_scatter(mine, all, options));
    }
    WorkPtr _reduce_scatter_base(at::Tensor& mine, at::Tensor& all,
                                 const c10d::ReduceScatterOptions& options) override {
        begin(Kind::kReduceScatter, sentBytes(all));
        return counted(m_backend->_reduce_scatter_base(mine, all, options));
    }
    WorkPtr alltoall_base(at::Tensor& to, at::Tensor& from, std::vector<int64_t>& toSizes,
                          std::vector<int64_t>& fromSizes,
                          const c10d::AllToAllOptions& options) override {
        begin(Kind::kAllToAll, sentBytes(from));
        return counted(m_backend->alltoall_base(to, from, toSizes, fromSizes, options));
    }
    WorkPtr alltoall(Tensors& to, Tensors& from, const c10d::AllToAllOptions& options) override {
        begin(Kind::kAllToAll, sentBytes(from));
        return counted(m_backend->alltoall(to, from, options));
    }
    WorkPtr barrier(const c10d::BarrierOptions& options) override {
        begin(Kind::kBarrier, 0);
        return counted(m_backend->barrier(options));
    }

private:
    void begin(Kind kind, uint64_t bytes) { m_board.beginCollective(m_group, kind, bytes); }

    /// The callback runs where the work ends: on a thread of the backend, or here.
    WorkPtr counted(WorkPtr work) {
        if (m_countsEnds)
            work->getFuture()->addCallback(
                [&board = m_board, group = m_group](c10::ivalue::Future&) {
                    board.endCollective(group);
                },
                /*uses_future=*/false);
        return work;
    }

    Board& m_board;
    const CollectiveGroup m_group;
    const bool m_countsEnds;
};

} // namespace

c10::intrusive_ptr<c10d::Backend> makeCounted(c10::intrusive_ptr<c10d::Backend> backend,
                                              Board& board, CollectiveGroup group,
                                              bool countsEnds) {
    board.countEnds(group, countsEnds);
    return c10::make_intrusive<CountedBackend>(std::move(backend), board, group, countsEnds);
}

} // namespace rm
