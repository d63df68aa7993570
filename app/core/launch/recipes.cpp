// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/recipes.h"

#include "app/core/findings/text.h"
#include "app/core/settings/paths.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "shared/spec/model_family.h"

#include <QDir>
#include <QFile>

#include <algorithm>
#include <optional>

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
        append(error.message, say("launch.print-recipe"));
    return error;
}

std::optional<Recipe> readRecipe(const QString& path) {
    static const QString kBrief = "In short: ", kNeeds = "Needs: ";
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return std::nullopt;
    Recipe recipe{QFileInfo(path).completeBaseName(), path, {}, {}, {},
                  QString::fromUtf8(file.readAll())};
    QStringList words;
    for (const QString& line : recipe.toml.split('\n')) {
        const QString comment = line.mid(1).trimmed();
        if (line.contains("SPDX"))
            continue;
        if (!line.startsWith('#'))
            break;
        if (comment.startsWith(kBrief))
            recipe.brief = comment.mid(kBrief.size());
        else if (comment.startsWith(kNeeds))
            recipe.needs = comment.mid(kNeeds.size());
        else
            words << comment;
    }
    recipe.description = words.join(' ').trimmed();
    return recipe;
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
        if (const auto recipe = readRecipe(folder.filePath(file)))
            out.push_back(*recipe);
    std::ranges::stable_partition(
        out, [](const Recipe& recipe) { return recipe.name.endsWith("-tiny"); });
    std::ranges::stable_partition(out,
                                  [](const Recipe& recipe) { return recipe.name == "gpt-tiny"; });
    return out;
}

std::string whatBrings(const std::string& path) {
    for (const Recipe& recipe : recipes()) {
        const auto spec = parseRunSpec(recipe.toml.toStdString(), recipe.name.toStdString());
        if (spec && std::ranges::find(spec->data.train, path) != spec->data.train.end())
            return recipe.needs.toStdString();
    }
    return {};
}

bool haveNoDataOf(const RunSpec& spec, const std::vector<std::string>& files) {
    const auto endings = endingsOf(familyOf(spec).data);
    return std::ranges::none_of(files, [&](const std::string& file) {
        const std::string lower = QString::fromStdString(file).toLower().toStdString();
        return endings.empty() || std::ranges::any_of(endings, [&](std::string_view each) {
                   return lower.ends_with(each);
               });
    });
}

Result<Recipe> findRecipe(const std::string& name) {
    std::string known;
    for (Recipe& recipe : recipes()) {
        if (recipe.name.toStdString() == name)
            return std::move(recipe);
        append(known, recipe.name.toStdString(), ", ");
    }
    return fail(ErrorCode::kNotFound,
                say("launch.no-recipe", {{"name", name}, {"recipes", known}}));
}

Result<void> applyOverrides(RunSpec& spec, const std::vector<std::string>& overrides) {
    for (const std::string& text : overrides)
        if (const auto applied = applyOverride(spec, text); !applied)
            return applied;
    return {};
}

Result<CheckedSpec> loadSpecOrRecipe(const std::string& what,
                                     const std::vector<std::string>& overrides) {
    RM_ASSIGN_OR_RETURN(const auto path, isPath(what)
                                             ? Result<std::string>(what)
                                             : findRecipe(what).map([](const Recipe& recipe) {
                                                   return recipe.path.toStdString();
                                               }));
    auto spec = loadRunSpec(path);
    if (!spec)
        return tl::unexpected<Error>(withAdvice(spec.error()));
    RM_RETURN_IF_ERROR(applyOverrides(*spec, overrides));
    return check(std::move(*spec));
}

} // namespace rm
