// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/metrics/registry.h"
#include "shared/spec/schema.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// What a model learns from.
enum class DataKind {
    kText,     ///< text files, folders of text, token shards (.rmtok)
    kPairs,    ///< sentences and their translations (.tsv, .mo, .rmpairs)
    kPictures, ///< folders that hold one folder a class
};

/// A row of the schema that one family brings along.
struct FamilyRow {
    SchemaRow row;
    std::string_view after =
        {}; ///< key of the row behind which it stands; empty: last of its section
};

/// Upper bounds of what a model takes, in numbers of float32.
struct ModelBound {
    double parameters = 0;
    double perSample = 0; ///< kept for the backward pass, and what it makes at once
    double samples = 1;   ///< of a micro-batch
};

/// Models that share fields, data and code: all that spec, form and app know of model.type. The
/// trainer has a Workload of the same name (trainer/train/workloads).
struct ModelFamily {
    std::string_view name;
    std::vector<std::string_view> types; ///< values of model.type
    DataKind data = DataKind::kText;
    std::vector<FamilyRow> rows = {}; ///< fields of its own
    /// Keys of other fields that have an effect with it and not with every family.
    std::vector<std::string_view> uses;
    /// What its validation can measure, the loss first; what train.watch may be.
    std::vector<MetricId> figures;
    /// Adds every rule across fields that `spec` breaks.
    void (*check)(const RunSpec& spec, std::vector<std::string>& mistakes) = nullptr;
    ModelBound (*bound)(const RunSpec& spec) = nullptr;
};

/// In the order in which their types are shown and their rows are written. Lives for ever.
std::span<const ModelFamily> modelFamilies();

/// The family that has this value of model.type; nullptr: none.
const ModelFamily* findFamily(std::string_view type);
/// Of a spec that was checked.
const ModelFamily& familyOf(const RunSpec& spec);

/// How train.watch names a metric of validation: "bleu" of validation/bleu.
std::string_view watchNameOf(MetricId figure);

/// Bytes that a rank of this run certainly does not need: several times what it does need, made of
/// the spec alone in no time. What the trainer estimates is always less.
int64_t memoryBound(const RunSpec& spec);

} // namespace rm
