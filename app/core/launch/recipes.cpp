// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/recipes.h"

#include "app/core/findings/text.h"
#include "app/core/settings/paths.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <QDir>

#include <algorithm>

namespace rm {

namespace {

bool isPath(const std::string& what) {
    return what.find('/') != std::string::npos || what.ends_with(".toml");
}

QString recipeFolder() {
    return resourceDir() + "/recipes";
}

Error withAdvice(Error error) {
    if (error.code == ErrorCode::kNotFound)
        append(error.message,
               say("launch.copy-recipe", {{"folder", recipeFolder().toStdString()}}));
    return error;
}

Result<std::string> pathOfRecipe(const std::string& name) {
    std::string known;
    for (const Recipe& recipe : recipes()) {
        if (recipe.name == name)
            return recipe.path;
        append(known, recipe.name, ", ");
    }
    return fail(ErrorCode::kNotFound,
                say("launch.no-recipe", {{"name", name}, {"recipes", known}}));
}

/// A basic string of TOML, whose escapes are JSON's.
std::string quoted(const std::string& value) {
    return Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// TOML of one override: a bare word is a string, everything else is TOML as it is.
std::string overrideValue(const SpecField& field, const std::string& value) {
    RunSpec scratch;
    const bool isString = std::holds_alternative<std::string*>(field.ref(scratch));
    const bool isQuoted = !value.empty() && (value.front() == '"' || value.front() == '\'');
    return isString && !isQuoted ? quoted(value) : value;
}

Result<void> applyOverride(RunSpec& spec, const std::string& text) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
        return fail(ErrorCode::kInvalid, say("launch.odd-setting", {{"setting", text}}));
    const std::string key = text.substr(0, equals);
    const auto field = std::find_if(specSchema().begin(), specSchema().end(),
                                    [&](const SpecField& f) { return f.key == key; });
    const bool isKnown = field != specSchema().end();
    const std::string value = text.substr(equals + 1);
    const auto parse = [&](const std::string& toml) {
        return parseRunSpec(key + " = " + toml, "--set " + text);
    };
    // An unknown key goes to the parser too, whose error suggests the nearest known one.
    auto parsed = parse(isKnown ? overrideValue(*field, value) : "0");
    if (!parsed && isKnown)
        if (auto asWord = parse(quoted(value)); !asWord)
            parsed = std::move(asWord); // says what the key wants instead of a word
    if (!parsed)
        return tl::unexpected(parsed.error());
    if (!isKnown)
        return fail(ErrorCode::kInvalid,
                    say("launch.unknown-key", {{"setting", text}, {"key", key}}));
    RunSpec from = *parsed;
    std::visit([&](auto* target) { *target = *std::get<decltype(target)>(field->ref(from)); },
               field->ref(spec));
    if (key == "train.steps")
        spec.train.epochs = 0; // which would count in their place
    return {};
}

} // namespace

std::vector<Recipe> recipes() {
    const QDir folder(recipeFolder());
    std::vector<Recipe> out;
    for (const QString& file : folder.entryList({"*.toml"}, QDir::Files, QDir::Name))
        out.push_back({file.chopped(5).toStdString(), folder.filePath(file).toStdString()});
    return out;
}

Result<void> applyOverrides(RunSpec& spec, const std::vector<std::string>& overrides) {
    for (const std::string& text : overrides)
        if (const auto applied = applyOverride(spec, text); !applied)
            return applied;
    return {};
}

Result<CheckedSpec> loadSpecOrRecipe(const std::string& what,
                                     const std::vector<std::string>& overrides) {
    RM_ASSIGN_OR_RETURN(const auto path,
                        isPath(what) ? Result<std::string>(what) : pathOfRecipe(what));
    auto spec = loadRunSpec(path);
    if (!spec)
        return tl::unexpected<Error>(withAdvice(spec.error()));
    RM_RETURN_IF_ERROR(applyOverrides(*spec, overrides));
    return check(std::move(*spec));
}

} // namespace rm
