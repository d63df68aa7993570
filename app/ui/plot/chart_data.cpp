// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/chart_data.h"

#include "app/core/store/store_reader.h"
#include "app/ui/data/run_words.h"
#include "app/ui/plot/past_lines.h"
#include "shared/metrics/metric_title.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

namespace rm {

namespace {

constexpr int kIndexBuckets = 512;
constexpr int kMaxMeanRanks = 16; ///< more would not visibly change the mean
constexpr int kSpreadShare = 4;   ///< of further ranks only so many points are read, for extremes
constexpr int kMaxRankCurves = 8; ///< more ranks are drawn as a ribbon
constexpr size_t kMaxNodeCurves = 16;
constexpr size_t kMaxCurves = 32;   ///< of one chart, or a few more
constexpr int kByPlace = -1;        ///< colour of a curve that follows from its place in the chart
constexpr double kMostAround = 0.5; ///< share of the points that are read before it, and behind
constexpr double kRunUp = 0.25;     ///< share of the range read before it, for lines into it

struct ChartWords {
    Q_DECLARE_TR_FUNCTIONS(Charts)
};

using Buckets = std::vector<Bucket>;

/// A range of steps.
struct Window {
    int64_t first = 0, last = INT64_MAX;
    double width() const { return static_cast<double>(last - first); }
};

Window visibleSteps(StoreReader& reader, const ChartQuery& query) {
    const auto [low, high] = *query.range;
    if (!isTime(query.map.axis))
        return {static_cast<int64_t>(std::floor(stepOf(query.map, low))),
                static_cast<int64_t>(std::ceil(stepOf(query.map, high)))};
    Window window{query.lastStep, 0};
    for (const Bucket& b : reader.buckets(query.run, stepSeries(), 0, INT64_MAX, kIndexBuckets)) {
        const double x = xOf(query.map, b.lastStep, b.wallNs);
        if (x >= low)
            window.first = std::min(window.first, b.firstStep);
        if (x <= high)
            window.last = std::max(window.last, b.lastStep);
    }
    return window;
}

/// With the points from which lines lead into it.
Window windowOf(const Window& visible) {
    const auto runUp = static_cast<int64_t>(visible.width() * kRunUp);
    return {std::max<int64_t>(0, visible.first - runUp), visible.last + 1};
}

class PanelReader {
public:
    PanelReader(StoreReader& reader, const ChartQuery& query)
        : m_reader(reader)
        , m_query(query) {
        if (query.range) {
            m_visible = visibleSteps(reader, query);
            m_window = windowOf(m_visible);
        }
        for (const StoredAttempt& attempt : reader.attempts(query.run)) {
            if (attempt.hasStarted && m_starts.empty())
                m_begin = attempt.startStep;
            if (attempt.hasStarted)
                m_starts.push_back(attempt.startedNs);
        }
        for (const auto& [applied, attempt] : reader.commands(query.run))
            if (applied.ok && applied.kind == "hold")
                m_holds.push_back(applied.wallNs);
        if (query.abandoned)
            m_past = abandonedLines(reader, query.run);
        // Another run's time and batches say nothing here.
        if (query.map.axis == XAxis::kStep)
            std::ranges::move(parentLines(reader, query.run), std::back_inserter(m_past));
    }

    Curve line(const MetricDef& metric) {
        Curve curve = metric.smooth ? smoothCurve(metric) : plainOrMean(metric, {});
        curve.format = metric.format;
        curve.low.clear(); // bands of several runs would hide each other
        curve.high.clear();
        return curve;
    }

    std::vector<Curve> curves(const ChartPanel& panel) {
        std::vector<Curve> curves = ownCurves(panel, panel.metrics);
        if (!panel.hasPast)
            return curves;
        const std::vector<MetricDef> metrics = pastMetrics(panel);
        for (const PastLine& line : m_past) {
            m_line = &line;
            for (Curve& curve : ownCurves(panel, metrics))
                if (makePast(curve, line, metrics.size() > 1); !curve.x.isEmpty())
                    curves.push_back(std::move(curve));
        }
        m_line = nullptr;
        return curves;
    }

private:
    static bool hasSmooth(const ChartPanel& panel) {
        return std::ranges::any_of(panel.metrics, &MetricDef::smooth);
    }

