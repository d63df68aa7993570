// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/spec/schema.h"

#include <QString>

#include <span>
#include <vector>

namespace rm {

/// A part of the form that is folded until a person opens it.
struct SpecPart {
    const char* id;                         ///< "model": part of object names
    const char* title;                      ///< translated where shown
    std::vector<std::string_view> sections; ///< of TOML, "" for keys without one
    QString (*summary)(const RunSpec& spec);
};

/// Every section of the schema is in one of them.
std::span<const SpecPart> specParts();

/// The fields that `spec` uses and whose values differ from those in `base`.
std::vector<const SchemaRow*> changedFields(const RunSpec& spec, const RunSpec& base);

/// "every 250 steps, last 3 and best · 1 changed"
QString partSummary(const SpecPart& part, const RunSpec& spec, const RunSpec& base);

/// The section of a key: "optimizer" of "optimizer.lr".
std::string_view sectionOf(std::string_view key);

} // namespace rm
