// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/spec/run_spec.h"

#include <string>
#include <vector>

namespace rm {

/// A run spec that ships with Ringmaster: `resources/recipes/NAME.toml`.
struct Recipe {
    std::string name;
    std::string path;
};

/// All of them, by name.
std::vector<Recipe> recipes();

/// `what` is a path (it has a '/' or ends in .toml) or a recipe's name; `overrides` are
/// "section.key=value" and win. kNotFound for an unknown recipe names those that there are.
Result<CheckedSpec> loadSpecOrRecipe(const std::string& what,
                                     const std::vector<std::string>& overrides);

/// Applies "section.key=value" texts to `spec`, in their order. Steps that are set end a run that
/// counts epochs, as the last of the two decides. The spec is not checked.
Result<void> applyOverrides(RunSpec& spec, const std::vector<std::string>& overrides);

} // namespace rm
