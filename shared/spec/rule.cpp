// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/rule.h"

#include "shared/metrics/registry.h"
#include "shared/return_if_error.h"
#include "shared/spec/toml_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace rm {

namespace {

using When = Rule::When;
using Action = Rule::Action;

constexpr size_t kMostText = 400;
constexpr size_t kMostActions = 8;
constexpr int64_t kMostTimes = 1'000'000;

constexpr std::array<std::pair<std::string_view, When>, 5> kWhens = {{{"rises", When::kRises},
                                                                      {"falls", When::kFalls},
                                                                      {"stalls", When::kStalls},
                                                                      {"above", When::kAbove},
                                                                      {"below", When::kBelow}}};
constexpr std::array<std::pair<std::string_view, Action::Kind>, 5> kActions = {
    {{"lr", Action::Kind::kLr},
     {"checkpoint", Action::Kind::kCheckpoint},
     {"hold", Action::Kind::kHold},
     {"pause", Action::Kind::kPause},
     {"stop", Action::Kind::kStop}}};

bool hasBound(When when) {
    return when == When::kAbove || when == When::kBelow;
}

template <class Table>
auto find(const Table& table, std::string_view word) {
    return std::ranges::find(table, word, [](const auto& row) { return row.first; });
}

template <class Table, class Value>
std::string_view nameIn(const Table& table, Value value) {
    return std::ranges::find(table, value, [](const auto& row) { return row.second; })->first;
}

template <class T>
std::optional<T> numberIn(std::string_view word) {
    T number{};
    const char* end = word.data() + word.size();
    const auto parsed = std::from_chars(word.data(), end, number);
    return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

std::optional<double> finiteIn(std::string_view word) {
    const auto number = numberIn<double>(word);
    return number && std::isfinite(*number) ? number : std::nullopt;
}

/// Words one after the other; ':' is a word of its own.
class Words {
public:
    explicit Words(std::string_view text) {
        for (size_t at = 0; at < text.size();) {
            if (text[at] == ' ') {
                ++at;
                continue;
            }
            size_t end = at + 1;
            while (text[at] != ':' && end < text.size() && text[end] != ' ' && text[end] != ':')
                ++end;
            m_words.push_back(text.substr(at, end - at));
            at = end;
        }
    }
    std::string_view peek(size_t ahead = 0) const {
        return m_at + ahead < m_words.size() ? m_words[m_at + ahead] : std::string_view();
    }
    std::string_view take() { return m_at < m_words.size() ? m_words[m_at++] : std::string_view(); }
    bool take(std::string_view word) {
        if (peek() != word)
            return false;
        ++m_at;
        return true;
    }
    bool isAtEnd() const { return m_at == m_words.size(); }

private:
    std::vector<std::string_view> m_words;
    size_t m_at = 0;
};

tl::unexpected<Error> wanted(const std::string& what, std::string_view found) {
    return fail(ErrorCode::kInvalid, "expected " + what +
                                         (found.empty() ? ", but it ends" : ", not \"") +
                                         std::string(found) + (found.empty() ? "" : "\""));
}

/// "3 times"
Result<int64_t> readTimes(Words& words, const char* orWhat) {
    const std::string_view count = words.take();
    const auto times = numberIn<int64_t>(count);
    if (!times || *times < 1 || *times > kMostTimes)
        return wanted(std::string("how many times, 1 to 1000000") + orWhat, count);
    if (!words.take("times") && !words.take("time"))
        return wanted("\"times\" after " + std::string(count), words.peek());
    return *times;
}

Result<void> readWhen(Words& words, Rule& rule) {
    const std::string_view word = words.take();
    const auto when = find(kWhens, word);
    if (when == kWhens.end())
        return wanted("rises, falls, stalls, above or below after the metric", word);
    rule.when = when->second;
    if (rule.when == When::kStalls &&
        findBuiltinMetric(rule.metric)->direction == MetricDirection::kNeither)
        return fail(ErrorCode::kInvalid,
                    rule.metric + " cannot stall, as no value of it is better than another");
    if (hasBound(rule.when)) {
        const std::string_view bound = words.take();
        const auto number = finiteIn(bound);
        if (!number)
            return wanted("a number after " + std::string(word), bound);
        rule.bound = *number;
    }
    if (words.peek() == ":")
        return {};
    RM_ASSIGN_OR_RETURN(rule.times, readTimes(words, ", or \":\""));
    return {};
}

bool isLastOne(Action::Kind kind) {
    return kind == Action::Kind::kHold || kind == Action::Kind::kPause ||
           kind == Action::Kind::kStop;
}

Result<Action> readAction(Words& words) {
    const std::string_view word = words.take();
    const auto known = find(kActions, word);
    if (known == kActions.end())
        return wanted("lr / NUMBER, lr * NUMBER, checkpoint, hold, pause or stop", word);
    Action action{known->second, 1};
    if (action.kind != Action::Kind::kLr)
        return action;
    const std::string_view sign = words.take();
    if (sign != "/" && sign != "*")
        return wanted("\"/\" or \"*\" after lr, between blanks", sign);
    const std::string_view factor = words.take();
    const auto number = finiteIn(factor);
    if (!number || *number < 1e-6 || *number > 1e6)
        return wanted("a number from 0.000001 to 1000000 after lr " + std::string(sign), factor);
    action.factor = sign == "/" ? 1 / *number : *number;
    return action;
}

Result<void> readActions(Words& words, Rule& rule) {
    do {
        if (!rule.actions.empty() && isLastOne(rule.actions.back().kind))
            return fail(ErrorCode::kInvalid,
                        "nothing can follow " +
                            std::string(nameIn(kActions, rule.actions.back().kind)));
        RM_ASSIGN_OR_RETURN(const auto action, readAction(words));
        rule.actions.push_back(action);
    } while (words.take("and") && rule.actions.size() < kMostActions);
    if (words.peek() == "at" && words.peek(1) == "most") {
        words.take();
        words.take();
        RM_ASSIGN_OR_RETURN(rule.most, readTimes(words, ""));
    }
    return words.isAtEnd()
               ? Result<void>()
               : wanted("\"and\" with another action, 8 of them in all, \"at most N times\" or the "
                        "end",
                        words.peek());
}

Result<Rule> read(std::string_view text) {
    if (text.size() > kMostText || !isPlainText(text) || text.find('\n') != text.npos)
        return fail(ErrorCode::kInvalid, "a rule is one line of at most 400 characters");
    Rule rule;
    rule.text = text;
    Words words(text);
    const std::vector<std::string_view> metrics = ruleMetrics();
    rule.metric = words.take();
    if (std::ranges::find(metrics, rule.metric) == metrics.end())
        return wanted("a metric first, one of " + listed(metrics), rule.metric);
    RM_RETURN_IF_ERROR(readWhen(words, rule));
    if (!words.take(":"))
        return wanted("\":\" before what is done", words.peek());
    RM_RETURN_IF_ERROR(readActions(words, rule));
    return rule;
}

} // namespace

std::vector<std::string_view> ruleMetrics() {
    std::vector<std::string_view> names;
    for (const MetricDef& metric : builtinMetrics())
        if (metric.name.starts_with("validation/") || metric.id == metric::kTrainLoss ||
            metric.id == metric::kTrainGradNorm || metric.id == metric::kTrainStepMs ||
            metric.id == metric::kTrainTokensPerS || metric.id == metric::kTrainImagesPerS)
            names.push_back(metric.name);
    return names;
}

Result<Rule> parseRule(std::string_view text) {
    auto rule = read(text);
    if (!rule)
        return failAs("rule \"" + std::string(text.substr(0, kMostText)) + "\"", rule.error());
    return rule;
}

std::string ruleHelp() {
    std::vector<std::string> whens, actions;
    for (const auto& [name, when] : kWhens)
        whens.push_back(std::string(name) + (hasBound(when) ? " NUMBER" : ""));
    for (const auto& [name, kind] : kActions)
        actions.push_back(std::string(name) +
                          (kind == Action::Kind::kLr ? " / NUMBER, lr * NUMBER" : ""));
    return "METRIC WHEN [N times]: ACTION [and ACTION] [at most N times]\n"
           "METRIC: " +
           listed(ruleMetrics()) + "\nWHEN: " + listed({whens.begin(), whens.end()}) +
           "\nACTION: " + listed({actions.begin(), actions.end()}) +
           "\nvalidation/loss rises 3 times: lr / 2 and checkpoint at most 4 times\n"
           "train/grad_norm above 100 5 times: hold";
}

std::string toText(const Rule& rule) {
    std::string text = rule.metric + " " + std::string(nameIn(kWhens, rule.when));
    if (hasBound(rule.when))
        text += " " + plainNumber(rule.bound);
    if (rule.times > 1)
        text += " " + std::to_string(rule.times) + " times";
    text += ":";
    for (const Action& action : rule.actions) {
        text += (&action == &rule.actions.front() ? " " : " and ") +
                std::string(nameIn(kActions, action.kind));
        if (action.kind == Action::Kind::kLr)
            text += " * " + plainNumber(action.factor);
    }
    if (rule.most > 0)
        text += " at most " + std::to_string(rule.most) + " times";
    return text;
}

} // namespace rm
