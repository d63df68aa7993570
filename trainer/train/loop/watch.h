// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/metrics/registry.h"
#include "trainer/train/checkpoint/train_state.h"

#include <string>

namespace rm {

/// The figure of a validation that train.watch names. A lower loss or error rate is better, a
/// higher anything else.
class Watch {
public:
    explicit Watch(const std::string& name);

    MetricId metric() const { return m_metric; }

    /// Whether `figure` is better than `than`. NaN is worse than any number.
    bool isBetter(double figure, double than) const;

    /// Notes the figure of a validation.
    void note(Watched& watched, double figure) const;

private:
    MetricId m_metric;
};

} // namespace rm
