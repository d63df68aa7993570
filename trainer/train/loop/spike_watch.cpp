// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/spike_watch.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rm {
namespace {

constexpr double kNormal = 1.4826; ///< standard deviation of normal noise, in median deviations

} // namespace

SpikeWatch::SpikeWatch(int64_t window, double threshold, double leastSpread)
    : m_window(static_cast<size_t>(window))
    , m_threshold(threshold)
    , m_leastSpread(leastSpread) {}

bool SpikeWatch::isReady() const {
    return !m_values.empty() && 2 * m_values.size() >= m_window;
}

double SpikeWatch::median() const {
    return m_sorted.empty() ? 0 : m_sorted[m_sorted.size() / 2];
}

double SpikeWatch::leastSpread() const {
    return m_leastSpread * std::abs(median());
}

double SpikeWatch::spread() const {
    const double centre = median();
    std::vector<double> deviations = m_sorted;
    for (double& value : deviations)
        value = std::abs(value - centre);
    const auto middle = deviations.begin() + static_cast<std::ptrdiff_t>(deviations.size() / 2);
    std::ranges::nth_element(deviations, middle);
    return std::max(kNormal * *middle, leastSpread());
}

double SpikeWatch::limit() const {
    return isReady() ? median() + m_threshold * spread() : std::numeric_limits<double>::infinity();
}

bool SpikeWatch::isSpike(double value) const {
    // For nearly all values the median alone suffices.
    const bool mayBe = isReady() && value > median() + m_threshold * leastSpread();
    return mayBe && value > limit();
}

double SpikeWatch::score(double value) const {
    const double unit = isReady() ? spread() : 0;
    return unit > 0 ? (value - median()) / unit : 0;
}

void SpikeWatch::note(double value) {
    if (m_values.size() >= m_window) {
        m_sorted.erase(std::ranges::lower_bound(m_sorted, m_values.front()));
        m_values.erase(m_values.begin());
    }
    m_values.push_back(value);
    m_sorted.insert(std::ranges::upper_bound(m_sorted, value), value);
}

void SpikeWatch::restore(const std::vector<double>& values) {
    m_values.clear();
    m_sorted.clear();
    for (const double value : values)
        note(value);
}

} // namespace rm
