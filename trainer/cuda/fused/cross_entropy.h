// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cuda/fused/arguments.h"
#include "trainer/cuda/fused/host_device.h"

#include <cmath>
#include <limits>

/// Cross-entropy of one row of logits z with the class t, smoothed by e (Szegedy et al., 2016):
///   loss = lse(z) - (1 - e) * z[t] - e / V * sum(z)
///   dz[v] = scale * (exp(z[v] - lse) - (1 - e) * [v == t] - e / V)
/// as in torch.nn.functional.cross_entropy with label_smoothing. A constant bias may be added to z.
/// dz overwrites z.
namespace rm::fused {

/// Columns that one lane reads at once: 16 bytes.
template <class T>
inline constexpr int kLogitWidth = 16 / static_cast<int>(sizeof(T));

/// The sum of exp(x - peak), which cannot overflow. The peak starts at a finite number, as -inf -
/// -inf is NaN.
template <class Acc>
struct Exponentials {
    Acc peak = std::numeric_limits<Acc>::lowest();
    Acc sum = 0;

    RM_HD void add(Acc x) {
        if (x > peak) {
            sum *= std::exp(peak - x);
            peak = x;
        }
        sum += std::exp(x - peak);
    }
};

/// Calls body(first column, how many) for this lane's pieces of the row.
template <int kWidth, class Team, class Body>
RM_HD void forEachPiece(const Team& team, int64_t columns, const Body& body) {
    const int64_t step = static_cast<int64_t>(team.lanes()) * kWidth;
    for (int64_t at = static_cast<int64_t>(team.lane()) * kWidth; at < columns; at += step)
        body(at, columns - at < kWidth ? static_cast<int>(columns - at) : kWidth);
}

/// Sums over a row of logits, combined over all lanes.
template <class Acc>
struct LogitSums {
    Acc logSumExp;
    Acc sum;
};

/// z of a column, with its bias.
template <class Acc>
RM_HD Acc biased(const CrossEntropy& a, Acc logit, int64_t column) {
    return a.bias ? logit + static_cast<const Acc*>(a.bias)[column] : logit;
}

template <class T, class Team>
RM_HD LogitSums<Accumulator<T>> sumLogits(const Team& team, const CrossEntropy& a,
                                          const T* logits) {
    using Acc = Accumulator<T>;
    constexpr int kWidth = kLogitWidth<T>;
    Exponentials<Acc> mine;
    Acc total = 0;
    forEachPiece<kWidth>(team, a.classes, [&](int64_t column, int count) {
        Acc z[kWidth];
        load<kWidth>(logits + column, z);
        for (int i = 0; i < count; ++i) {
            const Acc logit = biased(a, z[i], column + i);
            mine.add(logit);
            total += logit;
        }
    });
    const Acc peak = team.max(mine.peak);
    const Acc exponentials = team.sum(mine.sum * std::exp(mine.peak - peak));
    return {peak + std::log(exponentials), team.sum(total)};
}

/// Stores dz; columns past `classes`, which only pad the matrix, get 0.
template <class T, class Team>
RM_HD void storeLogitGradients(const Team& team, const CrossEntropy& a, T* logits, int64_t target,
                               Accumulator<T> logSumExp) {
    using Acc = Accumulator<T>;
    constexpr int kWidth = kLogitWidth<T>;
    const Acc scale = *static_cast<const Acc*>(a.scale);
    const auto smoothing = static_cast<Acc>(a.labelSmoothing);
    const Acc everywhere = smoothing / static_cast<Acc>(a.classes);
    const bool counts = target != a.ignoreIndex;
    forEachPiece<kWidth>(team, a.rowLength, [&](int64_t column, int) {
        Acc z[kWidth];
        load<kWidth>(logits + column, z);
        RM_UNROLL
        for (int i = 0; i < kWidth; ++i) {
            const Acc wanted = everywhere + (column + i == target ? Acc(1) - smoothing : Acc(0));
            const bool isClass = counts && column + i < a.classes;
            z[i] = isClass ? scale * (std::exp(biased(a, z[i], column + i) - logSumExp) - wanted)
                           : Acc(0);
        }
        store<kWidth>(z, logits + column);
    });
}

/// Computes one row. A row with an ignored target has loss 0 and gradient 0; an invalid target
/// gives the loss NaN, which the training loop reports.
template <class T, class Team>
RM_HD void crossEntropyRow(const Team& team, const CrossEntropy& a, int64_t row) {
    using Acc = Accumulator<T>;
    auto* logits = static_cast<T*>(a.logits) + row * a.rowLength;
    const int64_t target = a.targets[row];
    const LogitSums<Acc> sums = sumLogits(team, a, logits);
    if (team.lane() == 0) {
        const auto smoothing = static_cast<Acc>(a.labelSmoothing);
        Acc loss = std::numeric_limits<Acc>::quiet_NaN();
        if (target == a.ignoreIndex)
            loss = 0;
        else if (target >= 0 && target < a.classes)
            loss = sums.logSumExp -
                   (Acc(1) - smoothing) * biased(a, static_cast<Acc>(logits[target]), target) -
                   smoothing / static_cast<Acc>(a.classes) * sums.sum;
        static_cast<Acc*>(a.losses)[row] = loss;
    }
    if (!a.scale)
        return;
    team.sync(); // lane 0 has read the target's logit
    storeLogitGradients(team, a, logits, target, sums.logSumExp);
}

} // namespace rm::fused
