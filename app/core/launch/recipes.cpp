// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/recipes.h"

#include "app/core/settings/paths.h"

#include <QDir>

namespace rm {

namespace {

bool isPath(const std::string& what) {
    return what.find('/') != std::string::npos || what.ends_with(".toml");
}

Result<std::string> pathOfRecipe(const std::string& name) {
    std::string known;
    for (const Recipe& recipe : recipes()) {
        if (recipe.name == name)
            return recipe.path;
        known += (known.empty() ? "" : ", ") + recipe.name;
    }
    return fail(ErrorCode::kNotFound, "load recipe " + name +
                                          ": there is none of that name; recipes are " + known +
                                          "; a file's name ends in .toml");
}

/// TOML of one override: a bare word is a string, everything else is TOML as it is.
std::string overrideValue(const SpecField& field, const std::string& value) {
    RunSpec scratch;
    const bool isString = std::holds_alternative<std::string*>(field.ref(scratch));
    const bool isQuoted = !value.empty() && (value.front() == '"' || value.front() == '\'');
    return isString && !isQuoted ? "'" + value + "'" : value;
}

Result<void> applyOverride(RunSpec& spec, const std::string& text) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
        return fail(ErrorCode::kInvalid, "apply \"" + text + "\": write section.key=value");
    const std::string key = text.substr(0, equals);
    for (const SpecField& field : specSchema()) {
        if (field.key != key)
            continue;
        const auto parsed = parseRunSpec(
            key + " = " + overrideValue(field, text.substr(equals + 1)), "--set " + text);
        if (!parsed)
            return tl::unexpected<Error>(parsed.error());
        RunSpec from = *parsed;
        std::visit([&](auto* target) { *target = *std::get<decltype(target)>(field.ref(from)); },
                   field.ref(spec));
        return {};
    }
    return fail(ErrorCode::kInvalid, "apply \"" + text + "\": there is no key " + key);
}

} // namespace

std::vector<Recipe> recipes() {
    const QDir folder(resourceDir() + "/recipes");
    std::vector<Recipe> out;
    for (const QString& file : folder.entryList({"*.toml"}, QDir::Files, QDir::Name))
        out.push_back({file.chopped(5).toStdString(), folder.filePath(file).toStdString()});
    return out;
}

Result<CheckedSpec> loadSpecOrRecipe(const std::string& what,
                                     const std::vector<std::string>& overrides) {
    const auto path = isPath(what) ? Result<std::string>(what) : pathOfRecipe(what);
    if (!path)
        return tl::unexpected<Error>(path.error());
    auto spec = loadRunSpec(*path);
    if (!spec)
        return tl::unexpected<Error>(spec.error());
    for (const std::string& text : overrides)
        if (const auto applied = applyOverride(*spec, text); !applied)
            return tl::unexpected<Error>(applied.error());
    return check(std::move(*spec));
}

} // namespace rm
