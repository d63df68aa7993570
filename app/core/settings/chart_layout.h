// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/io/json.h"
#include "shared/result.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rm {

struct Paths;

/// The ends of a vertical axis that a person has set; each finite, low < high.
struct AxisRange {
    std::optional<double> low = {}, high = {};
    bool operator==(const AxisRange&) const = default;
};

/// How a person wants one chart of a run. Without a value, it follows from the metrics' registry.
struct ChartStyle {
    std::optional<int> columns = {};  ///< of the page that it takes, 1 to kMostColumns
    std::optional<int> rows = {};     ///< its height: 1 to kMostRows
    std::optional<bool> isFirst = {}; ///< on the first screen, above "everything else"
    std::optional<bool> isLog = {};   ///< whatever the switch for all charts says
    AxisRange yRange = {};
    bool isHidden = false;
    bool cutsOutliers = false; ///< the axis spans what most points have
    bool operator==(const ChartStyle&) const = default;

    static constexpr int kMostColumns = 3, kMostRows = 3;
};

/// What an own chart draws of a metric that each rank has.
enum class ChartShape {
    kLines,  ///< "lines": of the ranks that are chosen, or as Ringmaster's charts have them
    kRibbon, ///< "ribbon": least, median and most of all ranks
    kHeat,   ///< "heat": ranks over time, of the first metric
};

/// A chart that a person has put together.
struct OwnChart {
    std::string key = {}; ///< kOwnChart and a number: names it among the charts
    std::string title = {};
    std::vector<std::string> metrics = {}; ///< by name, at least one
    std::vector<int> ranks = {}; ///< a line for each; empty: as Ringmaster's charts have them
    ChartShape shape = ChartShape::kLines;
    bool operator==(const OwnChart&) const = default;
};

inline constexpr const char* kOwnChart = "own:";

/// What a person has changed of the charts of a run.
struct ChartLayout {
    std::vector<std::string> order;           ///< keys, as far as a person has moved any
    std::map<std::string, ChartStyle> styles; ///< by key
    std::vector<OwnChart> own;
    bool operator==(const ChartLayout&) const = default;

    ChartStyle styleOf(const std::string& key) const;
    void setStyle(const std::string& key, const ChartStyle& style); ///< a plain one is forgotten
    /// The key of the next chart of one's own.
    std::string nextOwnKey() const;
    void removeOwn(const std::string& key);
};

/// `keys` in the order of the layout. One that it does not name stays behind the one that it comes
/// after in `keys`.
std::vector<std::string> arranged(const ChartLayout& layout, const std::vector<std::string>& keys);

/// Moves `key` before `before`, or behind all where that is empty. `keys` are all that are there,
/// as arranged() has them; what the layout says of others stays.
void moveChart(ChartLayout& layout, const std::vector<std::string>& keys, const std::string& key,
               const std::string& before);

/// The layouts that a person has: for each kind of model the one in use, and those kept by name. In
/// `layouts.json` of Paths::config.
struct ChartLayouts {
    std::map<std::string, ChartLayout> inUse; ///< by model.type of the spec
    std::map<std::string, ChartLayout> kept;  ///< by name
    bool operator==(const ChartLayouts&) const = default;
};

/// Unknown keys are left out, as a later release may write more; what has another type than it
/// should is kCorrupt.
Result<ChartLayouts> chartLayoutsFrom(std::string_view json, const std::string& source);
std::string toJson(const ChartLayouts& layouts);

/// kCorrupt, kUnavailable: the file is there and cannot be read. None is no error.
Result<ChartLayouts> readChartLayouts(const Paths& paths);
/// Replaces the file, but none that cannot be read: that one is somebody's work.
Result<void> writeChartLayouts(const Paths& paths, const ChartLayouts& layouts);

} // namespace rm
