// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rm {

/// Finds the spikes of a noisy series: values far above the median of the last ones, in units of
/// their spread. The spread is 1.4826 times the median absolute deviation, which is the standard
/// deviation of normal noise, and at least a share of the median: neither a few spikes nor a trend
/// mislead it, and a value that is hardly higher is none however even the others are.
class SpikeWatch {
public:
    /// `window`: values to look back on; nothing is a spike before half of them are known.
    /// `leastSpread`: as a share of the median.
    SpikeWatch(int64_t window, double threshold, double leastSpread);

    /// The highest value that is no spike; infinity as long as too little is known.
    double limit() const;
    bool isSpike(double value) const;
    /// By how many spreads a value is above the median; 0 as long as too little is known.
    double score(double value) const;
    double median() const;

    void note(double value); ///< finite; spikes too, as values that stay high are no spikes

    const std::vector<double>& values() const { return m_values; } ///< the oldest first
    void restore(const std::vector<double>& values);

private:
    bool isReady() const;
    double leastSpread() const;
    double spread() const;

    size_t m_window;
    double m_threshold;
    double m_leastSpread;
    std::vector<double> m_values; ///< the oldest first
    std::vector<double> m_sorted; ///< the same values, rising
};

} // namespace rm
