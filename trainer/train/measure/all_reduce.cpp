// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/measure/all_reduce.h"

#include "shared/return_if_error.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

namespace rm {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::array<int64_t, 9> kSizes = {4,       1 << 10,  16 << 10, 128 << 10, 1 << 20,
                                           4 << 20, 16 << 20, 32 << 20, 64 << 20};

class SumTimer {
public:
    SumTimer(const World& world, const Device& device, const SumBudget& budget)
        : m_world(world)
        , m_device(device)
        , m_budget(budget)
        , m_slice(budget.whole.count() / kSizes.size()) {}

    std::vector<SumTime> run() {
        std::vector<SumTime> times;
        for (const int64_t bytes : kSizes) {
            const double expected = times.empty()
                                        ? 0
                                        : times.back().seconds * static_cast<double>(bytes) /
                                              static_cast<double>(times.back().bytes);
            const bool continues = times.size() < 2 || fits(m_budget, Seconds(now() - m_began),
                                                            bytes, Seconds(expected));
            if (decided(continues ? 1 : 0) == 0)
                break;
            times.push_back(timeOf(bytes));
        }
        return times;
    }

private:
    static double now() {
        return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    /// The processor time of this process.
    static double cpuSeconds() {
        rusage used{};
        ::getrusage(RUSAGE_SELF, &used);
        const auto seconds = [](const timeval& time) {
            return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
        };
        return seconds(used.ru_utime) + seconds(used.ru_stime);
    }

    /// Rank 0's number, on all ranks.
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
        const double cpuBefore = cpuSeconds();
        for (int64_t i = 0; i < count; ++i)
            seconds.push_back(once(tensor));
        const double cpu = (cpuSeconds() - cpuBefore) / static_cast<double>(count);
        const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
        std::ranges::nth_element(seconds, middle);
        return {bytes, *middle, count, cpu};
    }

    const World& m_world;
    const Device& m_device;
    const SumBudget m_budget;
    const double m_began = now();
    const double m_slice; ///< seconds of the budget for one size
};

/// The first rank of each node.
std::vector<int> firstRanks(const std::vector<int>& nodeOf) {
    std::vector<int> first;
    for (int rank = 0; rank < static_cast<int>(nodeOf.size()); ++rank)
        if (rank == 0 || nodeOf[static_cast<size_t>(rank)] != nodeOf[static_cast<size_t>(rank) - 1])
            first.push_back(rank);
    return first;
}

/// Measures all pairs of a round at once. Returns the times of all of them on rank 0.
std::vector<SumGroup> measureRound(const World& world, const Device& device,
                                   const std::vector<std::pair<size_t, size_t>>& pairs,
                                   const std::vector<int>& first, const std::vector<int64_t>& nodes,
                                   const SumBudget& budget) {
    std::string mine;
    for (const auto& [a, b] : pairs) {
        if (world.rank() != first[a] && world.rank() != first[b])
            continue;
        const World pair = world.among({first[a], first[b]}, device);
        SumGroup group{{nodes[a], nodes[b]}, 2, timeSums(pair, device, budget)};
        if (world.rank() == first[a])
            mine = toJson(AllReduceReport{"", "", {std::move(group)}});
    }
    std::vector<SumGroup> groups;
    for (const std::string& text : world.gather(mine))
        if (!text.empty())
            if (auto pair = parseAllReduceReport(text, "a pair's times"))
                groups.push_back(std::move(pair->groups.front()));
    world.barrier(); // others end their pairs later
    return groups;
}

} // namespace

bool fits(const SumBudget& budget, Seconds passed, int64_t bytes, Seconds expected) {
    const Seconds after = passed + 2 * expected; // the first is not counted
    return after < budget.whole || (bytes <= budget.leastBytes && after < budget.least);
}

std::vector<SumTime> timeSums(const World& world, const Device& device, const SumBudget& budget) {
    return SumTimer(world, device, budget).run();
}

/// The circle method: one stays, the others move on by a place each round.
std::vector<std::vector<std::pair<size_t, size_t>>> roundsOfPairs(size_t count) {
    const size_t places = count + count % 2; // if odd, the partner of the missing one rests
    std::vector<size_t> circle(places);
    std::iota(circle.begin(), circle.end(), size_t{0});
    std::vector<std::vector<std::pair<size_t, size_t>>> rounds;
    for (size_t round = 0; round + 1 < places; ++round) {
        auto& pairs = rounds.emplace_back();
        for (size_t i = 0; i < places / 2; ++i) {
            const auto [low, high] = std::minmax(circle[i], circle[places - 1 - i]);
            if (high < count)
                pairs.emplace_back(low, high);
        }
        std::rotate(circle.begin() + 1, circle.end() - 1, circle.end());
    }
    return rounds;
}

AllReduceReport measureLinks(const World& world, const Device& device,
                             const std::vector<int>& nodeOf, Seconds budget) {
    AllReduceReport report{device.plugin->deviceName(), world.collectivesFault(), {}};
    const std::vector<int> first = firstRanks(nodeOf);
    std::vector<int64_t> all;
    for (const int rank : first)
        all.push_back(nodeOf[static_cast<size_t>(rank)]);
    SumBudget ofAll{budget, 16 << 20, Seconds(2)};
    // Two ranks on two nodes are one link; that is measured as "all".
    if (world.size() > 2) {
        ofAll.whole = budget / 2;
        const auto rounds = roundsOfPairs(first.size());
        const SumBudget ofPair{ofAll.whole / static_cast<double>(rounds.size()), 1 << 20,
                               Seconds(0.25)};
        for (const auto& pairs : rounds)
            std::ranges::move(measureRound(world, device, pairs, first, all, ofPair),
                              std::back_inserter(report.groups));
        std::ranges::sort(report.groups, {}, &SumGroup::nodes);
    }
    report.groups.push_back({all, world.size(), timeSums(world, device, ofAll)});
    return report;
}

} // namespace rm
