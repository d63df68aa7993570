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

/// The data that a model learns from.
enum class DataKind {
    kText,     ///< text files, folders of text, token shards (.rmtok)
    kPairs,    ///< sentences and their translations (.tsv, .mo, .rmpairs)
    kPictures, ///< folders that hold one folder a class
};

/// The endings of the files that are read as such data, ".tsv"; empty: files of any name.
std::span<const std::string_view> endingsOf(DataKind kind);

/// A row of the schema that one family brings along.
struct FamilyRow {
    SchemaRow row;
    std::string_view after =
        {}; ///< key of the row after which it stands; empty: last of its section
};

/// Upper bounds of a model's memory, counted in float32 values.
struct ModelBound {
    double parameters = 0;
    double perSample = 0; ///< kept for the backward pass, and temporary tensors
    double samples = 1;   ///< in a micro-batch
};

/// Models that share fields, data and code. Spec, form and app know models only by these. The
/// trainer has a Workload of the same name (trainer/train/workloads).
struct ModelFamily {
    std::string_view name;
    std::vector<std::string_view> types; ///< values of model.type
    DataKind data = DataKind::kText;
    std::vector<FamilyRow> rows = {}; ///< fields of its own
    /// Keys of shared fields that have an effect with this family but not with every one.
    std::vector<std::string_view> uses;
    /// The metrics that its validation can measure, the loss first: train.watch may name these.
    std::vector<MetricId> figures;
    /// Adds every rule across fields that `spec` breaks.
    void (*check)(const RunSpec& spec, std::vector<std::string>& mistakes) = nullptr;
    ModelBound (*bound)(const RunSpec& spec) = nullptr;
};

/// All families in the order in which their types are shown and their rows written. Lives for ever.
std::span<const ModelFamily> modelFamilies();

/// The family that has this value of model.type; nullptr: none.
const ModelFamily* findFamily(std::string_view type);
/// The family of a checked spec.
const ModelFamily& familyOf(const RunSpec& spec);

/// How train.watch names a metric of validation: "bleu" of validation/bleu.
std::string_view watchNameOf(MetricId figure);

/// A rough upper bound of the bytes that a rank of this run needs, several times too high, computed
/// at once from the spec alone. The trainer's estimate is always lower.
int64_t memoryBound(const RunSpec& spec);

/// An upper bound of the bytes of one checkpoint of this run: weights, what the optimizer keeps of
/// each, and an average if there is one.
int64_t checkpointBound(const RunSpec& spec);

} // namespace rm