    /// Past lines show only the smoothed metric, if there is one, and never one line per rank: more
    /// would hide the current curves.
    static std::vector<MetricDef> pastMetrics(const ChartPanel& panel) {
        std::vector<MetricDef> metrics = panel.metrics;
        std::erase_if(metrics, [smoothAlone = hasSmooth(panel)](const MetricDef& metric) {
            return metric.ranks == MetricRanks::kEach || (smoothAlone && !metric.smooth);
        });
        return metrics;
    }

    std::vector<Curve> ownCurves(const ChartPanel& panel, const std::vector<MetricDef>& metrics) {
        const bool sharesSmoothing =
            std::ranges::count(panel.metrics, true, &MetricDef::smooth) > 1;
        std::vector<Curve> curves;
        for (const MetricDef& metric : metrics) {
            if (curves.size() >= kMaxCurves)
                break;
            for (Curve& curve : curvesOf(panel, metric, metrics.size() > 1)) {
                if (metric.smooth && sharesSmoothing && panel.ranks.empty())
                    nameOnly(curve, metric);
                else if (!metric.smooth && hasSmooth(panel))
                    curve.dash = Qt::DashLine;
                if (curve.colour < 0)
                    curve.colour = panel.colour + static_cast<int>(curves.size());
                curve.format = metric.format;
                curves.push_back(std::move(curve));
            }
        }
        return curves;
    }

    /// If a chart has several smoothed metrics, each is only a named line with its band, without
    /// raw values.
    static void nameOnly(Curve& curve, const MetricDef& metric) {
        curve.raw.clear();
        curve.brief = briefText(metric);
    }

    /// The registry's own word for a legend, else what people read elsewhere, without the unit.
    static QString briefText(const MetricDef& metric) {
        if (findBuiltinMetric(metric.name) && metric.brief.empty() && metric.label.empty())
            return QString::fromStdString(titleOf(metric)).section(" (", 0, 0);
        return ChartWords::tr(briefOf(metric).c_str());
    }

    std::vector<Curve> curvesOf(const ChartPanel& panel, const MetricDef& metric,
                                bool isOneOfSeveral) {
        if (!panel.ranks.empty())
            return chosenCurves(panel.ranks, metric, isOneOfSeveral);
        if (panel.shape == ChartShape::kRibbon && metric.scope == MetricScope::kRank &&
            m_query.ranks > 0)
            return {ribbon(metric, isOneOfSeveral)};
        if (metric.scope == MetricScope::kNode)
            return nodeCurves(metric, isOneOfSeveral);
        if (metric.scope == MetricScope::kRank && metric.ranks == MetricRanks::kEach)
            return rankCurves(metric, isOneOfSeveral);
        if (metric.smooth)
            return {smoothCurve(metric)};
        // The title of its chart names the only metric.
        return {plainOrMean(metric, isOneOfSeveral ? briefText(metric) : QString())};
    }

    Curve plainOrMean(const MetricDef& metric, const QString& brief) {
        return metric.ranks == MetricRanks::kMean && metric.scope == MetricScope::kRank
                   ? meanCurve(metric, brief)
                   : plainCurve(metric, brief);
    }

    /// Turns the curve into one of a past line: thin, named by the line, starting where the line
    /// diverged.
    static void makePast(Curve& curve, const PastLine& line, bool isOneOfSeveral) {
        curve.past = line.past;
        curve.attempt = line.attempt;
        curve.brief = isOneOfSeveral ? line.brief + ' ' + curve.brief : line.brief;
        curve.raw.clear();
        curve.lowRank.clear();
        curve.highRank.clear();
        const auto parted = std::lower_bound(curve.steps.begin(), curve.steps.end(),
                                             static_cast<double>(line.firstStep));
        const qsizetype first = std::max<qsizetype>(0, parted - curve.steps.begin() - 1);
        const bool hasSteps = parted != curve.steps.end();
        cutTo(curve, first, hasSteps ? curve.x.size() : first);
    }

