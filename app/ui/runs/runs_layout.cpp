// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/runs/runs_layout.h"

#include "app/core/runs/run_groups.h"
#include "app/core/runs/run_values.h"
#include "app/core/settings/paths.h"

#include <QSettings>

#include <algorithm>

namespace rm {

RunsLayout readRunsLayout(const Paths& paths) {
    QSettings settings(paths.settings(), QSettings::IniFormat);
    settings.beginGroup("runs");
    RunsLayout layout;
    for (const QString& key : settings.value("columns").toStringList())
        if (parseValueKey(key.toStdString()))
            layout.keys.push_back(key.toStdString());
    layout.order = settings.value("order").toStringList();
    layout.placed = settings.value("placed").toStringList();
    layout.filter = settings.value("filter").toString();
    const QStringList names = settings.value("resized").toStringList();
    const QStringList widths = settings.value("widths").toStringList();
    for (qsizetype at = 0; at < std::min(names.size(), widths.size()); ++at)
        if (const int width = widths[at].toInt(); width > 0)
            layout.widths[names[at]] = width;
    layout.sortedBy = settings.value("sorted_by", layout.sortedBy).toString();
    layout.isDescending = settings.value("descending", layout.isDescending).toBool();
    if (const auto group = settings.value("group").toString().toStdString(); checkGroupKey(group))
        layout.group = group;
    const QStringList folded = settings.value("folded").toStringList();
    layout.folded = QSet<QString>(folded.begin(), folded.end());
    return layout;
}

void writeRunsLayout(const Paths& paths, const RunsLayout& layout) {
    QStringList keys, names, widths;
    for (const std::string& key : layout.keys)
        keys << QString::fromStdString(key);
    for (const auto& [name, width] : layout.widths) {
        names << name;
        widths << QString::number(width);
    }
    QSettings settings(paths.settings(), QSettings::IniFormat);
    settings.beginGroup("runs");
    settings.setValue("columns", keys);
    settings.setValue("order", layout.order);
    settings.setValue("placed", layout.placed);
    settings.setValue("filter", layout.filter);
    settings.setValue("resized", names);
    settings.setValue("widths", widths);
    settings.setValue("sorted_by", layout.sortedBy);
    settings.setValue("descending", layout.isDescending);
    settings.setValue("group", QString::fromStdString(layout.group));
    settings.setValue("folded", QStringList(layout.folded.begin(), layout.folded.end()));
}

QStringList orderedColumns(const QStringList& columns, const QStringList& wanted) {
    QStringList order;
    for (const QString& column : wanted)
        if (columns.contains(column) && !order.contains(column))
            order << column;
    for (qsizetype at = 0; at < columns.size(); ++at)
        if (!order.contains(columns[at]))
            order.insert(at == 0 ? 0 : order.indexOf(columns[at - 1]) + 1, columns[at]);
    return order;
}

} // namespace rm
