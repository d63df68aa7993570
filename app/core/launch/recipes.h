// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/spec/run_spec.h"

#include <QString>

#include <string>
#include <vector>

namespace rm {

/// A run spec that ships with Ringmaster: `resources/recipes/NAME.toml`.
struct Recipe {
    QString name; ///< "gpt-tiny"
    QString path;
    QString brief;       ///< its comment "In short: ...": "licences, 2 min"
    QString needs;       ///< its comment "Needs: ...": the command that brings its data
    QString description; ///< the rest of its first comment that is no licence
    QString toml;
};

/// All of them by name, but gpt-tiny first, then the other small ones.
std::vector<Recipe> recipes();

/// The command that brings data which a recipe names by this path; empty: no recipe does.
std::string whatBrings(const std::string& path);

/// Whether none of these files is read as data of a run of `spec`.
bool haveNoDataOf(const RunSpec& spec, const std::vector<std::string>& files);

/// kNotFound names those that there are.
Result<Recipe> findRecipe(const std::string& name);

/// `what` is a path (it has a '/' or ends in .toml) or a recipe's name; `overrides` are
/// "section.key=value" and win. kNotFound for an unknown recipe names those that there are.
Result<CheckedSpec> loadSpecOrRecipe(const std::string& what,
                                     const std::vector<std::string>& overrides);

/// Applies "section.key=value" texts to `spec`, in their order. Steps that are set end a run that
/// counts epochs, as the last of the two decides. The spec is not checked.
Result<void> applyOverrides(RunSpec& spec, const std::vector<std::string>& overrides);

} // namespace rm