    Buckets read(const MetricDef& metric, int rank) {
        return read(metric, rank, m_query.maxPoints);
    }

    Buckets read(const MetricDef& metric, int rank, int maxPoints) {
        return readIn(isWhole() ? Window() : m_window, metric, rank, maxPoints);
    }

    /// Whether lines are read from their beginnings to their ends: a past line may lie elsewhere on
    /// an axis of time.
    bool isWhole() const { return !m_query.range || (m_line && isTime(m_query.map.axis)); }

    Buckets readIn(const Window& window, const MetricDef& metric, int rank, int maxPoints) {
        const SeriesKey key{metric.name, rank};
        const Buckets buckets =
            m_line ? readBuckets(m_reader, *m_line, key, window.first, window.last, maxPoints)
                   : m_reader.buckets(m_query.run, key, std::max(window.first, firstOf(metric)),
                                      window.last, maxPoints);
        return isSampledBetweenSteps(metric) ? onePerStep(buckets) : buckets;
    }

    /// What the clock sampled is shown at its step.
    bool isSampledBetweenSteps(const MetricDef& metric) const {
        return metric.clock == MetricClock::kWall && !isTime(m_query.map.axis);
    }

    /// What the clock sampled before the first step of a branch stands at step 0, where the branch
    /// has nothing to show.
    int64_t firstOf(const MetricDef& metric) const {
        return isSampledBetweenSteps(metric) ? m_begin : 0;
    }

    /// Whether the run stood still between two points, so that no line leads from one to the other.
    bool isPauseBetween(const MetricDef& metric, int64_t firstNs, int64_t lastNs) const {
        const auto isBetween = [=](int64_t ns) { return firstNs < ns && ns <= lastNs; };
        // The clock samples a run that is held, too.
        return std::ranges::any_of(m_starts, isBetween) ||
               (metric.clock == MetricClock::kStep && std::ranges::any_of(m_holds, isBetween));
    }

    /// Merges what was sampled during one step into one point.
    static Buckets onePerStep(const Buckets& buckets) {
        Buckets merged;
        for (const Bucket& b : buckets) {
            if (merged.empty() || merged.back().lastStep != b.lastStep) {
                merged.push_back(b);
                continue;
            }
            Bucket& last = merged.back();
            const auto count = static_cast<float>(last.count + b.count);
            if (b.count > 0 && last.count > 0)
                last.mean = (last.mean * static_cast<float>(last.count) +
                             b.mean * static_cast<float>(b.count)) /
                            count;
            else if (b.count > 0)
                last.mean = b.mean;
            last.min = std::fmin(last.min, b.min);
            last.max = std::fmax(last.max, b.max);
            last.last = b.last;
            last.wallNs = b.wallNs;
            last.count += b.count;
        }
        return merged;
    }

    /// Those of further ranks than a mean needs are coarser, and only for addSpread().
    std::vector<Buckets> readRanks(const MetricDef& metric) {
        std::vector<Buckets> all;
        for (int rank = 0; rank < m_query.ranks; ++rank)
            all.push_back(read(metric, rank,
                               rank < kMaxMeanRanks
                                   ? m_query.maxPoints
                                   : std::max(1, m_query.maxPoints / kSpreadShare)));
        return all;
    }

    Curve axisOf(const MetricDef& metric, const QString& brief, const Buckets& buckets) const {
        Curve curve{
            .name = QString::fromStdString(metric.name), .brief = brief, .colour = kByPlace};
        for (const Bucket& b : buckets) {
            curve.x << xOf(m_query.map, b.lastStep, b.wallNs);
            curve.steps << static_cast<double>(b.lastStep);
        }
        for (size_t i = 1; isTime(m_query.map.axis) && i < buckets.size(); ++i)
            if (isPauseBetween(metric, buckets[i - 1].wallNs, buckets[i].wallNs))
                curve.breaks << static_cast<qsizetype>(i);
        return curve;
    }

