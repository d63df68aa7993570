// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/watch.h"

#include "shared/enforce.h"

namespace rm {
Watch::Watch(const std::string& name) {
    const MetricDef* metric = findBuiltinMetric("validation/" + name);
    RM_ENFORCE(metric); // the spec's choices are metrics
    m_metric = metric->id;
}

bool Watch::isBetter(double figure, double than) const {
    return rm::isBetter(builtinMetric(m_metric), figure, than);
}

void Watch::note(Watched& watched, double figure) const {
    watched.last = figure;
    const bool better = isBetter(figure, watched.best);
    watched.sinceBest = better ? 0 : watched.sinceBest + 1;
    if (better)
        watched.best = figure;
}

} // namespace rm
