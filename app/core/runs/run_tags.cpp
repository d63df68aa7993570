// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/run_tags.h"

namespace rm {

QStringList tagsIn(const QString& text) {
    QStringList tags;
    for (const QString& tag : text.split(',', Qt::SkipEmptyParts))
        if (const QString trimmed = tag.trimmed(); !trimmed.isEmpty() && !tags.contains(trimmed))
            tags << trimmed;
    return tags;
}

QStringList toTags(const std::vector<std::string>& words) {
    QStringList tags;
    for (const std::string& word : words)
        tags << QString::fromStdString(word);
    return tags;
}

QStringList withTags(QStringList tags, const QStringList& add, const QStringList& remove) {
    for (const QString& tag : remove)
        tags.removeAll(tag);
    for (const QString& tag : add)
        if (!tags.contains(tag))
            tags << tag;
    return tags;
}

} // namespace rm