    /// Adds a band from the minimum to the maximum of each bucket, if any has more than one value.
    static void addBand(Curve& curve, const Buckets& buckets) {
        if (std::ranges::none_of(buckets, [](const Bucket& b) { return b.count > 1; }))
            return;
        for (const Bucket& b : buckets) {
            curve.low << b.min;
            curve.high << b.max;
        }
    }

    Curve plainCurve(const MetricDef& metric, const QString& brief, int rank = 0) {
        const Buckets buckets = read(metric, rank);
        Curve curve = axisOf(metric, brief, buckets);
        for (const Bucket& b : buckets)
            curve.y << b.mean;
        addBand(curve, buckets);
        return curve;
    }

    Curve meanCurve(const MetricDef& metric, const QString& brief) {
        const std::vector<Buckets> ranks = readRanks(metric);
        if (ranks.empty())
            return axisOf(metric, brief, {});
        Curve curve = axisOf(metric, brief, ranks.front());
        curve.y = meanOverRanks(ranks);
        addSpread(curve, metric, ranks);
        return curve;
    }

    /// Steps that one tick of the smoothing stands for: of the whole line, whatever is in sight.
    double tickOf(const MetricDef& metric, int rank) {
        int64_t samples = 0, steps = 0;
        if (const Buckets all = readIn({}, metric, rank, 1); !all.empty()) {
            samples = all.front().count;
            steps = all.front().lastStep - all.front().firstStep;
        }
        return smoothingTick(
            static_cast<double>(m_query.lastStep),
            samples > 1 ? static_cast<double>(steps) / static_cast<double>(samples - 1) : 0);
    }

    Curve smoothCurve(const MetricDef& metric) {
        return smoothOf(metric, 0,
                        metric.ranks == MetricRanks::kMean ? readRanks(metric)
                                                           : std::vector<Buckets>{read(metric, 0)});
    }

    /// Of the mean of these ranks, from `first` on.
    Curve smoothOf(const MetricDef& metric, int first, const std::vector<Buckets>& ranks) {
        if (ranks.empty())
            return axisOf(metric, {}, {});
        const bool isSmooth = m_query.smoothing.weight > 0;
        Curve curve = axisOf(metric, isSmooth ? ChartWords::tr("smoothed") : ChartWords::tr("raw"),
                             ranks.front());
        const double tick = tickOf(metric, first);
        const auto [before, after] = around(metric, first, ranks.size(), tick);
        Means all = before;
        all.append(meansOf(ranks));
        all.append(after);
        curve.y = smoothed(all.steps, all.values, m_query.smoothing, tick,
                           {all.counts, before.steps.size(), curve.x.size()});
        curve.window = smoothingWindow(m_query.smoothing.weight, tick);
        if (isSmooth)
            for (const Bucket& b : ranks.front())
                curve.raw << b.last;
        addSpread(curve, metric, ranks);
        return curve;
    }

    /// Means over ranks, and of how many values of rank 0 each is.
    struct Means {
        QVector<double> steps, values, counts;

        void append(const Means& more) {
            steps += more.steps;
            values += more.values;
            counts += more.counts;
        }
    };

    static Means meansOf(const std::vector<Buckets>& ranks) {
        Means means;
        for (const Bucket& b : ranks.front()) {
            means.steps << static_cast<double>(b.lastStep);
            means.counts << static_cast<double>(std::max<int64_t>(1, b.count));
        }
        means.values = meanOverRanks(ranks);
        return means;
    }

