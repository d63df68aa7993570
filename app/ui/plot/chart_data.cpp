// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/chart_data.h"

#include "app/core/store/run_metrics.h"
#include "app/ui/data/run_figures.h"
#include "app/ui/plot/past_lines.h"
#include "app/ui/plot/smoothing.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace rm {

namespace {

constexpr int kIndexBuckets = 512;
constexpr int kMaxMeanRanks = 16; ///< more add nothing to a mean that a person could see
constexpr int kMaxRankCurves = 8; ///< more ranks are a ribbon
constexpr double kRunUp = 0.25;   ///< of the visible range, so that smoothing has a past

struct Words {
    Q_DECLARE_TR_FUNCTIONS(Charts)
};

using Buckets = std::vector<Bucket>;

/// The visible range in steps.
struct Window {
    int64_t first = 0, last = INT64_MAX;
};

Window windowOf(StoreReader& reader, const ChartQuery& query) {
    if (!query.range)
        return {};
    const auto [low, high] = *query.range;
    Window window;
    if (query.axis == XAxis::kStep) {
        window = {static_cast<int64_t>(std::floor(low)), static_cast<int64_t>(std::ceil(high))};
    } else {
        window = {query.lastStep, 0};
        for (const Bucket& b :
             reader.buckets(query.run, {"train/loss", 0}, 0, INT64_MAX, kIndexBuckets)) {
            const double x = xOf(query.axis, query.startNs, b.lastStep, b.wallNs);
            if (x >= low)
                window.first = std::min(window.first, b.firstStep);
            if (x <= high)
                window.last = std::max(window.last, b.lastStep);
        }
    }
    const auto runUp =
        static_cast<int64_t>(static_cast<double>(window.last - window.first) * kRunUp);
    return {std::max<int64_t>(0, window.first - runUp), window.last + 1};
}

class PanelReader {
public:
    PanelReader(StoreReader& reader, const ChartQuery& query)
        : m_reader(reader)
        , m_query(query)
        , m_window(windowOf(reader, query)) {
        if (query.abandoned)
            m_past = abandonedLines(reader, query.run);
        if (query.axis == XAxis::kStep) // another run's time says nothing here
            std::ranges::move(parentLines(reader, query.run), std::back_inserter(m_past));
    }

    std::vector<Curve> curves(Panel panel) {
        std::vector<Curve> curves = livingCurves(panel);
        for (const PastLine& line : m_past) {
            m_line = &line;
            for (Curve& curve : pastCurves(panel))
                if (makePast(curve, line, panel == Panel::kQuality); !curve.x.isEmpty())
                    curves.push_back(std::move(curve));
        }
        m_line = nullptr;
        return curves;
    }

private:
    std::vector<Curve> livingCurves(Panel panel) {
        switch (panel) {
        case Panel::kLoss:
            return {smoothCurve("train/loss", 0, true), validation()};
        case Panel::kQuality:
            return quality();
        case Panel::kLr:
            return {lastSection("train/lr", 2)};
        case Panel::kGradNorm:
            return {smoothCurve("train/grad_norm", 4, false)};
        case Panel::kThroughput:
            return throughput();
        case Panel::kPhases:
            return phases();
        }
        Q_UNREACHABLE();
    }

    /// Only the one that matters of each chart: more would hide what the run does now.
    std::vector<Curve> pastCurves(Panel panel) {
        switch (panel) {
        case Panel::kLoss:
            return {smoothCurve("train/loss", 0, true)};
        case Panel::kQuality:
        case Panel::kLr:
        case Panel::kGradNorm:
            return livingCurves(panel);
        case Panel::kThroughput:
        case Panel::kPhases:
            return {};
        }
        Q_UNREACHABLE();
    }

