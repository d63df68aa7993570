// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cuda/host_kernels.h"

#include "trainer/cuda/fused/column_sum.h"
#include "trainer/cuda/fused/cross_entropy.h"
#include "trainer/cuda/fused/gelu.h"
#include "trainer/cuda/fused/layer_norm.h"

#include <ATen/ops/mm.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <barrier>
#include <thread>

namespace rm {
namespace {

using namespace rm::fused;

/// One lane of a team of threads. All lanes make the same calls in the same order.
template <class Acc>
class HostTeam {
public:
    struct Shared {
        explicit Shared(int lanes)
            : values(static_cast<size_t>(lanes))
            , meeting(lanes) {}
        std::vector<Acc> values;
        std::barrier<> meeting;
    };

    HostTeam(Shared& shared, int lane)
        : m_shared(shared)
        , m_lane(lane) {}

    int lane() const { return m_lane; }
    int lanes() const { return static_cast<int>(m_shared.values.size()); }
    void sync() const { m_shared.meeting.arrive_and_wait(); }

    Acc sum(Acc value) const {
        return over(value, [](Acc a, Acc b) { return a + b; });
    }
    Acc max(Acc value) const {
        return over(value, [](Acc a, Acc b) { return a > b ? a : b; });
    }

private:
    template <class Combine>
    Acc over(Acc value, const Combine& combine) const {
        m_shared.values[static_cast<size_t>(m_lane)] = value;
        sync();
        Acc total = m_shared.values[0];
        for (size_t i = 1; i < m_shared.values.size(); ++i)
            total = combine(total, m_shared.values[i]);
        sync();
        return total;
    }

