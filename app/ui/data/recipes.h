// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

namespace rm {

/// An example run spec that comes with the program.
struct Recipe {
    QString name;        ///< "gpt-tiny"
    QString description; ///< its first comment that is no licence
    QString toml;
};

/// Every *.toml of `folder`, by name; gpt-tiny first.
std::vector<Recipe> loadRecipes(const QString& folder);

} // namespace rm
