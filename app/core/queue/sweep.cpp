// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/queue/sweep.h"

#include "app/core/findings/text.h"
#include "app/core/launch/recipes.h"
#include "app/core/queue/halving.h"
#include "app/core/runs/branch_name.h"
#include "app/core/runs/run_values.h"
#include "shared/return_if_error.h"
#include "shared/spec/schema.h"
#include "shared/spec/toml_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <random>
#include <set>

namespace rm {

namespace {

using Choice = std::vector<std::string>; ///< a value for each axis

constexpr double kLogarithmicFrom = 10; ///< the ratio of a range's ends
constexpr int kMostDraws = 50;          ///< draws of a random choice that is there already

tl::unexpected<Error> refuse(std::string_view text, const std::string& why) {
    return fail(ErrorCode::kInvalid,
                say("queue.read-axis", {{"text", plainLine(text)}}) + ": " + why);
}

template <class T>
std::optional<T> wholeOrReal(std::string_view text) {
    T number{};
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
    const size_t first = text.find_first_not_of(' ');
    return first == text.npos ? std::string_view()
                              : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// At commas, but not within quotes and brackets.
std::vector<std::string> parted(std::string_view text) {
    std::vector<std::string> parts(1);
    int depth = 0;
    bool isQuoted = false;
    for (const char byte : text) {
        isQuoted = isQuoted != (byte == '"');
        depth += isQuoted ? 0 : byte == '[' ? 1 : byte == ']' ? -1 : 0;
        if (byte == ',' && !isQuoted && depth == 0)
            parts.emplace_back();
        else
            parts.back() += byte;
    }
    for (std::string& part : parts)
        part = std::string(trimmed(part));
    return parts;
}

const SpecField& fieldOf(const std::string& key) {
    return *std::ranges::find(specSchema(), key, &SpecField::key);
}

template <class T>
bool isOf(const SpecField& field) {
    RunSpec spec;
    return std::holds_alternative<T*>(field.ref(spec));
}

Result<SweepAxis> rangeOf(std::string_view text, SweepAxis axis, std::string_view values) {
    const size_t dots = values.find("..");
    const size_t slash = values.find('/', dots);
    const auto from = wholeOrReal<double>(trimmed(values.substr(0, dots)));
    const auto to = wholeOrReal<double>(trimmed(values.substr(dots + 2, slash - dots - 2)));
    const auto count = slash == values.npos ? std::optional(0)
                                            : wholeOrReal<int>(trimmed(values.substr(slash + 1)));
    if (!from || !to || !count || !(*from < *to) || !std::isfinite(*from) || !std::isfinite(*to) ||
        (slash != values.npos && *count < 2))
        return refuse(text, say("queue.bad-range"));
    axis.from = *from;
    axis.to = *to;
    axis.count = *count;
    axis.isLogarithmic = *from > 0 && *to >= kLogarithmicFrom * *from;
    return axis;
}

/// The value at that share of the range's length.
std::string valueAt(const SweepAxis& axis, double share) {
    const double value = axis.isLogarithmic ? axis.from * std::pow(axis.to / axis.from, share)
                                            : axis.from + share * (axis.to - axis.from);
    if (isOf<int64_t>(fieldOf(axis.key)))
        return std::to_string(std::llround(value));
    constexpr int kDigits = 4; // more would only make the names long
    char text[64];
    std::snprintf(text, sizeof text, "%.*g", kDigits, value);
    return text;
}

/// Each once: a narrow range of whole numbers has some twice.
std::vector<std::string> distinct(const std::vector<std::string>& values) {
    std::vector<std::string> once;
    for (const std::string& value : values)
        if (std::ranges::find(once, value) == once.end())
            once.push_back(value);
    return once;
}

Result<std::vector<std::string>> gridValues(const SweepAxis& axis) {
    if (!axis.values.empty())
        return distinct(axis.values);
    if (axis.count == 0)
        return fail(ErrorCode::kInvalid, say("queue.grid-of-range", {{"key", axis.key}}));
    std::vector<std::string> values;
    for (int i = 0; i < axis.count; ++i)
        values.push_back(valueAt(axis, static_cast<double>(i) / (axis.count - 1)));
    return distinct(values);
}

Result<std::vector<Choice>> grid(const SweepPlan& plan) {
    std::vector<Choice> choices(1);
    for (const SweepAxis& axis : plan.axes) {
        RM_ASSIGN_OR_RETURN(const auto values, gridValues(axis));
        std::vector<Choice> longer;
        if (choices.size() * values.size() > kMostSweepRuns)
            return fail(ErrorCode::kInvalid,
                        say("queue.too-many-runs", {{"most", std::to_string(kMostSweepRuns)}}));
        for (const Choice& choice : choices)
            for (const std::string& value : values) {
                longer.push_back(choice);
                longer.back().push_back(value);
            }
        choices = std::move(longer);
    }
    return choices;
}

/// A number in [0, 1), the same on every machine, which std::uniform_real_distribution does not
/// promise.
double drawn(std::mt19937_64& random) {
    return static_cast<double>(random() >> 11) * 0x1p-53;
}

std::string drawn(const SweepAxis& axis, std::mt19937_64& random) {
    const double share = drawn(random);
    if (axis.values.empty())
        return valueAt(axis, share);
    return axis.values[static_cast<size_t>(share * static_cast<double>(axis.values.size()))];
}

Result<std::vector<Choice>> randomChoices(const SweepPlan& plan) {
    if (static_cast<size_t>(plan.samples) > kMostSweepRuns)
        return fail(ErrorCode::kInvalid,
                    say("queue.too-many-runs", {{"most", std::to_string(kMostSweepRuns)}}));
    std::mt19937_64 random(static_cast<uint64_t>(plan.seed));
    std::vector<Choice> choices;
    std::set<Choice> known;
    for (int i = 0; i < plan.samples; ++i)
        for (int draw = 0; draw < kMostDraws; ++draw) {
            Choice choice;
            for (const SweepAxis& axis : plan.axes)
                choice.push_back(drawn(axis, random));
            if (!known.insert(choice).second)
                continue;
            choices.push_back(std::move(choice));
            break;
        }
    return choices;
}

/// An ending that no other run of the sweep has, as names cut what differs.
std::string unique(const std::string& name, std::set<std::string>& names) {
    constexpr size_t kLongest = 64; // checkName()
    std::string candidate = name;
    for (int number = 2; !names.insert(candidate).second; ++number) {
        const std::string ending = " #" + std::to_string(number);
        candidate = name.substr(0, std::min(name.size(), kLongest - ending.size())) + ending;
    }
    return candidate;
}

Result<RunSpec> specOf(const RunSpec& base, const SweepPlan& plan, const Choice& choice) {
    RunSpec spec = base;
    std::vector<std::string> overrides;
    for (size_t i = 0; i < choice.size(); ++i)
        overrides.push_back(plan.axes[i].key + "=" + choice[i]);
    RM_RETURN_IF_ERROR(applyOverrides(spec, overrides));
    for (const SweepAxis& axis : plan.axes)
        spec.name += ", " + settingInName(spec, axis.key);
    spec.name = cutName(spec.name);
    if (plan.firstRung == 0)
        return spec;
    const auto steps = knownSteps(spec);
    if (!steps)
        return fail(ErrorCode::kInvalid, say("queue.halving-of-epochs"));
    spec.train.pauseAt = halvingRungs(plan.firstRung, plan.eta, *steps);
    if (spec.train.pauseAt.empty())
        return fail(ErrorCode::kInvalid,
                    say("queue.nothing-to-halve", {{"first", std::to_string(plan.firstRung)},
                                                   {"steps", std::to_string(*steps)}}));
    return spec;
}

} // namespace

Result<SweepAxis> parseSweepAxis(std::string_view text) {
    const size_t equals = text.find('=');
    if (equals == text.npos || trimmed(text.substr(equals + 1)).empty())
        return refuse(text, say("queue.no-values"));
    const std::string key(trimmed(text.substr(0, equals)));
    const auto known = parseValueKey(key);
    if (!known || known->kind != ValueKey::Kind::kSetting || known->name == "name")
        return refuse(text, known ? say("queue.no-setting", {{"key", plainLine(key)}})
                                  : known.error().message);
    SweepAxis axis;
    axis.key = known->name;
    const std::string_view values = text.substr(equals + 1);
    const SpecField& field = fieldOf(axis.key);
    const bool isNumber = isOf<double>(field) || isOf<int64_t>(field);
    if (isNumber && values.find("..") != values.npos)
        return rangeOf(text, axis, values);
    axis.values = parted(values);
    if (std::ranges::count(axis.values, std::string()) > 0)
        return refuse(text, say("queue.empty-value"));
    return axis;
}

Result<std::vector<CheckedSpec>> sweepSpecs(const RunSpec& base, const SweepPlan& plan) {
    if (plan.axes.empty())
        return fail(ErrorCode::kInvalid, say("queue.no-axis"));
    for (const SweepAxis& axis : plan.axes)
        if (std::ranges::count(plan.axes, axis.key, &SweepAxis::key) > 1)
            return fail(ErrorCode::kInvalid, say("queue.axis-twice", {{"key", axis.key}}));
    if (plan.firstRung > 0 && !base.train.pauseAt.empty())
        return fail(ErrorCode::kInvalid, say("queue.pauses-itself"));
    for (const SweepAxis& axis : plan.axes)
        if (plan.firstRung > 0 && (axis.key == "train.steps" || axis.key == "train.pause_at"))
            return fail(ErrorCode::kInvalid, say("queue.other-lengths", {{"key", axis.key}}));
    RM_ASSIGN_OR_RETURN(const auto choices, plan.samples > 0 ? randomChoices(plan) : grid(plan));
    std::vector<CheckedSpec> specs;
    std::set<std::string> names;
    for (const Choice& choice : choices) {
        RM_ASSIGN_OR_RETURN(auto spec, specOf(base, plan, choice));
        spec.name = unique(spec.name, names);
        const std::string name = spec.name;
        auto checked = check(std::move(spec));
        if (!checked)
            return failAs(say("queue.check-run", {{"run", name}}), checked.error());
        specs.push_back(std::move(*checked));
    }
    return specs;
}

Result<std::vector<CheckedSpec>> runsOf(const RunSpec& base, const SweepPlan& plan) {
    if (!plan.axes.empty())
        return sweepSpecs(base, plan);
    return check(base).map(
        [](CheckedSpec spec) { return std::vector<CheckedSpec>{std::move(spec)}; });
}

RunSpec withoutRungs(RunSpec spec, const std::optional<StoredSweep>& sweep) {
    if (sweep && sweep->eta > 0)
        spec.train.pauseAt.clear();
    return spec;
}

} // namespace rm
