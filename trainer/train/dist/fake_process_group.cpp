// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/fake_process_group.h"

#include <torch/csrc/distributed/c10d/Work.hpp>

namespace rm {
namespace {

using Tensors = std::vector<at::Tensor>;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using Future = c10::ivalue::Future;

class DoneWork final : public c10d::Work {
public:
    explicit DoneWork(Tensors result)
        : m_result(std::move(result)) {}

    bool isCompleted() override { return false; } // as on a slow network
    bool wait(std::chrono::milliseconds) override { return true; }

    c10::intrusive_ptr<Future> getFuture() override {
        const at::Device device = m_result.front().device();
        auto future = c10::make_intrusive<Future>(
            c10::ListType::create(c10::TensorType::get()),
            device.is_cpu() ? std::vector<c10::Device>() : std::vector<c10::Device>{device});
        future->markCompleted(c10::IValue(m_result));
        return future;
    }

private:
    Tensors m_result;
};

class FakeProcessGroup final : public c10d::Backend {
public:
    using Backend::Backend;

    const std::string getBackendName() const override { return "silent"; }

    WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions&) override {
        return done(tensors);
    }
    WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions&) override {
        return done(tensors);
    }
    WorkPtr allgather(std::vector<Tensors>&, Tensors& mine,
                      const c10d::AllgatherOptions&) override {
        return done(mine);
    }
    WorkPtr _allgather_base(at::Tensor& all, at::Tensor&, const c10d::AllgatherOptions&) override {
        return done({all});
    }
    WorkPtr _reduce_scatter_base(at::Tensor& mine, at::Tensor&,
                                 const c10d::ReduceScatterOptions&) override {
        return done({mine});
    }
    WorkPtr alltoall_base(at::Tensor& to, at::Tensor&, std::vector<int64_t>&, std::vector<int64_t>&,
                          const c10d::AllToAllOptions&) override {
        return done({to});
    }

private:
    static WorkPtr done(Tensors result) { return c10::make_intrusive<DoneWork>(std::move(result)); }
};

} // namespace

c10::intrusive_ptr<c10d::Backend> makeFakeProcessGroup(int rank, int worldSize) {
    return c10::make_intrusive<FakeProcessGroup>(rank, worldSize);
}

} // namespace rm
