// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include <string>
#include <vector>

namespace rm {

/// "wmt, base": the tags of a text that a person wrote, tidy and each once.
QStringList tagsIn(const QString& text);
QStringList toTags(const std::vector<std::string>& words);

/// `tags` without those to `remove`, then those to `add` that are not there yet.
QStringList withTags(QStringList tags, const QStringList& add, const QStringList& remove);

} // namespace rm
