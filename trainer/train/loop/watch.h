// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/metrics/registry.h"
#include "trainer/train/checkpoint/train_state.h"

#include <string>

namespace rm {

/// The validation metric that train.watch names. For losses and error rates lower is better,
/// otherwise higher.
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