    /// Makes a curve one of the past: thin, named by its line, from where it parted on.
    static void makePast(Curve& curve, const PastLine& line, bool isOneOfSeveral) {
        curve.past = line.past;
        curve.attempt = line.attempt;
        curve.brief = isOneOfSeveral ? line.brief + ' ' + curve.brief : line.brief;
        curve.raw.clear();
        curve.low.clear();
        curve.high.clear();
        const auto parted = std::lower_bound(curve.steps.begin(), curve.steps.end(),
                                             static_cast<double>(line.firstStep));
        const qsizetype first = std::max<qsizetype>(0, parted - curve.steps.begin() - 1);
        const bool hasSteps = parted != curve.steps.end();
        for (QVector<double>* each : {&curve.x, &curve.y, &curve.steps})
            *each = hasSteps ? each->mid(first) : QVector<double>();
    }

    Buckets read(const char* metric, int rank) {
        if (m_line) // by the clock it need not be where the run is
            return m_query.axis == XAxis::kStep
                       ? readBuckets(m_reader, *m_line, {metric, rank}, m_window.first,
                                     m_window.last, m_query.maxPoints)
                       : readBuckets(m_reader, *m_line, {metric, rank}, 0, INT64_MAX,
                                     m_query.maxPoints);
        return m_reader.buckets(m_query.run, {metric, rank}, m_window.first, m_window.last,
                                m_query.maxPoints);
    }

    std::vector<Buckets> readRanks(const char* metric, int limit) {
        std::vector<Buckets> all;
        for (int rank = 0; rank < std::min(m_query.ranks, limit); ++rank)
            all.push_back(read(metric, rank));
        return all;
    }

    Curve axisOf(const char* metric, const QString& brief, int colour,
                 const Buckets& buckets) const {
        Curve curve{.name = metric, .brief = brief, .colour = colour};
        for (const Bucket& b : buckets) {
            curve.x << xOf(m_query.axis, m_query.startNs, b.lastStep, b.wallNs);
            curve.steps << static_cast<double>(b.lastStep);
        }
        return curve;
    }

    /// Between the least and the greatest of each bucket, where there is more than one value in it.
    static void addBand(Curve& curve, const Buckets& buckets) {
        if (std::ranges::none_of(buckets, [](const Bucket& b) { return b.count > 1; }))
            return;
        for (const Bucket& b : buckets) {
            curve.low << b.min;
            curve.high << b.max;
        }
    }

    Curve plainCurve(const char* metric, const QString& brief, int colour, int rank = 0) {
        const Buckets buckets = read(metric, rank);
        Curve curve = axisOf(metric, brief, colour, buckets);
        for (const Bucket& b : buckets)
            curve.y << b.mean;
        addBand(curve, buckets);
        return curve;
    }

    Curve lastSection(const char* metric, int colour) {
        return plainCurve(metric, QString(metric).section('/', 1), colour);
    }

    /// Steps that one tick of the smoothing stands for.
    double tickOf(const Buckets& buckets) const {
        int64_t samples = 0;
        for (const Bucket& b : buckets)
            samples += b.count;
        const double steps =
            samples > 1 ? static_cast<double>(buckets.back().lastStep - buckets.front().firstStep) /
                              static_cast<double>(samples - 1)
                        : 0;
        return smoothingTick(static_cast<double>(m_query.lastStep), steps);
    }

    Curve smoothCurve(const char* metric, int colour, bool overRanks) {
        const std::vector<Buckets> ranks = readRanks(metric, overRanks ? kMaxMeanRanks : 1);
        if (ranks.empty())
            return {.name = metric, .brief = {}, .colour = colour};
        const bool isSmooth = m_query.smoothing > 0;
        Curve curve = axisOf(metric, isSmooth ? Words::tr("smoothed") : Words::tr("raw"), colour,
                             ranks.front());
        const double tick = tickOf(ranks.front());
        curve.y = smoothed(curve.steps, meanOverRanks(ranks), m_query.smoothing, tick);
        curve.window = smoothingWindow(m_query.smoothing, tick);
        if (isSmooth)
            for (const Bucket& b : ranks.front())
                curve.raw << b.last;
        addBand(curve, ranks.front());
        return curve;
    }