    /// What smoothing counts before and behind the window, so that a smoothed value is the same at
    /// every zoom.
    std::pair<Means, Means> around(const MetricDef& metric, int first, size_t ranks, double tick) {
        if (isWhole())
            return {};
        const SmoothingReach reach = smoothingReach(m_query.smoothing, tick);
        const auto steps = [](double count) { return static_cast<int64_t>(std::ceil(count)); };
        const auto read = [&](Window window) {
            window.first = std::max<int64_t>(0, window.first);
            if (window.first > window.last)
                return Means();
            const double share = window.width() / std::max(1.0, m_window.width());
            const int points =
                std::max(1, static_cast<int>(m_query.maxPoints * std::min(kMostAround, share)));
            std::vector<Buckets> all;
            for (int rank = first; all.size() < std::min<size_t>(ranks, kMaxMeanRanks); ++rank)
                all.push_back(readIn(window, metric, rank, points));
            return meansOf(all);
        };
        return {read({m_visible.first - steps(reach.before), m_window.first - 1}),
                read({m_window.last + 1, m_visible.last + steps(reach.after)})};
    }

    static QString nameOf(const MetricDef& metric, const QString& whose, bool isOneOfSeveral) {
        return isOneOfSeveral ? briefText(metric) + ' ' + whose : whose;
    }

    std::vector<Curve> rankCurves(const MetricDef& metric, bool isOneOfSeveral) {
        if (m_query.ranks > kMaxRankCurves)
            return {ribbon(metric, isOneOfSeveral)};
        std::vector<Curve> curves;
        for (int rank = 0; rank < m_query.ranks; ++rank) {
            curves.push_back(plainCurve(
                metric, nameOf(metric, ChartWords::tr("rank %1").arg(rank), isOneOfSeveral), rank));
            if (!isOneOfSeveral)
                curves.back().colour = rank; // the same in all charts
        }
        return curves;
    }

    /// Those of the ranks that a person has chosen, or of the nodes that these are on.
    std::vector<Curve> chosenCurves(const std::vector<int>& ranks, const MetricDef& metric,
                                    bool isOneOfSeveral) {
        std::vector<Curve> curves;
        std::set<int> read;
        for (const int rank : ranks) {
            const auto [series, whose] = seriesOf(metric, rank);
            if (rank >= m_query.ranks || !read.insert(series).second)
                continue;
            if (curves.size() >= kMaxCurves)
                break;
            const QString brief = nameOf(metric, whose, isOneOfSeveral);
            if (!metric.smooth) {
                curves.push_back(plainCurve(metric, brief, series));
                continue;
            }
            curves.push_back(smoothOf(metric, series, {this->read(metric, series)}));
            curves.back().brief = brief;
            curves.back().isRawNamed = false;
        }
        return curves;
    }

    /// The rank under which the metric is stored of this one, and what a line of it is called.
    std::pair<int, QString> seriesOf(const MetricDef& metric, int rank) const {
        if (metric.scope == MetricScope::kRun)
            return {0, ChartWords::tr("run")};
        if (metric.scope == MetricScope::kNode)
            for (const RunNode& node : m_query.nodes)
                if (rank >= node.firstRank && rank < node.firstRank + node.ranks)
                    return {node.firstRank, nodeTitle(node.nodeName)};
        return {rank, ChartWords::tr("rank %1").arg(rank)};
    }

    /// A node's series are stored under its first rank.
    std::vector<Curve> nodeCurves(const MetricDef& metric, bool isOneOfSeveral) {
        std::vector<Curve> curves;
        for (const RunNode& node : m_query.nodes)
            if (node.ranks > 0 && curves.size() < kMaxNodeCurves)
                curves.push_back(
                    plainCurve(metric, nameOf(metric, nodeTitle(node.nodeName), isOneOfSeveral),
                               node.firstRank));
        return curves;
    }

    struct RankValue {
        double value;
        int rank;
    };

    /// The values of all ranks in the buckets at the end step of rank 0's bucket `at`.
    static std::vector<RankValue> column(const std::vector<Buckets>& ranks, size_t at,
                                         std::vector<size_t>& cursors) {
        std::vector<RankValue> values;
        const int64_t step = ranks.front()[at].lastStep;
        for (size_t rank = 0; rank < ranks.size(); ++rank) {
            size_t& cursor = cursors[rank];
            while (cursor < ranks[rank].size() && ranks[rank][cursor].lastStep < step)
                ++cursor;
            if (cursor < ranks[rank].size() && std::isfinite(ranks[rank][cursor].mean))
                values.push_back({ranks[rank][cursor].mean, static_cast<int>(rank)});
        }
        return values;
    }

