// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/sum_check.h"

#include "trainer/train/device/device.h"
#include "trainer/train/dist/gloo.h"
#include "trainer/train/dist/host_backend.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include <array>
#include <thread>

namespace rm {
namespace {

constexpr std::chrono::seconds kPatienceHere{60};

/// Small whole numbers that differ by rank and place: their sums are exact in any order, in
/// float32 and, as 0 and 1, up to 256 ranks in bfloat16.
at::Tensor numbersOf(int rank, int64_t count, at::ScalarType type) {
    const int64_t range = type == at::kFloat ? 23 : 2;
    return at::arange(count, at::kLong).mul_(7).add_(rank * 5).remainder_(range).to(type);
}

at::Tensor sumOnHost(int ranks, int64_t count, at::ScalarType type) {
    at::Tensor sum = at::zeros({count}, at::kDouble);
    for (int rank = 0; rank < ranks; ++rank)
        sum.add_(numbersOf(rank, count, type).to(at::kDouble));
    return sum;
}

class Check {
public:
    Check(c10d::Backend& backend, at::Device device, std::chrono::seconds patience)
        : m_backend(backend)
        , m_device(device)
        , m_until(std::chrono::steady_clock::now() + patience)
        , m_patience(patience) {}

    /// Makes all sums even after a wrong one, which may be right on other ranks: they would wait
    /// for a rank that left early.
    std::string run() {
        static constexpr std::array<int64_t, 3> kCounts = {1, 1000, 1 << 18};
        constexpr int kMostForBFloat16 = 256;
        for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
            for (const int64_t count : kCounts) {
                if (type == at::kBFloat16 && m_backend.getSize() > kMostForBFloat16)
                    continue;
                note(ofSum(count, type));
                if (!m_device.is_cpu() && !m_isGivenUp) // there parts travel by an all-to-all
                    note(ofParts(count, type));
                if (m_isGivenUp)
                    return m_fault;
            }
        return m_fault;
    }

private:
    void note(const std::string& fault) {
        if (m_fault.empty())
            m_fault = fault;
    }

    at::Tensor mine(int64_t count, at::ScalarType type) const {
        return numbersOf(m_backend.getRank(), count, type).to(m_device);
    }

    std::string ofSum(int64_t count, at::ScalarType type) {
        std::vector<at::Tensor> tensors{mine(count, type)};
        if (const std::string fault = await(m_backend.allreduce(tensors)); !fault.empty())
            return fault;
        return compare(tensors.front(), count, type, "all-reduce");
    }

    /// As gradients travel: parts are summed, then gathered.
    std::string ofParts(int64_t perRank, at::ScalarType type) {
        const int64_t count = perRank * m_backend.getSize();
        at::Tensor whole = mine(count, type);
        at::Tensor part = at::empty({perRank}, whole.options());
        if (const std::string fault = await(m_backend._reduce_scatter_base(part, whole));
            !fault.empty())
            return fault;
        at::Tensor all = at::empty({count}, whole.options());
        if (const std::string fault = await(m_backend._allgather_base(all, part)); !fault.empty())
            return fault;
        return compare(all, count, type, "reduce-scatter and all-gather");
    }

    /// Polls the work, as wait() of a device's backend does not wait on the host.
    std::string await(const c10::intrusive_ptr<c10d::Work>& work) {
        while (!work->isCompleted()) {
            if (std::chrono::steady_clock::now() > m_until) {
                m_backend.abort();
                m_isGivenUp = true;
                return "a sum did not come within " + std::to_string(m_patience.count()) + " s";
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        work->wait(); // throws the work's error
        return {};
    }

    std::string compare(const at::Tensor& sums, int64_t count, at::ScalarType type,
                        const char* what) const {
        const at::Tensor wanted = sumOnHost(m_backend.getSize(), count, type);
        const at::Tensor wrong = sums.cpu().to(at::kDouble).ne(wanted);
        const auto number = wrong.sum().item<int64_t>();
        if (number == 0)
            return {};
        const auto first = wrong.nonzero()[0][0].item<int64_t>();
        return std::string(what) + " over " + std::to_string(m_backend.getSize()) + " ranks, " +
               c10::toString(type) + ": " + std::to_string(number) + " of " +
               std::to_string(count) + " sums are wrong, the first is " +
               std::to_string(sums.cpu()[first].item<double>()) + " instead of " +
               std::to_string(wanted[first].item<double>());
    }

    c10d::Backend& m_backend;
    const at::Device m_device;
    const std::chrono::steady_clock::time_point m_until;
    const std::chrono::seconds m_patience;
    std::string m_fault; ///< the first one
    bool m_isGivenUp = false;
};

/// This rank's fault, else a text if another rank has one; empty: no rank has one.
std::string agreedFault(c10d::Backend& host, const std::string& own) {
    std::vector<at::Tensor> faults{at::full({1}, own.empty() ? 0 : 1, at::kLong)};
    host.allreduce(faults)->wait();
    const bool isElsewhere = own.empty() && faults.front().item<int64_t>() > 0;
    return isElsewhere ? "another rank's failed" : own;
}

/// The sumFault() of two ranks over Gloo, on threads of this process.
std::string faultOfTwo() {
    const auto store = c10::make_intrusive<c10d::HashStore>();
    std::array<std::string, 2> faults;
    const auto rank = [&](int own) {
        try {
            const auto gloo = makeGloo(store, own, 2, "127.0.0.1", kPatienceHere);
            faults[static_cast<size_t>(own)] = sumFault(*gloo, at::kCPU, kPatienceHere);
        } catch (const std::exception& error) {
            faults[static_cast<size_t>(own)] = error.what();
        }
    };
    std::thread second(rank, 1);
    rank(0);
    second.join();
    return faults[0].empty() ? faults[1] : faults[0];
}

} // namespace

std::string sumFault(c10d::Backend& backend, at::Device device, std::chrono::seconds patience) {
    try {
        return Check(backend, device, patience).run();
    } catch (const std::exception& error) {
        const std::string text = error.what();
        return text.substr(0, text.find('\n'));
    }
}

SoundBackend soundBackend(c10::intrusive_ptr<c10d::Backend> own,
                          c10::intrusive_ptr<c10d::Backend> host, at::Device device,
                          std::chrono::seconds patience) {
    // Agreed first, as the others would wait in vain for a rank that has no `own`.
    std::string fault = agreedFault(*host, own ? "" : "they are switched off");
    if (fault.empty())
        fault = agreedFault(*host, sumFault(*own, device, patience));
    if (fault.empty())
        return {std::move(own), {}};
    return {makeHostBackend(std::move(host)), std::move(fault)};
}

std::string sumFaultHere(const Device& device) {
    const auto backend =
        device.plugin->makeBackend(c10::make_intrusive<c10d::HashStore>(), 0, 1, kPatienceHere);
    return backend ? sumFault(*backend, device.at, kPatienceHere) : faultOfTwo();
}

} // namespace rm
