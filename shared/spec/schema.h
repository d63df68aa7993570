// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// A row of the schema with hints for people, used by the form and in errors about unknown keys.
struct SchemaRow : SpecField {
    /// The choice of another field without which this one has no effect.
    struct Only {
        std::string_view key; ///< a field with choices; empty: there is no condition
        std::vector<std::string_view> values;
    } only = {};
    /// A further condition for it to have an effect; null: none.
    bool (*onlyHolds)(const RunSpec&) = nullptr;
    bool isBasic = false; ///< what most people change from one run to the next
    bool isLive = false;  ///< a number that the command `set` changes while a run trains
    /// Its names in other tools, in lower case; an error about such a key names this one.
    std::vector<std::string_view> aliases = {};
};

/// The rows of specSchema(), in its order. Lives for ever.
std::span<const SchemaRow> schemaRows();

/// Whether the field has an effect on a run with this spec: the model uses it, and the choice that
/// it depends on is set.
bool usesField(const RunSpec& spec, const SchemaRow& field);
bool usesField(const RunSpec& spec, std::string_view key);
/// The field's value as a person reads it, in one line: "0.002", "true", "/a; /b".
std::string valueText(const SpecField& field, const RunSpec& spec);
/// Whether the model writes text that is kept, also when it is asked for, as one of pictures does
/// not.
bool writesSamples(const RunSpec& spec);

/// Whether pictures of a validation are kept, with what they were taken for.
bool keepsPictures(const RunSpec& spec);

/// Checks the name of a run. kInvalid: no run can be called so.
Result<void> checkRunName(const std::string& name);

} // namespace rm