    static QVector<double> meanOverRanks(const std::vector<Buckets>& ranks) {
        QVector<double> means;
        std::vector<size_t> cursors(ranks.size(), 0);
        for (size_t at = 0; at < ranks.front().size(); ++at) {
            const std::vector<RankValue> values = column(ranks, at, cursors);
            double sum = 0;
            size_t count = 0;
            for (const RankValue& each : values)
                if (each.rank < kMaxMeanRanks) {
                    sum += each.value;
                    ++count;
                }
            means << (count == 0 ? qQNaN() : sum / static_cast<double>(count));
        }
        return means;
    }

    /// Where a bucket ends, on the clock of the metric.
    int64_t endOf(const MetricDef& metric, const Bucket& bucket) const {
        return metric.clock == MetricClock::kWall && !isSampledBetweenSteps(metric)
                   ? bucket.wallNs
                   : bucket.lastStep;
    }

    struct Spread {
        RankValue least{qQNaN(), 0}, most{qQNaN(), 0};

        void add(const Bucket& bucket, int rank) {
            if (bucket.count == 0)
                return;
            const double low = bucket.min, high = bucket.max;
            if (std::isnan(least.value) || low < least.value)
                least = {low, rank};
            if (std::isnan(most.value) || high > most.value)
                most = {high, rank};
        }
    };

    /// The least and most of all ranks by the buckets of rank 0. What lies across the ends of these
    /// counts for both, and what lies before the first or behind the last for that one, so that no
    /// value is left out.
    std::vector<Spread> spreads(const MetricDef& metric, const std::vector<Buckets>& ranks) const {
        const Buckets& columns = ranks.front();
        std::vector<Spread> all(columns.size());
        for (size_t rank = 0; rank < ranks.size(); ++rank) {
            size_t at = 0;
            for (const Bucket& bucket : ranks[rank]) {
                const int64_t end = endOf(metric, bucket);
                while (at + 1 < all.size() && columns[at].lastStep < bucket.firstStep)
                    ++at;
                if (at >= all.size())
                    break;
                all[at].add(bucket, static_cast<int>(rank));
                while (at + 1 < all.size() && endOf(metric, columns[at]) < end)
                    all[++at].add(bucket, static_cast<int>(rank));
                if (at + 1 < all.size() && endOf(metric, columns[at]) == end)
                    ++at;
            }
        }
        return all;
    }

    void addSpread(Curve& curve, const MetricDef& metric, const std::vector<Buckets>& ranks) const {
        const std::vector<Spread> all = spreads(metric, ranks);
        if (std::ranges::none_of(
                all, [](const Spread& each) { return each.least.value < each.most.value; }))
            return; // each point is one value
        for (const Spread& each : all) {
            curve.low << each.least.value;
            curve.high << each.most.value;
        }
    }

    Curve ribbon(const MetricDef& metric, bool isOneOfSeveral) {
        std::vector<Buckets> ranks;
        for (int rank = 0; rank < m_query.ranks; ++rank)
            ranks.push_back(read(metric, rank));
        Curve curve =
            axisOf(metric, nameOf(metric, ChartWords::tr("median"), isOneOfSeveral), ranks.front());
        std::vector<size_t> cursors(ranks.size(), 0);
        for (size_t at = 0; at < ranks.front().size(); ++at) {
            std::vector<RankValue> values = column(ranks, at, cursors);
            std::ranges::sort(values, {}, &RankValue::value);
            curve.y << (values.empty() ? qQNaN() : values[values.size() / 2].value);
        }
        for (const Spread& each : spreads(metric, ranks)) {
            curve.low << each.least.value;
            curve.lowRank << each.least.rank;
            curve.high << each.most.value;
            curve.highRank << each.most.rank;
        }
        return curve;
    }