    Curve validation() {
        Curve curve = plainCurve("validation/loss", Words::tr("validation"), 1);
        curve.dash = Qt::DashLine;
        return curve;
    }

    std::vector<Curve> quality() {
        static constexpr int kColours[] = {3, 6};
        std::vector<Curve> curves;
        for (const MetricDef* metric : qualityMetrics(m_reader, m_query.run))
            curves.push_back(lastSection(metric->name.c_str(), kColours[curves.size() % 2]));
        return curves;
    }

    std::vector<Curve> throughput() {
        const std::string& metric = throughputMetric(m_reader, m_query.run).name;
        if (m_query.ranks > kMaxRankCurves)
            return {ribbon(metric.c_str(), 5)};
        std::vector<Curve> curves;
        for (int rank = 0; rank < m_query.ranks; ++rank) {
            Curve curve = plainCurve(metric.c_str(), Words::tr("rank %1").arg(rank), rank, rank);
            curve.low.clear();
            curve.high.clear();
            curves.push_back(std::move(curve));
        }
        return curves;
    }

    std::vector<Curve> phases() {
        std::vector<Curve> curves;
        for (size_t phase = 0; phase < kStepPhases.size(); ++phase) {
            Curve curve = smoothCurve(kStepPhases[phase].metric, static_cast<int>(phase), true);
            curve.raw.clear();
            curve.low.clear();
            curve.high.clear();
            curve.brief = Words::tr(kStepPhases[phase].brief);
            curves.push_back(std::move(curve));
        }
        return curves;
    }

    struct RankValue {
        double value;
        int rank;
    };

    /// Values of the other ranks in the bucket that ends where this one of rank 0 does.
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
            for (const RankValue& each : values)
                sum += each.value;
            means << (values.empty() ? qQNaN() : sum / static_cast<double>(values.size()));
        }
        return means;
    }

    Curve ribbon(const char* metric, int colour) {
        const std::vector<Buckets> ranks = readRanks(metric, m_query.ranks);
        Curve curve = axisOf(metric, Words::tr("median"), colour, ranks.front());
        std::vector<size_t> cursors(ranks.size(), 0);
        for (size_t at = 0; at < ranks.front().size(); ++at) {
            std::vector<RankValue> values = column(ranks, at, cursors);
            if (values.empty())
                values.push_back({qQNaN(), 0});
            std::ranges::sort(values, {}, &RankValue::value);
            curve.low << values.front().value;
            curve.lowRank << values.front().rank;
            curve.high << values.back().value;
            curve.highRank << values.back().rank;
            curve.y << values[values.size() / 2].value;
        }
        return curve;
    }

    StoreReader& m_reader;
    const ChartQuery& m_query;
    Window m_window;
    std::vector<PastLine> m_past;
    const PastLine* m_line = nullptr; ///< that is read; null: the living one
};

} // namespace

double xOf(XAxis axis, int64_t startNs, int64_t step, int64_t wallNs) {
    switch (axis) {
    case XAxis::kStep:
        return static_cast<double>(step);
    case XAxis::kRelative:
        return static_cast<double>(wallNs - startNs) / 1e9;
    case XAxis::kWall:
        return static_cast<double>(wallNs / 1000) / 1e6;
    }
    Q_UNREACHABLE();
}

std::optional<int64_t> stepAt(StoreReader& reader, const QString& run, int64_t wallNs) {
    std::optional<int64_t> step;
    for (const Bucket& b : reader.buckets(run, {"train/loss", 0}, 0, INT64_MAX, kIndexBuckets))
        if (!step || b.wallNs <= wallNs)
            step = b.lastStep;
    return step;
}

std::vector<PanelCurves> readPanels(StoreReader& reader, const ChartQuery& query) {
    std::vector<PanelCurves> answer;
    PanelReader panels(reader, query);
    for (const Panel panel : query.panels)
        answer.push_back({panel, panels.curves(panel)});
    return answer;
}

} // namespace rm
