// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/recipes.h"

#include "app/core/launch/recipes.h"

#include <QFile>

#include <algorithm>

namespace rm {

namespace {

const QString kBrief = "In short: ";

RecipeText read(const QString& name, const QString& toml) {
    RecipeText text{name, {}, {}, toml};
    QStringList words;
    for (const QString& line : toml.split('\n')) {
        const QString comment = line.mid(1).trimmed();
        if (line.contains("SPDX"))
            continue;
        if (!line.startsWith('#'))
            break;
        if (comment.startsWith(kBrief))
            text.brief = comment.mid(kBrief.size());
        else
            words << comment;
    }
    text.description = words.join(' ').trimmed();
    return text;
}

} // namespace

std::vector<RecipeText> loadRecipes() {
    std::vector<RecipeText> texts;
    for (const Recipe& recipe : recipes()) {
        QFile file(QString::fromStdString(recipe.path));
        if (!file.open(QIODevice::ReadOnly))
            continue;
        texts.push_back(
            read(QString::fromStdString(recipe.name), QString::fromUtf8(file.readAll())));
    }
    std::ranges::stable_partition(
        texts, [](const RecipeText& text) { return text.name.endsWith("-tiny"); });
    std::ranges::stable_partition(texts,
                                  [](const RecipeText& text) { return text.name == "gpt-tiny"; });
    return texts;
}

} // namespace rm
