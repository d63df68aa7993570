// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/branch_name.h"

#include "app/core/findings/text.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace rm {

namespace {

constexpr size_t kMostChanges = 3;  ///< more would not be read
constexpr size_t kLongestName = 64; ///< bytes; what a spec's name may have in characters

/// The shorter of "0.0005" and "5e-4".
std::string textOf(double value) {
    char plain[64], exponent[64];
    std::snprintf(plain, sizeof plain, "%.6g", value);
    int digits = 0;
    do
        std::snprintf(exponent, sizeof exponent, "%.*e", digits, value);
    while (++digits < 6 && std::stod(exponent) != std::stod(plain));
    std::string scientific(exponent);
    const size_t at = scientific.find('e');
    if (at == std::string::npos) // no finite number
        return plain;
    scientific =
        scientific.substr(0, at) + "e" + std::to_string(std::stoi(scientific.substr(at + 1)));
    return scientific.size() < std::string(plain).size() ? scientific : plain;
}

std::string textOf(bool value) {
    return say(value ? "run.on" : "run.off");
}

std::string textOf(int64_t value) {
    return std::to_string(value);
}

std::string textOf(const std::string& value) {
    return value.empty() ? say("run.none") : value;
}

template <class T>
std::string textOf(const std::vector<T>& values) {
    return values.size() == 1 ? textOf(values.front())
                              : say("run.values", {{"count", std::to_string(values.size())}});
}

std::string_view lastPart(std::string_view key) {
    return key.substr(key.rfind('.') + 1);
}

/// "lr" for "optimizer.lr", but "checkpoint.every" in full, as there is also "validation.every".
std::string shortKey(const SpecField& field) {
    const auto same = std::ranges::count_if(specSchema(), [&](const SpecField& other) {
        return lastPart(other.key) == lastPart(field.key);
    });
    return std::string(same == 1 ? lastPart(field.key) : field.key);
}

/// "lr 5e-4"
std::string settingText(const SpecField& field, RunSpec& spec) {
    return std::visit([&](auto* value) { return shortKey(field) + " " + textOf(*value); },
                      field.ref(spec));
}

bool isSame(const SpecField& field, RunSpec& a, RunSpec& b) {
    return std::visit(
        [&](auto* value) { return *value == *std::get<decltype(value)>(field.ref(b)); },
        field.ref(a));
}

/// "gpt-tiny" of "gpt-tiny, lr 3e-3", whose rate is another now.
std::string nameWithout(const std::string& name, const std::string& setting) {
    const std::string begin = ", " + setting + ' ';
    const size_t at = name.find(begin);
    const size_t next = at == name.npos ? at : name.find(", ", at + begin.size());
    return at == name.npos ? name
                           : name.substr(0, at) + (next == name.npos ? "" : name.substr(next));
}

} // namespace

std::string cutName(std::string name) {
    size_t end = std::min(name.size(), kLongestName);
    while (end < name.size() && (name[end] & 0xc0) == 0x80) // not within a character
        --end;
    name.resize(end);
    return name;
}

std::string settingInName(const RunSpec& spec, std::string_view key) {
    RunSpec own = spec;
    return settingText(*std::ranges::find(specSchema(), key, &SpecField::key), own);
}

std::string branchName(const RunSpec& parent, const RunSpec& branch, int64_t step) {
    RunSpec from = parent, to = branch;
    std::vector<std::string> parts{parent.name};
    for (const SpecField& field : specSchema())
        if (field.key != "name" && !isSame(field, from, to)) {
            parts.front() = nameWithout(parts.front(), shortKey(field));
            parts.push_back(settingText(field, to));
        }
    const Value name{"parent", parent.name};
    const size_t changes = parts.size() - 1;
    if (changes == 0)
        return cutName(say("run.branch-from", {name, {"step", std::to_string(step)}}));
    for (size_t shown = std::min(changes, kMostChanges); shown > 0; --shown)
        if (std::string words = someOf(parts, shown + 1); words.size() <= kLongestName)
            return words;
    return cutName(say("run.branch-with-changes", {name, {"changes", std::to_string(changes)}}));
}

} // namespace rm
