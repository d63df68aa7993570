// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/recipes.h"

#include <QDir>
#include <QFile>

#include <algorithm>

namespace rm {

namespace {

QString descriptionOf(const QString& toml) {
    QStringList words;
    for (const QString& line : toml.split('\n')) {
        if (line.contains("SPDX"))
            continue;
        if (!line.startsWith('#'))
            break;
        words << line.mid(1).trimmed();
    }
    return words.join(' ').trimmed();
}

} // namespace

std::vector<Recipe> loadRecipes(const QString& folder) {
    std::vector<Recipe> recipes;
    for (const QFileInfo& info : QDir(folder).entryInfoList({"*.toml"}, QDir::Files, QDir::Name)) {
        QFile file(info.filePath());
        if (!file.open(QIODevice::ReadOnly))
            continue;
        const QString toml = QString::fromUtf8(file.readAll());
        recipes.push_back({info.completeBaseName(), descriptionOf(toml), toml});
    }
    std::ranges::stable_partition(recipes,
                                  [](const Recipe& recipe) { return recipe.name == "gpt-tiny"; });
    return recipes;
}

} // namespace rm
