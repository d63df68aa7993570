// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/brief_names.h"

#include <algorithm>

namespace rm {

namespace {

constexpr qsizetype kMostInLine = 16; ///< characters
const QString kComma = QStringLiteral(", ");

qsizetype alikeParts(const QStringList& left, const QStringList& right) {
    const auto differing = std::ranges::mismatch(left, right);
    return differing.in1 - left.begin();
}

/// The place behind the separator that is nearest the middle; 0: there is none.
qsizetype middleBreak(const QString& name, const QString& separator) {
    qsizetype best = 0;
    const auto away = [&](qsizetype at) { return std::abs(2 * at - name.size()); };
    for (qsizetype at = name.indexOf(separator); at > 0; at = name.indexOf(separator, at + 1))
        if (best == 0 || away(at) < away(best))
            best = at + separator.size();
    return best;
}

} // namespace

QStringList briefNames(const QStringList& names) {
    if (names.size() < 2)
        return names;
    const QStringList first = names.front().split(kComma);
    qsizetype alike = first.size();
    for (const QString& name : names)
        alike = std::min(alike, alikeParts(first, name.split(kComma)));
    QStringList briefs;
    for (const QString& name : names) {
        const QStringList parts = name.split(kComma);
        briefs << parts.mid(std::min(alike, parts.size() - 1)).join(kComma);
    }
    return briefs;
}

QString inTwoLines(const QString& name) {
    if (name.size() <= kMostInLine)
        return name;
    const qsizetype comma = middleBreak(name, kComma);
    const qsizetype at = comma > 0 ? comma : middleBreak(name, QStringLiteral(" "));
    return at > 0 ? name.left(at).trimmed() + '\n' + name.mid(at) : name;
}

} // namespace rm
