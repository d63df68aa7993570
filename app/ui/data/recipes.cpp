// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/recipes.h"

#include "app/core/launch/recipes.h"

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

std::vector<RecipeText> loadRecipes() {
    std::vector<RecipeText> texts;
    for (const Recipe& recipe : recipes()) {
        QFile file(QString::fromStdString(recipe.path));
        if (!file.open(QIODevice::ReadOnly))
            continue;
        const QString toml = QString::fromUtf8(file.readAll());
        texts.push_back({QString::fromStdString(recipe.name), descriptionOf(toml), toml});
    }
    std::ranges::stable_partition(texts,
                                  [](const RecipeText& text) { return text.name == "gpt-tiny"; });
    return texts;
}

} // namespace rm
