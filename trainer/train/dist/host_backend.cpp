// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/host_backend.h"

#include "trainer/train/dist/torch_versions.h"

#include <utility>

namespace rm {
namespace {

using HostTensors = std::vector<at::Tensor>;
using HostWorkPtr = c10::intrusive_ptr<c10d::Work>;

class FinishedWork final : public c10d::Work {
public:
    explicit FinishedWork(HostTensors result)
        : m_result(std::move(result)) {}

    bool isCompleted() override { return true; }
    bool isSuccess() const override { return true; }
    bool wait(std::chrono::milliseconds) override { return true; }

    c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
        const at::Device device = m_result.front().device();
        auto future = c10::make_intrusive<c10::ivalue::Future>(
            c10::ListType::create(c10::TensorType::get()),
            device.is_cpu() ? std::vector<c10::Device>() : std::vector<c10::Device>{device});
        future->markCompleted(c10::IValue(m_result));
        return future;
    }

private:
    HostTensors m_result;
};

/// Always a copy, so that what a collective writes to its inputs stays on the host.
at::Tensor onHost(const at::Tensor& tensor) {
    return tensor.to(at::kCPU, tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/true)
        .contiguous();
}

HostTensors onHost(const HostTensors& tensors) {
    HostTensors copies;
    for (const at::Tensor& tensor : tensors)
        copies.push_back(onHost(tensor));
    return copies;
}

HostWorkPtr finish(const HostTensors& from, HostTensors to) {
    for (size_t i = 0; i < to.size(); ++i)
        to[i].copy_(from[i]);
    return c10::make_intrusive<FinishedWork>(std::move(to));
}

/// Gathers every rank's tensors into `all`, as far as `collective` fills it on this rank.
template <class Collective>
void collect(std::vector<HostTensors>& all, const HostTensors& mine, Collective collective) {
    std::vector<HostTensors> copies;
    for (const HostTensors& each : all)
        copies.push_back(onHost(each));
    HostTensors sent = onHost(mine);
    collective(copies, sent)->wait();
    for (size_t i = 0; i < all.size(); ++i)
        finish(copies[i], all[i]);
}

class HostBackend final : public BackendBefore {
public:
    explicit HostBackend(c10::intrusive_ptr<c10d::Backend> host)
        : BackendBefore(std::move(host)) {}

    const std::string getBackendName() const override { return m_backend->getBackendName(); }

    HostWorkPtr broadcast(HostTensors& tensors, const c10d::BroadcastOptions& options) override {
        HostTensors copies = onHost(tensors);
        m_backend->broadcast(copies, options)->wait();
        return finish(copies, tensors);
    }
    HostWorkPtr allreduce(HostTensors& tensors, const c10d::AllreduceOptions& options) override {
        HostTensors copies = onHost(tensors);
        m_backend->allreduce(copies, options)->wait();
        return finish(copies, tensors);
    }
    HostWorkPtr allgather(std::vector<HostTensors>& all, HostTensors& mine,
                          const c10d::AllgatherOptions& options) override {
        collect(all, mine, [&](std::vector<HostTensors>& copies, HostTensors& sent) {
            return m_backend->allgather(copies, sent, options);
        });
        return c10::make_intrusive<FinishedWork>(all.front());
    }
    HostWorkPtr gather(std::vector<HostTensors>& all, HostTensors& mine,
                       const c10d::GatherOptions& options) override {
        collect(all, mine, [&](std::vector<HostTensors>& copies, HostTensors& sent) {
            return m_backend->gather(copies, sent, options);
        });
        return c10::make_intrusive<FinishedWork>(mine);
    }
    HostWorkPtr _allgather_base(at::Tensor& all, at::Tensor& mine,
                                const c10d::AllgatherOptions& options) override {
        at::Tensor copy = onHost(all);
        at::Tensor sent = onHost(mine);
        m_backend->_allgather_base(copy, sent, options)->wait();
        return finish({copy}, {all});
    }
    /// By an all-reduce of which each rank keeps its part: Gloo's reduce-scatter sends no less.
    HostWorkPtr _reduce_scatter_base(at::Tensor& mine, at::Tensor& all,
                                     const c10d::ReduceScatterOptions& options) override {
        HostTensors copies = onHost(HostTensors{all});
        c10d::AllreduceOptions sum;
        sum.reduceOp = options.reduceOp;
        m_backend->allreduce(copies, sum)->wait();
        const int64_t size = mine.numel();
        return finish({copies.front().flatten().narrow(0, size * getRank(), size).view_as(mine)},
                      {mine});
    }
    HostWorkPtr alltoall_base(at::Tensor& to, at::Tensor& from, std::vector<int64_t>& toSizes,
                              std::vector<int64_t>& fromSizes,
                              const c10d::AllToAllOptions& options) override {
        at::Tensor got = onHost(to);
        at::Tensor sent = onHost(from);
        m_backend->alltoall_base(got, sent, toSizes, fromSizes, options)->wait();
        return finish({got}, {to});
    }
    HostWorkPtr barrier(const c10d::BarrierOptions& options) override {
        return m_backend->barrier(options);
    }
};

} // namespace

c10::intrusive_ptr<c10d::Backend> makeHostBackend(c10::intrusive_ptr<c10d::Backend> host) {
    return c10::make_intrusive<HostBackend>(std::move(host));
}

} // namespace rm
