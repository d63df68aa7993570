// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSet>
#include <QString>
#include <QStringList>

#include <map>
#include <string>
#include <vector>

namespace rm {

struct Paths;

/// How a person has arranged the table of runs, kept from start to start. Columns are named by
/// RunsModel::columnId().
struct RunsLayout {
    std::vector<std::string> keys = {}; ///< settings and metrics that are columns
    QStringList order = {};             ///< from left to right; empty: as it is at first
    QStringList placed = {};            ///< columns that a person has moved
    std::map<QString, int> widths = {}; ///< widths of columns that a person has resized
    QString sortedBy = "created";
    bool isDescending = true;
    std::string group = {};    ///< a key of checkGroupKey(); empty: none
    QSet<QString> folded = {}; ///< values of groups
    QString filter = {};       ///< as it was typed
    bool operator==(const RunsLayout&) const = default;
};

/// Leaves out keys that name nothing in this release.
RunsLayout readRunsLayout(const Paths& paths);
void writeRunsLayout(const Paths& paths, const RunsLayout& layout);

/// The order of these columns, which are all that there are: those of `wanted` as there, each other
/// one behind the column that it follows in `columns`.
QStringList orderedColumns(const QStringList& columns, const QStringList& wanted);

} // namespace rm
