// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/start_weights.h"

#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "shared/spec/model_family.h"
#include "shared/spec/schema.h"
#include "shared/spec/toml_fields.h"
#include "trainer/train/dist/agree.h"
#include "trainer/train/formats/folder_texts.h"
#include "trainer/train/workloads/foreign_config.h"
#include "trainer/train/workloads/foreign_weights.h"
#include "trainer/train/workloads/registry.h"

#include <algorithm>
#include <array>

namespace rm {
namespace {

/// Limits for extra rows of an embedding, which pad it to a faster size or are reserved for new
/// tokens: this number, or this share of all rows.
constexpr int64_t kMostPadding = 1024;
constexpr int64_t kPaddingShare = 16;

std::string attemptOf(const RunSpec& spec) {
    return "start from " + spec.model.startFrom + " (model.start_from)";
}

/// The value of a field of [model], as TOML writes it.
std::string valueOf(const SpecFieldRef& ref) {
    if (const auto* whole = std::get_if<int64_t*>(&ref))
        return std::to_string(**whole);
    if (const auto* number = std::get_if<double*>(&ref))
        return plainNumber(**number);
    if (const auto* on = std::get_if<bool*>(&ref))
        return **on ? "true" : "false";
    const auto* text = std::get_if<std::string*>(&ref);
    return text ? "\"" + **text + "\"" : std::string();
}

/// Fields of [model] that determine the tensors; the others may differ between runs.
bool isOfTensors(const SchemaRow& row, const RunSpec& spec) {
    constexpr std::array<std::string_view, 3> kOthers = {"model.start_from", "model.dropout",
                                                         "model.context"};
    const bool hasPositions = row.key == "model.context" && workloadOf(spec).hasPositionWeights();
    return row.key.starts_with("model.") && usesField(spec, row) &&
           (hasPositions || std::ranges::find(kOthers, row.key) == kOthers.end());
}

RunSpec spelledOut(RunSpec spec) {
    spec.model = workloadOf(spec).spelledOut(spec.model);
    return spec;
}

/// Folders of torchvision and timm have no sizes to compare, only the model's name.
Result<RunSpec> specThere(const RunSpec& spec, const std::string& config) {
    RM_ASSIGN_OR_RETURN(const auto json, parseJson(config, "config.json"));
    const auto architecture = json.is_object() ? textAt(json, "architecture") : std::nullopt;
    if (!architecture)
        return specOfConfig(config, spec, spec.model.startFrom);
    if (!findFamily(*architecture))
        return fail(ErrorCode::kInvalid, "its config.json describes a \"" + *architecture +
                                             "\", which is no model.type here");
    RunSpec there = spec;
    there.model.type = *architecture;
    return there;
}

} // namespace

std::string startText(const RunSpec& spec, const std::string& name) {
    return spec.model.startFrom.empty()
               ? std::string()
               : textBeside(spec.model.startFrom, name).value_or(std::string());
}

Result<void> checkStart(const RunSpec& spec) {
    if (const auto kind = weightsKindOf(spec.model.startFrom); !kind)
        return failAs(attemptOf(spec), kind.error());
    const std::string config = startText(spec, "config.json");
    if (config.empty())
        return {};
    const auto read = specThere(spec, config);
    if (!read)
        return failAs(attemptOf(spec), read.error());
    RunSpec here = spelledOut(spec);
    RunSpec there = spelledOut(*read);
    std::string settings, differences, lines;
    for (const SchemaRow& row : schemaRows()) {
        const std::string mine = valueOf(row.ref(here));
        const std::string theirs = valueOf(row.ref(there));
        if (!isOfTensors(row, there) || mine == theirs)
            continue;
        const std::string key(row.key);
        settings += (settings.empty() ? "" : ", ") + key + " = " + theirs;
        differences += "\n" + key + " is " + mine + ", but " + theirs + " in its config.json";
        lines += "\n" + key.substr(key.find('.') + 1) + " = " + theirs;
    }
    if (differences.empty())
        return {};
    return fail(ErrorCode::kInvalid,
                attemptOf(spec) +
                    ": the spec describes another model; name other weights, or set " + settings +
                    differences + "\nas lines of the spec:\n[model]" + lines);
}

int64_t vocabOfConfig(const std::string& config) {
    const auto json = parseJson(config, "config.json");
    return json ? std::max<int64_t>(0, intAt(*json, "vocab_size").value_or(0)) : 0;
}

Result<int64_t> embeddingRows(int64_t vocabSize, int64_t given) {
    if (given == 0)
        return vocabSize;
    if (given >= vocabSize && given - vocabSize < std::max(kMostPadding, given / kPaddingShare))
        return given;
    return fail(ErrorCode::kInvalid,
                "start from weights (model.start_from): they are for " + std::to_string(given) +
                    " tokens, the tokenizer has " + std::to_string(vocabSize) +
                    "; take theirs with data.tokenizer = \"tokenizer.json\" (or \"sentencepiece\", "
                    "\"bytes\") and, where it does not lie beside them, data.tokenizer_file");
}

Result<void> loadStart(const World& world, const RunSpec& spec, const Model& model) {
    Result<std::string> mine;
    if (world.isFirst()) {
        const std::string& source = spec.model.startFrom;
        const auto filled = readWeights(source)
                                .and_then([&](Weights weights) {
                                    return workloadOf(spec).withOurNames(
                                        spec, withoutWrappers(std::move(weights)), source);
                                })
                                .and_then([&](const Weights& weights) {
                                    return fillModel(model, weights, source);
                                });
        if (!filled)
            mine = failAs(attemptOf(spec), filled.error());
    }
    return agreeOnFirst(world, mine).map([](const std::string&) {});
}

} // namespace rm
