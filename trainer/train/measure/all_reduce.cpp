// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/measure/all_reduce.h"

#include "shared/return_if_error.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>

namespace rm {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::array<int64_t, 9> kSizes = {4,       1 << 10,  16 << 10, 128 << 10, 1 << 20,
                                           4 << 20, 16 << 20, 32 << 20, 64 << 20};

class SumTimer {
public:
    SumTimer(const World& world, const Device& device, Seconds budget)
        : m_world(world)
        , m_device(device)
        , m_until(now() + budget.count())
        , m_slice(budget.count() / kSizes.size()) {}

    std::vector<SumTime> run() {
        std::vector<SumTime> times;
        for (const int64_t bytes : kSizes) {
            const double expected = times.empty()
                                        ? 0
                                        : times.back().seconds * static_cast<double>(bytes) /
                                              static_cast<double>(times.back().bytes);
            // Twice at least, of which the first is not counted.
            const bool goesOn = times.size() < 2 || now() + 2 * expected < m_until;
            if (decided(goesOn ? 1 : 0) == 0)
                break;
            times.push_back(timeOf(bytes));
        }
        return times;
    }

private:
    static double now() {
        return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    /// What rank 0 has decided.
    int64_t decided(int64_t number) const {
        at::Tensor host = at::empty({1}, at::kLong).fill_(number);
        m_world.broadcast({host});
        return host.item<int64_t>();
    }

    double once(at::Tensor& tensor) const {
        const double began = now();
        m_world.sum(tensor);
        m_device.plugin->synchronize();
        return now() - began;
    }

    /// The first sum of a size is not counted, as it makes buffers and widens TCP's window.
    SumTime timeOf(int64_t bytes) const {
        constexpr int64_t kMostTimes = 200;
        at::Tensor tensor = at::zeros({bytes / int64_t{sizeof(float)}},
                                      at::TensorOptions(at::kFloat).device(m_device.at));
        const double first = std::max(once(tensor), 1e-7);
        const auto wanted = static_cast<int64_t>(m_slice / first);
        const int64_t count = decided(std::clamp<int64_t>(wanted, 1, kMostTimes));
        std::vector<double> seconds;
        for (int64_t i = 0; i < count; ++i)
            seconds.push_back(once(tensor));
        const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
        std::ranges::nth_element(seconds, middle);
        return {bytes, *middle, count};
    }

    const World& m_world;
    const Device& m_device;
    const double m_until;
    const double m_slice; ///< of the budget, for one size
};

/// The first rank of each node.
std::vector<int> firstRanks(const std::vector<int>& nodeOf) {
    std::vector<int> first;
    for (int rank = 0; rank < static_cast<int>(nodeOf.size()); ++rank)
        if (rank == 0 || nodeOf[static_cast<size_t>(rank)] != nodeOf[static_cast<size_t>(rank) - 1])
            first.push_back(rank);
    return first;
}

} // namespace

std::vector<SumTime> timeSums(const World& world, const Device& device, Seconds budget) {
    return SumTimer(world, device, budget).run();
}

AllReduceReport measureLinks(const World& world, const Device& device,
                             const std::vector<int>& nodeOf, Seconds budget) {
    AllReduceReport report{device.plugin->deviceName(), world.collectivesFault(), {}};
    const std::vector<int> first = firstRanks(nodeOf);
    const size_t pairs = first.size() * (first.size() - 1) / 2;
    const Seconds each = budget / static_cast<double>(pairs + 1);
    std::vector<int64_t> all;
    for (size_t a = 0; a < first.size(); ++a)
        all.push_back(nodeOf[static_cast<size_t>(first[a])]);
    // Two ranks on two nodes are one link; that is measured as "all".
    const bool hasPairs = world.size() > 2;
    for (size_t a = 0; hasPairs && a < first.size(); ++a)
        for (size_t b = a + 1; b < first.size(); ++b) {
            const bool takesPart = world.rank() == first[a] || world.rank() == first[b];
            std::string mine;
            if (takesPart) {
                const World pair = world.among({first[a], first[b]}, device);
                SumGroup group{{all[a], all[b]}, 2, timeSums(pair, device, each)};
                if (world.rank() == first[a])
                    mine = toJson(AllReduceReport{"", "", {std::move(group)}});
            }
            // What rank 0 hears also tells the others that the pair has ended.
            const auto told = world.gather(mine);
            for (const std::string& text : told)
                if (!text.empty())
                    if (auto pair = parseAllReduceReport(text, "a pair's times"))
                        report.groups.push_back(std::move(pair->groups.front()));
            world.barrier();
        }
    report.groups.push_back({all, world.size(), timeSums(world, device, each)});
    return report;
}

} // namespace rm
