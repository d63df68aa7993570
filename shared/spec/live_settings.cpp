// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/live_settings.h"

#include "shared/enforce.h"
#include "shared/return_if_error.h"
#include "shared/spec/schema.h"
#include "shared/spec/toml_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace rm {

namespace {

const SchemaRow* findLive(std::string_view key) {
    const auto row = std::ranges::find(schemaRows(), key, &SchemaRow::key);
    return row != schemaRows().end() && row->isLive ? &*row : nullptr;
}

SpecFieldRef refOf(RunSpec& spec, std::string_view key) {
    const SchemaRow* row = findLive(key);
    RM_ENFORCE(row);
    return row->ref(spec);
}

tl::unexpected<Error> refused(const std::string& key, const std::string& value,
                              const std::string& why) {
    return fail(ErrorCode::kInvalid, key + " = \"" + value + "\": " + why);
}

} // namespace

std::vector<std::string_view> liveKeys() {
    std::vector<std::string_view> keys;
    for (const SchemaRow& row : schemaRows())
        if (row.isLive)
            keys.push_back(row.key);
    return keys;
}

Result<double> parseLiveSetting(const std::string& key, const std::string& value) {
    const SchemaRow* row = findLive(key);
    if (!row)
        return fail(ErrorCode::kInvalid,
                    key + " cannot be set while a run trains; possible are " + listed(liveKeys()));
    double number = 0;
    const char* end = value.data() + value.size();
    const auto parsed = std::from_chars(value.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end)
        return refused(key, value, "not a number");
    if (!(number >= row->min && number <= row->max)) {
        return refused(key, value,
                       "allowed is " + plainNumber(row->min) + " to " + plainNumber(row->max));
    }
    if (isWhole(key) && number != std::floor(number))
        return refused(key, value, "not a whole number");
    return number;
}

double liveValue(const RunSpec& spec, std::string_view key) {
    RunSpec copy = spec;
    const SpecFieldRef ref = refOf(copy, key);
    if (const auto* whole = std::get_if<int64_t*>(&ref))
        return static_cast<double>(**whole);
    return *std::get<double*>(ref);
}

bool isWhole(std::string_view key) {
    RunSpec any;
    return std::holds_alternative<int64_t*>(refOf(any, key));
}

void apply(const LiveSettings& settings, RunSpec& spec) {
    for (const auto& [key, value] : settings) {
        const SpecFieldRef ref = refOf(spec, key);
        if (auto* const* whole = std::get_if<int64_t*>(&ref))
            **whole = static_cast<int64_t>(value);
        else
            *std::get<double*>(ref) = value;
    }
}

Result<void> changeSetting(RunSpec& spec, const std::string& key, const std::string& value) {
    RM_ASSIGN_OR_RETURN(const double number, parseLiveSetting(key, value));
    RunSpec changed = spec;
    apply({{key, number}}, changed);
    // A run of an earlier release may break a rule of today by itself.
    if (const auto checked = check(changed); !checked && check(spec))
        return refused(key, value, checked.error().message);
    spec = std::move(changed);
    return {};
}

} // namespace rm
