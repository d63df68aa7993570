// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/pre_tokenizer.h"

#include "shared/return_if_error.h"
#include "trainer/train/data/text/tokenizer_fields.h"

namespace rm {
namespace {

constexpr size_t kMostSteps = 32;

/// The pattern of GPT-2, which ByteLevel with use_regex cuts by.
constexpr const char* kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

constexpr const char* kKinds =
    "ByteLevel, or a Sequence of Split and Digits that ends with ByteLevel";

} // namespace

Result<PreTokenizer> PreTokenizer::parse(const Json& json) {
    PreTokenizer made;
    RM_RETURN_IF_ERROR(made.add(json, "pre_tokenizer"));
    if (!made.m_isByteLevel)
        return unsupported("pre_tokenizer", json, kKinds);
    return made;
}

Result<void> PreTokenizer::add(const Json& json, const std::string& path) {
    const std::string type = json.is_object() ? textAt(json, "type").value_or("") : "";
    if (m_isByteLevel || m_splits.size() > kMostSteps)
        return unsupported(path, json, kKinds);
    if (type == "Split")
        return addSplit(json, path);
    if (type == "Digits")
        return addDigits(json, path);
    if (type == "ByteLevel")
        return addByteLevel(json, path);
    const bool isOuter = path == "pre_tokenizer";
    if (type != "Sequence" || !isOuter)
        return unsupported(path, json, kKinds);
    if (const auto known = demandKeys(json, path, {"type", "pretokenizers"}); !known)
        return known;
    const Json& steps = fieldOf(json, "pretokenizers");
    if (!steps.is_array())
        return unsupported(path + ".pretokenizers", steps, "a list");
    for (size_t i = 0; i < steps.size(); ++i)
        if (const auto added = add(steps[i], path + "[" + std::to_string(i) + "]"); !added)
            return added;
    return {};
}

Result<void> PreTokenizer::addSplit(const Json& json, const std::string& path) {
    if (const auto known = demandKeys(json, path, {"type", "pattern", "behavior", "invert"});
        !known)
        return known;
    const Json& pattern = fieldOf(json, "pattern");
    const bool isOne = pattern.is_object() && pattern.size() == 1;
    const auto regex = isOne ? textAt(pattern, "Regex") : std::nullopt;
    const auto plain = isOne ? textAt(pattern, "String") : std::nullopt;
    if (!regex && !plain)
        return unsupported(path + ".pattern", pattern, R"({"Regex": text} or {"String": text})");
    RM_ASSIGN_OR_RETURN(const auto inverted, switchOf(json, path, "invert", false));
    const Json& behavior = fieldOf(json, "behavior");
    if (behavior != "Isolated" && behavior != "Removed")
        return unsupported(path + ".behavior", behavior, R"("Isolated" or "Removed")");
    RM_ASSIGN_OR_RETURN(auto compiled, Regex::compile(regex ? *regex : *plain, plain.has_value()));
    const auto removed = behavior == "Removed" ? std::optional(!inverted) : std::nullopt;
    m_splits.push_back({std::move(compiled), removed});
    return {};
}

Result<void> PreTokenizer::addDigits(const Json& json, const std::string& path) {
    if (const auto known = demandKeys(json, path, {"type", "individual_digits"}); !known)
        return known;
    RM_ASSIGN_OR_RETURN(const auto individual, switchOf(json, path, "individual_digits", false));
    RM_ASSIGN_OR_RETURN(auto compiled,
                        Regex::compile(individual ? R"(\p{N})" : R"(\p{N}+)", false));
    m_splits.push_back({std::move(compiled), std::nullopt});
    return {};
}

Result<void> PreTokenizer::addByteLevel(const Json& json, const std::string& path) {
    if (const auto known =
            demandKeys(json, path, {"type", "add_prefix_space", "trim_offsets", "use_regex"});
        !known)
        return known;
    const auto addsSpace = switchOf(json, path, "add_prefix_space", true);
    const auto usesRegex = switchOf(json, path, "use_regex", true);
    if (!addsSpace || !usesRegex)
        return tl::unexpected((addsSpace ? usesRegex : addsSpace).error());
    m_isByteLevel = true;
    m_addsSpace = *addsSpace;
    m_spaceBefore = m_splits.size();
    if (!*usesRegex)
        return {};
    RM_ASSIGN_OR_RETURN(auto compiled, Regex::compile(kGpt2, false));
    m_splits.push_back({std::move(compiled), std::nullopt});
    return {};
}

Result<void> PreTokenizer::forEachWord(std::string_view text, const Word& each) const {
    return text.empty() ? Result<void>() : cut(0, text, each);
}

Result<void> PreTokenizer::cut(size_t step, std::string_view text, const Word& each) const {
    std::string spaced;
    if (m_addsSpace && step == m_spaceBefore && !text.starts_with(' ')) {
        spaced = ' ';
        text = spaced.append(text);
    }
    if (step == m_splits.size()) {
        each(text);
        return {};
    }
    const Split& split = m_splits[step];
    return split.pattern.forEachSpan(text, [&](std::string_view part, bool isMatch) {
        return split.removed == isMatch ? Result<void>() : cut(step + 1, part, each);
    });
}

} // namespace rm
