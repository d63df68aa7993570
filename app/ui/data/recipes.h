// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

namespace rm {

/// An example run spec that comes with the program.
struct RecipeText {
    QString name;        ///< "gpt-tiny"
    QString brief;       ///< its comment "In short: ...": "licences, 2 min"
    QString description; ///< the rest of its first comment that is no licence
    QString toml;
};

/// The texts of recipes(), gpt-tiny first, then the other small ones.
std::vector<RecipeText> loadRecipes();

} // namespace rm
