// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/schema.h"

#include <utility>

// How rows of the schema are written down: for schema.cpp and for the families of models.
namespace rm {

using Names = std::vector<std::string_view>;

struct Bounds {
    double min, max;
};

/// A row whose properties are set by chained calls: number(...).basic().alsoCalled({...}).
struct Row : SchemaRow {
    Row basic() && {
        isBasic = true;
        return std::move(*this);
    }
    Row live() && {
        isLive = true;
        return std::move(*this);
    }
    Row onlyWith(Only condition) && {
        only = std::move(condition);
        return std::move(*this);
    }
    Row onlyIf(bool (*condition)(const RunSpec&)) && {
        onlyHolds = condition;
        return std::move(*this);
    }
    Row alsoCalled(Names names) && {
        aliases = std::move(names);
        return std::move(*this);
    }
};
using Rows = std::vector<Row>;

/// A number, or a list of whole numbers.
inline Row number(std::string_view key, std::string_view label, std::string_view unit,
                  std::string_view description, Bounds bounds, SpecFieldRef (*ref)(RunSpec&)) {
    return {{{key, label, unit, description, bounds.min, bounds.max, {}, ref, {}}}};
}

/// A text, a list of texts or a switch.
inline Row plain(std::string_view key, std::string_view label, std::string_view description,
                 SpecFieldRef (*ref)(RunSpec&)) {
    return {{{key, label, "", description, 0, 0, {}, ref, {}}}};
}

inline Row choice(std::string_view key, std::string_view label, std::string_view description,
                  Names choices, SpecFieldRef (*ref)(RunSpec&)) {
    return {{{key, label, "", description, 0, 0, std::move(choices), ref, {}}}};
}

#define RM_FIELD(member) [](RunSpec& spec) -> SpecFieldRef { return &spec.member; }

} // namespace rm
