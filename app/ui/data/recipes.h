// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

namespace rm {

/// An example run spec that comes with the program.
struct RecipeText {
    QString name;        ///< "gpt-tiny"
    QString description; ///< its first comment that is no licence
    QString toml;
};

/// The texts of recipes(), gpt-tiny first.
std::vector<RecipeText> loadRecipes();

} // namespace rm