    StoreReader& m_reader;
    const ChartQuery& m_query;
    Window m_visible;              ///< what is in sight; all where the query has no range
    Window m_window;               ///< what is read of a line
    int64_t m_begin = 0;           ///< where the run itself begins
    std::vector<int64_t> m_starts; ///< when its attempts began
    std::vector<int64_t> m_holds;  ///< when it was held
    std::vector<PastLine> m_past;
    const PastLine* m_line = nullptr; ///< the line being read; null: the living one
};

} // namespace

std::optional<TimedSpan> spanBetween(StoreReader& reader, const QString& run, const AxisMap& map,
                                     double low, double high) {
    constexpr double kRounding = 1e-6; // of a step, by which its place on an axis is not exact
    const auto whole = [](double step) { return static_cast<int64_t>(std::max(0.0, step)); };
    const auto span =
        isTime(map.axis)
            ? stepsOfRun(reader, run, SpanTimes{wallNsOf(map, low), wallNsOf(map, high)})
            : stepsOfRun(reader, run,
                         StepSpan{whole(std::ceil(stepOf(map, low) - kRounding)),
                                  whole(std::floor(stepOf(map, high) + kRounding))});
    return span && !span->isWholeRun() ? std::optional(*span) : std::nullopt;
}

std::pair<double, double> rangeOf(StoreReader& reader, const QString& run, const AxisMap& map,
                                  const TimedSpan& span) {
    constexpr int64_t kRounded = 999; // ns by which a place on an axis of time lies before a moment
    const std::optional<Point> newest = reader.lastPoint(run, stepSeries());
    const bool isOpen = span.steps.last == StepSpan::kLast;
    const int64_t last = !isOpen ? span.steps.last : newest ? newest->step : span.steps.first;
    const int64_t lastNs = !isOpen ? span.times.lastNs : newest ? newest->wallNs : map.startNs;
    // A single step has room on both sides.
    const double half = span.steps.first == last && !isTime(map.axis)
                            ? (xOf(map, last, 0) - xOf(map, last - 1, 0)) / 2
                            : 0;
    return {xOf(map, span.steps.first, std::max(span.times.firstNs, map.startNs) + kRounded) - half,
            xOf(map, last, lastNs + kRounded) + half};
}

ChartQuery queryOf(const RunSummary& run) {
    return {.run = run.id, .ranks = run.ranks, .nodes = run.nodes, .lastStep = run.step};
}

void cutTo(Curve& curve, qsizetype first, qsizetype end) {
    const auto cut = [=](auto& values) {
        if (!values.isEmpty())
            values = values.mid(first, end - first);
    };
    for (QVector<double>* each :
         {&curve.x, &curve.y, &curve.raw, &curve.low, &curve.high, &curve.steps})
        cut(*each);
    cut(curve.lowRank);
    cut(curve.highRank);
    curve.breaks.removeIf([=](qsizetype at) { return at <= first || at >= end; });
    for (qsizetype& at : curve.breaks)
        at -= first;
}

QString titleOf(const Curve& curve) {
    const MetricDef metric{.name = curve.name.toStdString()};
    return QStringList{QString::fromStdString(titleOf(metric)), curve.brief}.join(' ').trimmed();
}

Curve readLine(StoreReader& reader, const ChartQuery& query, const MetricDef& metric) {
    return PanelReader(reader, query).line(metric);
}

std::vector<PanelCurves> readPanels(StoreReader& reader, const ChartQuery& query) {
    std::vector<PanelCurves> answer;
    PanelReader curves(reader, query);
    const std::vector<MetricDef> metrics = reader.metrics(query.run);
    std::vector<ChartPanel> panels = panelsOf(metrics);
    for (const OwnChart& chart : query.own)
        if (ChartPanel panel = ownPanel(chart, metrics); !panel.metrics.empty())
            panels.push_back(std::move(panel));
    for (ChartPanel& panel : panels) {
        const bool isRead = std::ranges::find(query.panels, panel.key) != query.panels.end();
        std::vector<Curve> read = isRead ? curves.curves(panel) : std::vector<Curve>();
        answer.push_back({std::move(panel), isRead, std::move(read)});
    }
    return answer;
}

} // namespace rm