    Shared& m_shared;
    int m_lane;
};

/// body(team of this lane, number of the team), for all teams one after the other.
template <class Acc, class Body>
void onTeams(int lanes, int64_t teams, const Body& body) {
    typename HostTeam<Acc>::Shared shared(lanes);
    std::vector<std::jthread> threads;
    for (int lane = 0; lane < lanes; ++lane)
        threads.emplace_back([&shared, &body, teams, lane] {
            const HostTeam<Acc> team(shared, lane);
            for (int64_t i = 0; i < teams; ++i)
                body(team, i);
        });
}

template <int kItems, int kWidth, class Wide, class Delta, class Normed>
void runTeams(const AddLayerNorm& a, int lanes) {
    onTeams<Wide>(lanes, a.rows, [&a](const auto& team, int64_t row) {
        addLayerNormRow<kItems, kWidth, Wide, Delta, Normed>(team, a, row);
    });
}

template <int kItems, int kWidth, class Wide, class Delta, class Normed>
void runTeams(const AddLayerNormBackward& a, int lanes) {
    onTeams<Wide>(lanes, a.teams, [&a](const auto& team, int64_t first) {
        addLayerNormBackwardRows<kItems, kWidth, Wide, Delta, Normed>(team, a, first, a.teams);
    });
}

template <int kWidth, class Wide, class Delta, class Normed, class Arguments>
void runPlanned(const Arguments& a, const RowPlan& plan) {
    switch (plan.items) {
    case 8:
        return runTeams<8, kWidth, Wide, Delta, Normed>(a, plan.lanes);
    case 16:
        return runTeams<16, kWidth, Wide, Delta, Normed>(a, plan.lanes);
    case 24:
        return runTeams<24, kWidth, Wide, Delta, Normed>(a, plan.lanes);
    default:
        return runTeams<kMostItems, kWidth, Wide, Delta, Normed>(a, plan.lanes);
    }
}

template <class Wide, class Delta, class Normed, class Arguments>
void runTyped(const Arguments& a) {
    const RowPlan plan = planRow(a.columns, true);
    if (plan.width == 1)
        runPlanned<1, Wide, Delta, Normed>(a, plan);
    else
        runPlanned<kPackWidth, Wide, Delta, Normed>(a, plan);
}

template <class Arguments>
void runNorm(const Arguments& a) {
    const bool widely = a.normedAs == a.wide;
    if (a.wide == Number::kDouble)
        return runTyped<double, double, double>(a);
    if (a.narrow == Number::kFloat)
        return runTyped<float, float, float>(a);
    if (a.narrow == Number::kBFloat16)
        return widely ? runTyped<float, c10::BFloat16, float>(a)
                      : runTyped<float, c10::BFloat16, c10::BFloat16>(a);
    return widely ? runTyped<float, c10::Half, float>(a) : runTyped<float, c10::Half, c10::Half>(a);
}

template <int kWidth, class T, class Bias>
void applyGelu(const BiasGelu& a) {
    constexpr int64_t kGroups = 3;
    for (int64_t column = 0; column < a.columns; column += kWidth)
        for (int64_t group = 0; group < kGroups; ++group)
            biasGeluColumns<kWidth, T, Bias>(a, column, group, kGroups);
}

template <int kWidth, class T, class Bias>
void applyGelu(const BiasGeluBackward& a) {
    for (int64_t column = 0; column < a.columns; column += kWidth)
        for (int64_t group = 0; group < a.groups; ++group)
            biasGeluBackwardColumns<kWidth, T, Bias>(a, column, group, a.groups);
}

template <class T, class Bias, class Arguments>
void runGeluTyped(const Arguments& a) {
    if (a.columns % kPackWidth == 0)
        applyGelu<kPackWidth, T, Bias>(a);
    else
        applyGelu<1, T, Bias>(a);
}

template <class Arguments>
void runGelu(const Arguments& a) {
    switch (a.number) {
    case Number::kDouble:
        return runGeluTyped<double, double>(a);
    case Number::kFloat:
        return runGeluTyped<float, float>(a);
    case Number::kBFloat16:
        return runGeluTyped<c10::BFloat16, float>(a);
    case Number::kHalf:
        return runGeluTyped<c10::Half, float>(a);
    }
}

template <class Acc>
void sumColumns(const ColumnSum& a) {
    for (int64_t column = 0; column < a.columns; ++column) {
        Acc shares[kSumLanes];
        for (int lane = 0; lane < kSumLanes; ++lane)
            shares[lane] = columnShare<Acc>(a, column, lane);
        storeColumn(a, column, shares, 1);
    }
}

template <class T>
void crossEntropyOf(const CrossEntropy& a) {
    onTeams<Accumulator<T>>(kWarpLanes, a.rows, [&a](const auto& team, int64_t row) {
        crossEntropyRow<T>(team, a, row);
    });
}

} // namespace

bool HostKernels::covers(at::ScalarType type) {
    return type == at::kDouble || type == at::kFloat || type == at::kBFloat16 || type == at::kHalf;
}

int64_t HostKernels::normTeams(const at::Tensor&, int64_t rows, int64_t) {
    return std::min<int64_t>(rows, 3);
}

int64_t HostKernels::geluGroups(const at::Tensor&, int64_t rows, int64_t) {
    return std::min<int64_t>(rows, 4);
}

void HostKernels::run(const AddLayerNorm& a) {
    runNorm(a);
}

void HostKernels::run(const AddLayerNormBackward& a) {
    runNorm(a);
}

void HostKernels::run(const BiasGelu& a) {
    runGelu(a);
}

void HostKernels::run(const BiasGeluBackward& a) {
    runGelu(a);
}

void HostKernels::run(const ColumnSum& a) {
    if (a.number == Number::kDouble)
        sumColumns<double>(a);
    else
        sumColumns<float>(a);
}

void HostKernels::run(const CrossEntropy& a) {
    switch (a.number) {
    case Number::kDouble:
        return crossEntropyOf<double>(a);
    case Number::kFloat:
        return crossEntropyOf<float>(a);
    case Number::kBFloat16:
        return crossEntropyOf<c10::BFloat16>(a);
    case Number::kHalf:
        return crossEntropyOf<c10::Half>(a);
    }
}

void HostKernels::accumulate(at::Tensor& c, const at::Tensor& a, const at::Tensor& b) {
    c.add_(at::mm(a.to(c.scalar_type()), b.to(c.scalar_type())));
}

} // namespace rm
