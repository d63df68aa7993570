// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/chart_panels.h"

#include "app/ui/look/format.h"
#include "shared/metrics/metric_title.h"

#include <QStringList>

#include <algorithm>
#include <map>

namespace rm {

namespace {

using Metrics = std::vector<MetricDef>;

QString text(const std::string& utf8) {
    return QString::fromStdString(utf8);
}

bool isOurs(const MetricDef& metric) {
    return findBuiltinMetric(metric.name) != nullptr;
}

/// Metrics of one panel by their units, in the order of their places.
std::vector<Metrics> byUnit(Metrics metrics) {
    std::ranges::stable_sort(metrics, {}, [](const MetricDef& metric) {
        return std::pair(!isOurs(metric), metric.place); // Ringmaster's first, then the run's own
    });
    std::vector<Metrics> groups;
    for (MetricDef& metric : metrics) {
        const auto group = std::ranges::find_if(
            groups, [&metric](const Metrics& each) { return each.front().unit == metric.unit; });
        if (group == groups.end())
            groups.push_back({std::move(metric)});
        else
            group->push_back(std::move(metric));
    }
    return groups;
}

/// The first group keeps the panel's key, so that its chart does not move when others are added.
QString keyOf(const QString& panel, const Metrics& group, bool isFirst) {
    return isFirst ? panel : panel + ':' + text(group.front().unit);
}

QStringList titlesOf(const Metrics& metrics) {
    QStringList titles;
    for (const MetricDef& metric : metrics)
        titles << text(titleOf(metric));
    return titles;
}

ChartPanel registered(const MetricPanel& row, Metrics group, bool isFirst) {
    ChartPanel panel{.key = keyOf(text(row.key), group, isFirst),
                     .title = text(row.title),
                     .colour = row.colour,
                     .fromZero = row.fromZero,
                     .canBeLog = row.canBeLog,
                     .hasPast = row.hasPast,
                     .isMain = row.isMain && isFirst};
    if (panel.title.contains("%1"))
        panel.title = panel.title.arg(titlesOf(group).join(kSeparator));
    panel.metrics = std::move(group);
    return panel;
}

ChartPanel own(const QString& name, Metrics group, bool isFirst) {
    const std::string& unit = group.front().unit;
    ChartPanel panel{.key = keyOf(name, group, isFirst),
                     .title = unit.empty() ? name : name + " (" + text(unit) + ')'};
    panel.metrics = std::move(group);
    return panel;
}

/// Before its first value a chart is made for the first of Ringmaster's own metrics of the panel.
Metrics expected(const MetricPanel& row) {
    const std::vector<const MetricDef*> metrics = metricsOfPanel(row.key);
    return {*metrics.front()};
}

} // namespace

std::vector<ChartPanel> panelsOf(const std::vector<MetricDef>& metrics) {
    std::vector<ChartPanel> panels;
    std::map<std::string, Metrics> rest; // by panel
    for (const MetricDef& metric : metrics)
        rest[metric.panel.empty() ? metric.name : metric.panel].push_back(metric);
    for (const MetricPanel& row : metricPanels()) {
        const auto found = rest.extract(row.key);
        const std::vector<Metrics> groups = byUnit(found            ? found.mapped()
                                                   : row.isStanding ? expected(row)
                                                                    : Metrics());
        for (size_t i = 0; i < groups.size(); ++i)
            panels.push_back(registered(row, groups[i], i == 0));
    }
    std::vector<ChartPanel> others;
    for (const auto& [panel, members] : rest) {
        const std::vector<Metrics> groups = byUnit(members);
        for (size_t i = 0; i < groups.size(); ++i)
            others.push_back(own(text(panel), groups[i], i == 0));
    }
    std::ranges::stable_sort(others, {}, [](const ChartPanel& panel) {
        const std::string& name = panel.metrics.front().name;
        return name.substr(0, name.find('/'));
    });
    std::ranges::move(others, std::back_inserter(panels));
    return panels;
}

ChartPanel ownPanel(const OwnChart& chart, const std::vector<MetricDef>& metrics) {
    ChartPanel panel{.key = text(chart.key),
                     .title = text(chart.title),
                     .hasPast = chart.ranks.empty() && chart.shape == ChartShape::kLines,
                     .ranks = chart.ranks,
                     .shape = chart.shape};
    for (const std::string& name : chart.metrics)
        if (const auto found = std::ranges::find(metrics, name, &MetricDef::name);
            found != metrics.end())
            panel.metrics.push_back(*found);
    if (panel.title.isEmpty())
        panel.title = titlesOf(panel.metrics).join(kSeparator);
    return panel;
}

} // namespace rm
