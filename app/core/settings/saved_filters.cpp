// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/saved_filters.h"

#include "app/core/settings/paths.h"
#include "app/core/settings/private_files.h"
#include "shared/return_if_error.h"

#include <QSettings>
#include <QStringList>

#include <algorithm>

namespace rm {

namespace {

constexpr const char* kFilters = "filters"; // of the settings

/// What an attempt at a filter is called in messages.
std::string attempt(const char* verb, const QString& name) {
    return std::string(verb) + " filter \"" + name.toStdString() + "\"";
}

Result<void> write(const Paths& paths, const std::vector<SavedFilter>& filters,
                   const std::string& what) {
    QSettings settings(paths.settings(), QSettings::IniFormat);
    settings.remove(kFilters); // or what an array had more would stay
    settings.beginWriteArray(kFilters, static_cast<int>(filters.size()));
    for (int at = 0; at < static_cast<int>(filters.size()); ++at) {
        settings.setArrayIndex(at);
        settings.setValue("name", filters[static_cast<size_t>(at)].name);
        settings.setValue("text", filters[static_cast<size_t>(at)].text);
    }
    settings.endArray();
    settings.sync();
    if (settings.status() != QSettings::NoError)
        return fail(ErrorCode::kUnavailable, what + ": " + paths.settings().toStdString() +
                                                 " cannot be written; make it writable");
    protectFile(paths.settings().toStdString());
    return {};
}

std::string wordsOf(QChar control) {
    if (control == '\n' || control == '\r')
        return "a line break";
    if (control == '\t')
        return "a tab";
    const QString code = QString("%1").arg(control.unicode(), 4, 16, QLatin1Char('0'));
    return "the control character U+" + code.toUpper().toStdString();
}

/// `part`: "name" or "filter".
Result<void> checkCharacters(const QString& text, const char* part, const std::string& what) {
    const auto control =
        std::ranges::find_if(text, [](QChar c) { return c.category() == QChar::Other_Control; });
    if (control == text.end())
        return {};
    return fail(ErrorCode::kInvalid, what + ": the " + part + " has " + wordsOf(*control) +
                                         ", which it cannot keep; take that out");
}

Result<void> checkName(const QString& name, const std::string& what) {
    RM_RETURN_IF_ERROR(checkCharacters(name, "name", what));
    if (name.trimmed().isEmpty() || name != name.trimmed())
        return fail(ErrorCode::kInvalid, what + ": that is no name; give it some words");
    return {};
}

/// A tab is a blank of the filter.
Result<void> checkText(const QString& text, const std::string& what) {
    RM_RETURN_IF_ERROR(checkCharacters(QString(text).replace('\t', ' '), "filter", what));
    if (text.trimmed().isEmpty())
        return fail(ErrorCode::kInvalid, what + ": it filters nothing; type words or conditions");
    return {};
}

tl::unexpected<Error> noSuch(const std::string& what, const std::vector<SavedFilter>& filters) {
    QStringList names;
    for (const SavedFilter& filter : filters)
        names << filter.name;
    return fail(ErrorCode::kNotFound,
                what + ": there is none; " +
                    (names.isEmpty() ? "none is kept"
                                     : "these are kept: " + names.join(", ").toStdString()));
}

} // namespace

std::vector<SavedFilter> savedFilters(const Paths& paths) {
    QSettings settings(paths.settings(), QSettings::IniFormat);
    std::vector<SavedFilter> filters;
    const int count = settings.beginReadArray(kFilters);
    for (int at = 0; at < count; ++at) {
        settings.setArrayIndex(at);
        const SavedFilter filter{settings.value("name").toString(),
                                 settings.value("text").toString()};
        if (!filter.name.isEmpty() && !filter.text.isEmpty())
            filters.push_back(filter);
    }
    settings.endArray();
    std::ranges::sort(filters, {}, [](const SavedFilter& filter) {
        return std::pair(filter.name.toCaseFolded(), filter.name);
    });
    return filters;
}

Result<void> saveFilter(const Paths& paths, const SavedFilter& filter) {
    const std::string what = attempt("keep", filter.name);
    RM_RETURN_IF_ERROR(checkName(filter.name, what));
    RM_RETURN_IF_ERROR(checkText(filter.text, what));
    auto filters = savedFilters(paths);
    std::erase_if(filters, [&](const SavedFilter& each) { return each.name == filter.name; });
    filters.push_back(filter);
    return write(paths, filters, what);
}

Result<void> renameFilter(const Paths& paths, const QString& name, const QString& newName) {
    const std::string what = attempt("rename", name);
    RM_RETURN_IF_ERROR(checkName(newName, what));
    auto filters = savedFilters(paths);
    const auto it = std::ranges::find(filters, name, &SavedFilter::name);
    if (it == filters.end())
        return noSuch(what, filters);
    if (newName != name && std::ranges::find(filters, newName, &SavedFilter::name) != filters.end())
        return fail(ErrorCode::kInvalid, what + ": another is called " + newName.toStdString() +
                                             "; choose another name");
    it->name = newName;
    return write(paths, filters, what);
}

Result<void> removeFilter(const Paths& paths, const QString& name) {
    const std::string what = attempt("remove", name);
    auto filters = savedFilters(paths);
    if (std::erase_if(filters, [&](const SavedFilter& each) { return each.name == name; }) == 0)
        return noSuch(what, filters);
    return write(paths, filters, what);
}

Result<QString> filterMeant(const Paths& paths, const QString& typed) {
    const QString text = typed.trimmed();
    if (!text.startsWith('@'))
        return typed;
    const QString name = text.mid(1).trimmed();
    const auto filters = savedFilters(paths);
    const auto it = std::ranges::find(filters, name, &SavedFilter::name);
    if (it == filters.end())
        return noSuch(attempt("find", name), filters);
    return it->text;
}

} // namespace rm
