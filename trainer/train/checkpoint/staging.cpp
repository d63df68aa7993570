// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/checkpoint/staging.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>

namespace rm {
namespace {

template <class Copy>
void replaceLive(CheckpointContent& content, const Copy& copy) {
    const at::NoGradGuard noGrad;
    for (auto& file : content.tensorFiles)
        for (NamedTensor& one : file.tensors)
            if (std::exchange(one.isLive, false))
                one.tensor = copy(one.tensor);
}

class HostStaging final : public Staging {
public:
    void begin(CheckpointContent&) override {
        const std::scoped_lock lock(m_mutex);
        m_isCopying = true;
    }

    void finish(CheckpointContent& content) override {
        const AtEnd notifyAll(*this); // also when memory runs out
        replaceLive(content, copied);
    }

    void release() override {
        std::unique_lock lock(m_mutex);
        m_copied.wait(lock, [this] { return !m_isCopying; });
    }

private:
    struct AtEnd {
        explicit AtEnd(HostStaging& staging)
            : m_staging(staging) {}
        ~AtEnd() {
            const std::scoped_lock lock(m_staging.m_mutex);
            m_staging.m_isCopying = false;
            m_staging.m_copied.notify_all();
        }
        HostStaging& m_staging;
    };

    /// Copies with one thread; ATen's copy would use as many as training.
    static at::Tensor copied(const at::Tensor& live) {
        at::Tensor copy = at::empty_like(live);
        if (live.is_non_overlapping_and_dense() && copy.strides() == live.strides())
            std::memcpy(copy.mutable_data_ptr(), live.const_data_ptr(), live.nbytes());
        else
            copy.copy_(live);
        return copy;
    }

    std::mutex m_mutex;
    std::condition_variable m_copied;
    bool m_isCopying = false;
};

class StreamStaging final : public Staging {
public:
    explicit StreamStaging(at::Device device)
        : m_guard(device.type())
        , m_device(device)
        , m_side(m_guard.getStreamFromGlobalPool(device)) {}

    void begin(CheckpointContent& content) override {
        c10::Event ready(m_device.type());
        ready.record(m_guard.getStream(m_device));
        ready.block(m_side);
        const c10::StreamGuard onSide(m_side);
        replaceLive(content, [](const at::Tensor& live) {
            const auto host = live.options().device(at::kCPU).pinned_memory(true);
            return at::empty_like(live, host).copy_(live, /*non_blocking=*/true);
        });
        m_copied.emplace(m_device.type());
        m_copied->record(m_side);
    }

    void finish(CheckpointContent&) override { m_copied->synchronize(); }

    void release() override {
        if (m_copied)
            m_copied->block(m_guard.getStream(m_device));
    }

private:
    c10::impl::VirtualGuardImpl m_guard;
    at::Device m_device;
    c10::Stream m_side;
    std::optional<c10::Event> m_copied;
};

} // namespace

std::unique_ptr<Staging> makeStaging(at::Device device) {
    if (device.is_cpu())
        return std::make_unique<HostStaging>();
    return std::make_unique<StreamStaging>(device);
}

} // namespace rm
