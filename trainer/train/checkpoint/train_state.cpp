// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/checkpoint/train_state.h"

#include "shared/io/file.h"
#include "shared/spec/run_spec.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace rm {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kVersion = 1;

std::string toHex(const std::vector<uint8_t>& bytes) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string hex;
    hex.reserve(bytes.size() * 2);
    for (const uint8_t byte : bytes) {
        hex.push_back(kDigits[byte >> 4]);
        hex.push_back(kDigits[byte & 15]);
    }
    return hex;
}

std::vector<uint8_t> fromHex(const std::string& hex) {
    if (hex.size() % 2 != 0)
        throw std::invalid_argument("odd number of hex digits");
    std::vector<uint8_t> bytes(hex.size() / 2);
    for (size_t i = 0; i < bytes.size(); ++i) {
        const char* digits = hex.data() + 2 * i;
        if (std::from_chars(digits, digits + 2, bytes[i], 16).ptr != digits + 2)
            throw std::invalid_argument("not a hex digit");
    }
    return bytes;
}

ordered_json numberOrNull(double number) {
    return std::isfinite(number) ? ordered_json(number) : ordered_json();
}

double numberOrNan(const json& value) {
    return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

ordered_json settingsToJson(const LiveSettings& settings) {
    ordered_json out = ordered_json::object();
    for (const std::string_view key : liveKeys()) {
        ordered_json& value = out[std::string(key)];
        if (const auto found = settings.find(key); found == settings.end())
            value = nullptr;
        else if (isWhole(key))
            value = static_cast<int64_t>(found->second);
        else
            value = found->second;
    }
    return out;
}

/// Reads the live settings; a checkpoint of an older release has fewer of them.
LiveSettings readSettings(const json& from) {
    LiveSettings settings;
    const std::vector<std::string_view> known = liveKeys();
    for (const auto& [key, value] : from.items()) {
        if (std::ranges::find(known, key) == known.end())
            throw std::invalid_argument(key + " was set, which this release cannot");
        if (!value.is_null())
            settings[key] = value.get<double>();
    }
    return settings;
}

ordered_json toJson(const Watched& watched) {
    return {
        {"last", numberOrNull(watched.last)},       {"best", numberOrNull(watched.best)},
        {"since_best", watched.sinceBest},          {"best_saved", numberOrNull(watched.bestSaved)},
        {"best_saved_step", watched.bestSavedStep},
    };
}

Watched readWatched(const json& from) {
    return {numberOrNan(from.at("last")), numberOrNan(from.at("best")),
            from.at("since_best").get<int64_t>(), numberOrNan(from.at("best_saved")),
            from.at("best_saved_step").get<int64_t>()};
}

ordered_json toJson(const RuleState& rule) {
    return {
        {"rule", rule.text},
        {"count", rule.count},
        {"last", numberOrNull(rule.last)},
        {"best", numberOrNull(rule.best)},
        {"spent", rule.isSpent},
        {"fired", rule.fired},
        {"owed_lr_factor", rule.owedLrFactor},
    };
}

RuleState readRule(const json& from) {
    return {from.at("rule").get<std::string>(),     from.at("count").get<int64_t>(),
            numberOrNan(from.at("last")),           numberOrNan(from.at("best")),
            from.at("spent").get<bool>(),           from.at("fired").get<int64_t>(),
            from.at("owed_lr_factor").get<double>()};
}

TrainState read(const json& from) {
    TrainState state;
    state.step = from.at("step").get<int64_t>();
    state.epoch = from.at("epoch").get<double>();
    state.cursor = from.at("sampler_cursor").get<int64_t>();
    state.worldSize = from.at("world_size").get<int64_t>();
    state.device = from.at("device").get<std::string>();
    state.specHash = from.at("spec_sha256").get<std::string>();
    state.dataIdentity = from.value("data", std::string());
    state.settings = readSettings(from.at("overrides"));
    state.validationLoss = numberOrNan(from.at("validation_loss"));
    state.positionsPerStep = from.value("positions_per_step", int64_t{0});
    if (const auto watched = from.find("watched"); watched != from.end())
        state.watched = readWatched(*watched);
    if (const auto gate = from.find("loss_scale"); gate != from.end()) {
        state.lossScale = gate->at("scale").get<double>();
        state.finiteSteps = gate->at("finite_steps").get<int64_t>();
        state.skippedSteps = gate->at("skipped_steps").get<int64_t>();
    }
    if (const auto spikes = from.find("spikes"); spikes != from.end())
        state.spikes = {spikes->at("losses").get<std::vector<double>>(),
                        spikes->at("grad_norms").get<std::vector<double>>()};
    for (const json& rule : from.value("rules", json::array()))
        state.rules.push_back(readRule(rule));
    for (const json& rng : from.at("rng"))
        state.rngStates.push_back(fromHex(rng.get<std::string>()));
    return state;
}

} // namespace

std::string toJson(const TrainState& state) {
    ordered_json rng = ordered_json::array();
    for (const auto& bytes : state.rngStates)
        rng.push_back(toHex(bytes));
    ordered_json out = {
        {"version", kVersion},
        {"step", state.step},
        {"epoch", state.epoch},
        {"sampler_cursor", state.cursor},
        {"positions_per_step", state.positionsPerStep},
        {"world_size", state.worldSize},
        {"device", state.device},
        {"spec_sha256", state.specHash},
        {"data", state.dataIdentity},
        {"overrides", settingsToJson(state.settings)},
        {"validation_loss", numberOrNull(state.validationLoss)},
        {"watched", toJson(state.watched)},
        {"loss_scale",
         {{"scale", state.lossScale},
          {"finite_steps", state.finiteSteps},
          {"skipped_steps", state.skippedSteps}}},
    };
    if (state.spikes != SpikeWindows())
        out["spikes"] = {{"losses", state.spikes.losses}, {"grad_norms", state.spikes.gradNorms}};
    for (const RuleState& rule : state.rules)
        out["rules"].push_back(toJson(rule));
    out["rng"] = std::move(rng);
    return out.dump(1) + "\n";
}

Result<TrainState> parseTrainState(const std::string& text, const std::string& source) {
    try {
        const json from = json::parse(text);
        if (from.at("version").get<int>() > kVersion)
            return fail(ErrorCode::kTooNew, "read " + source + ": written by a newer release");
        return read(from);
    } catch (const std::exception& error) { // nlohmann reports by exception
        return fail(ErrorCode::kCorrupt, "read " + source + ": " + error.what());
    }
}

std::string specHashOf(const RunSpec& spec) {
    const std::string toml = toToml(spec);
    return sha256Hex(std::as_bytes(std::span<const char>(toml)));
}

} // namespace rm
