// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <QString>

#include <vector>

namespace rm {

struct Paths;

/// A filter of runs that a person keeps under a name, in Paths::settings(). Window and terminal
/// read it as `@NAME`.
struct SavedFilter {
    QString name;
    QString text; ///< as parseRunFilter() takes it
    bool operator==(const SavedFilter&) const = default;
};

std::vector<SavedFilter> savedFilters(const Paths& paths); ///< by name

/// Replaces the one that has the name. kInvalid: name or text is empty or has a control character,
/// other than a tab in the text.
Result<void> saveFilter(const Paths& paths, const SavedFilter& filter);
/// kNotFound: there is none. kInvalid: it is no name, or that of another.
Result<void> renameFilter(const Paths& paths, const QString& name, const QString& newName);
Result<void> removeFilter(const Paths& paths, const QString& name); ///< kNotFound: there is none

/// The text that is meant by what was typed: of `@NAME` that of the filter, else as it was typed.
/// kNotFound: no filter is called so.
Result<QString> filterMeant(const Paths& paths, const QString& typed);

} // namespace rm
