// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/checkpoint/train_state.h"

#include <nlohmann/json.hpp>

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

template <class T>
ordered_json orNull(const std::optional<T>& value) {
    return value ? ordered_json(*value) : ordered_json();
}

template <class T>
std::optional<T> optionalOf(const json& value) {
    return value.is_null() ? std::nullopt : std::optional(value.get<T>());
}

TrainState read(const json& from) {
    TrainState state;
    state.step = from.at("step").get<int64_t>();
    state.epoch = from.at("epoch").get<double>();
    state.cursor = from.at("sampler_cursor").get<int64_t>();
    state.worldSize = from.at("world_size").get<int64_t>();
    state.device = from.at("device").get<std::string>();
    state.specHash = from.at("spec_sha256").get<std::string>();
    const json& overrides = from.at("overrides");
    state.overrides.lr = optionalOf<double>(overrides.at("optimizer.lr"));
    state.overrides.clip = optionalOf<double>(overrides.at("optimizer.clip"));
    state.overrides.logEvery = optionalOf<int64_t>(overrides.at("train.log_every"));
    state.validationLoss = numberOrNan(from.at("validation_loss"));
    state.bestValidationLoss = numberOrNan(from.at("best_validation_loss"));
    for (const json& rng : from.at("rng"))
        state.rngStates.push_back(fromHex(rng.get<std::string>()));
    return state;
}

} // namespace

std::string toJson(const TrainState& state) {
    ordered_json rng = ordered_json::array();
    for (const auto& bytes : state.rngStates)
        rng.push_back(toHex(bytes));
    const ordered_json out = {
        {"version", kVersion},
        {"step", state.step},
        {"epoch", state.epoch},
        {"sampler_cursor", state.cursor},
        {"world_size", state.worldSize},
        {"device", state.device},
        {"spec_sha256", state.specHash},
        {"overrides",
         {{"optimizer.lr", orNull(state.overrides.lr)},
          {"optimizer.clip", orNull(state.overrides.clip)},
          {"train.log_every", orNull(state.overrides.logEvery)}}},
        {"validation_loss", numberOrNull(state.validationLoss)},
        {"best_validation_loss", numberOrNull(state.bestValidationLoss)},
        {"rng", std::move(rng)},
    };
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

} // namespace rm
