// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/chart_data.h"

#include "app/core/store/run_metrics.h"
#include "app/ui/data/run_figures.h"
#include "app/ui/plot/smoothing.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace rm {

namespace {

constexpr int kIndexBuckets = 512;
constexpr int kMaxMeanRanks = 16; ///< more add nothing to a mean that a person could see
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
        , m_window(windowOf(reader, query)) {}

    std::vector<Curve> curves(Panel panel) {
        switch (panel) {
        case Panel::kLoss:
            return {smoothCurve("train/loss", 0, true), validation()};
        case Panel::kQuality:
            return quality();
        case Panel::kLr:
            return {plainCurve("train/lr", 2)};
        case Panel::kGradNorm:
            return {smoothCurve("train/grad_norm", 4, false)};
        case Panel::kThroughput:
            return {ribbon(throughputMetric(m_reader, m_query.run).name.c_str(), 5)};
        case Panel::kPhases:
            return phases();
        }
        Q_UNREACHABLE();
    }

private:
    Buckets read(const char* metric, int rank) {
        return m_reader.buckets(m_query.run, {metric, rank}, m_window.first, m_window.last,
                                m_query.maxPoints);
    }

    std::vector<Buckets> readRanks(const char* metric, int limit) {
        std::vector<Buckets> all;
        for (int rank = 0; rank < std::min(m_query.ranks, limit); ++rank)
            all.push_back(read(metric, rank));
        return all;
    }

    Curve axisOf(const char* metric, int colour, const Buckets& buckets) const {
        Curve curve{.name = metric, .colour = colour};
        for (const Bucket& b : buckets) {
            curve.x << xOf(m_query.axis, m_query.startNs, b.lastStep, b.wallNs);
            curve.steps << static_cast<double>(b.lastStep);
        }
        return curve;
    }

    Curve plainCurve(const char* metric, int colour) {
        const Buckets buckets = read(metric, 0);
        Curve curve = axisOf(metric, colour, buckets);
        for (const Bucket& b : buckets)
            curve.y << b.mean;
        return curve;
    }

    Curve smoothCurve(const char* metric, int colour, bool overRanks) {
        const std::vector<Buckets> ranks = readRanks(metric, overRanks ? kMaxMeanRanks : 1);
        if (ranks.empty())
            return {.name = metric, .colour = colour};
        Curve curve = axisOf(metric, colour, ranks.front());
        curve.y = smoothed(curve.steps, meanOverRanks(ranks), m_query.smoothing,
                           static_cast<double>(m_query.lastStep));
        for (const Bucket& b : ranks.front())
            curve.raw << b.last;
        return curve;
    }

    Curve validation() {
        Curve curve = plainCurve("validation/loss", 1);
        curve.dash = Qt::DashLine;
        return curve;
    }

    std::vector<Curve> quality() {
        static constexpr int kColours[] = {3, 6};
        std::vector<Curve> curves;
        for (const MetricDef* metric : qualityMetrics(m_reader, m_query.run))
            curves.push_back(plainCurve(metric->name.c_str(), kColours[curves.size() % 2]));
        return curves;
    }

    std::vector<Curve> phases() {
        std::vector<Curve> curves;
        for (size_t phase = 0; phase < kStepPhases.size(); ++phase) {
            Curve curve = smoothCurve(kStepPhases[phase].metric, static_cast<int>(phase), true);
            curve.raw.clear();
            curve.name = Words::tr(kStepPhases[phase].brief);
            curves.push_back(std::move(curve));
        }
        return curves;
    }

    /// Values of the other ranks in the bucket that ends where this one of rank 0 does.
    static std::vector<double> column(const std::vector<Buckets>& ranks, size_t at,
                                      std::vector<size_t>& cursors) {
        std::vector<double> values;
        const int64_t step = ranks.front()[at].lastStep;
        for (size_t rank = 0; rank < ranks.size(); ++rank) {
            size_t& cursor = cursors[rank];
            while (cursor < ranks[rank].size() && ranks[rank][cursor].lastStep < step)
                ++cursor;
            if (cursor < ranks[rank].size() && std::isfinite(ranks[rank][cursor].mean))
                values.push_back(ranks[rank][cursor].mean);
        }
        return values;
    }

    static QVector<double> meanOverRanks(const std::vector<Buckets>& ranks) {
        QVector<double> means;
        std::vector<size_t> cursors(ranks.size(), 0);
        for (size_t at = 0; at < ranks.front().size(); ++at) {
            const std::vector<double> values = column(ranks, at, cursors);
            double sum = 0;
            for (const double value : values)
                sum += value;
            means << (values.empty() ? qQNaN() : sum / static_cast<double>(values.size()));
        }
        return means;
    }

    Curve ribbon(const char* metric, int colour) {
        const std::vector<Buckets> ranks = readRanks(metric, m_query.ranks);
        if (ranks.empty())
            return {.name = metric, .colour = colour};
        Curve curve = axisOf(metric, colour, ranks.front());
        std::vector<size_t> cursors(ranks.size(), 0);
        for (size_t at = 0; at < ranks.front().size(); ++at) {
            std::vector<double> values = column(ranks, at, cursors);
            std::ranges::sort(values);
            const bool known = !values.empty();
            curve.low << (known ? values.front() : qQNaN());
            curve.high << (known ? values.back() : qQNaN());
            curve.y << (known ? values[values.size() / 2] : qQNaN());
        }
        return curve;
    }

    StoreReader& m_reader;
    const ChartQuery& m_query;
    Window m_window;
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
