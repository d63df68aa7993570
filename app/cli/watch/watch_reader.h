// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/watch/watch_view.h"
#include "app/core/store/store_reader.h"
#include "shared/metrics/registry.h"

#include <QString>

#include <memory>
#include <vector>

namespace rm::cli {

/// A chart of the live view: metrics of one unit.
struct WatchChart {
    std::string title;
    bool fromZero = false;
    std::vector<MetricDef> metrics;
};

/// The charts of a run, in the order of their keys: loss, learning rate, gradient norm, throughput,
/// step time, phases, and the validation's other figures once there are some.
std::vector<WatchChart> watchCharts(StoreReader& reader, const QString& run);

/// Reads what a live view shows of a run. What costs more, as the figures of all ranks, is read
/// anew once a second at most.
class WatchReader {
public:
    explicit WatchReader(std::unique_ptr<StoreReader> reader);

    /// The screen has that size. Where the run cannot be read, `problem` says why, and the rest is
    /// as it was the last time.
    const WatchData& read(const QString& run, const LiveState& live, const WatchView& view,
                          int width, int height, Glyphs glyphs);
    const WatchData& data() const { return m_data; }
    /// The run that is shown when none was named: the newest live one; empty: there is none.
    QString newestLive();

private:
    void readFigures(const QString& run);
    void readRanks();
    void readCharts(const WatchView& view, int width, int height, Glyphs glyphs);
    void readPane(const WatchView& view);
    void readMoments();
    void readBest();
    void findNotices();

    std::unique_ptr<StoreReader> m_reader;
    WatchData m_data;
    std::vector<WatchChart> m_charts;
    QString m_figuresOf;
    int64_t m_figuresNs = 0; ///< CLOCK_MONOTONIC
};

} // namespace rm::cli
