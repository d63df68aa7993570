// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/run_filter.h"

#include "app/core/findings/text.h"
#include "shared/return_if_error.h"
#include "shared/spec/toml_fields.h"

#include <QString>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace rm {

namespace {

using Operator = RunFilter::Operator;
using Condition = RunFilter::Condition;

constexpr std::array<std::string_view, 8> kTextKeys{"name", "id",   "state",  "node",
                                                    "tag",  "note", "branch", "sweep"};
constexpr std::string_view kStarred = "starred", kArchived = "archived";
constexpr std::string_view kYes = "yes", kNo = "no";

struct Sign {
    std::string_view text;
    Operator is;
};
/// The longer ones first.
constexpr std::array kSigns{Sign{"<=", Operator::kAtMost},   Sign{">=", Operator::kAtLeast},
                            Sign{"!=", Operator::kNotEqual}, Sign{"==", Operator::kEqual},
                            Sign{"<", Operator::kLess},      Sign{">", Operator::kGreater},
                            Sign{"=", Operator::kEqual}};

std::string lowered(const QString& text) {
    return text.toLower().toStdString();
}

std::string lowered(const std::string& text) {
    return lowered(QString::fromStdString(text));
}

/// Of a mark that a run has or has not.
bool isMarkKey(std::string_view key) {
    return key == kStarred || key == kArchived;
}

bool isBlank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class FilterParser {
public:
    explicit FilterParser(std::string_view text)
        : m_rest(text) {}

    Result<RunFilter> parse() {
        RunFilter filter;
        for (skipBlanks(); !m_rest.empty(); skipBlanks()) {
            RM_ASSIGN_OR_RETURN(const std::string word, takeWord(true));
            skipBlanksBeforeSign();
            if (const auto is = takeSign()) {
                RM_ASSIGN_OR_RETURN(auto condition, conditionOf(word, *is));
                filter.conditions.push_back(std::move(condition));
            } else if (isTextKey(lowered(word)) && m_rest.starts_with(':')) {
                m_rest.remove_prefix(1);
                RM_ASSIGN_OR_RETURN(const std::string value, takeWord(false));
                if (value.empty())
                    return missing(word + ':');
                RM_ASSIGN_OR_RETURN(auto condition,
                                    checked({lowered(word), Operator::kHolds, lowered(value)}));
                filter.conditions.push_back(std::move(condition));
            } else {
                filter.words.push_back(lowered(word + takeTail()));
            }
        }
        return filter;
    }

private:
    void skipBlanks() {
        while (!m_rest.empty() && isBlank(m_rest.front()))
            m_rest.remove_prefix(1);
    }

    static const Sign* signAt(std::string_view text) {
        const auto sign = std::ranges::find_if(
            kSigns, [&](const Sign& each) { return text.starts_with(each.text); });
        return sign == kSigns.end() ? nullptr : &*sign;
    }

    void skipBlanksBeforeSign() {
        std::string_view behind = m_rest;
        while (!behind.empty() && isBlank(behind.front()))
            behind.remove_prefix(1);
        if (signAt(behind))
            m_rest = behind;
    }

    std::optional<Operator> takeSign() {
        const Sign* sign = signAt(m_rest);
        if (!sign)
            return std::nullopt;
        m_rest.remove_prefix(sign->text.size());
        return sign->is;
    }

    /// Up to a blank, and of a key to a sign or the colon behind a text key.
    Result<std::string> takeWord(bool isKey) {
        if (m_rest.starts_with('"')) {
            const size_t end = m_rest.find('"', 1);
            if (end == std::string_view::npos)
                return fail(ErrorCode::kInvalid, say("run.filter-open-quote"));
            const std::string word(m_rest.substr(1, end - 1));
            m_rest.remove_prefix(end + 1);
            return word;
        }
        size_t at = 0;
        while (at < m_rest.size() && !isBlank(m_rest[at]) &&
               !(isKey &&
                 (signAt(m_rest.substr(at)) ||
                  (m_rest[at] == ':' && isTextKey(lowered(std::string(m_rest.substr(0, at))))))))
            ++at;
        const std::string word(m_rest.substr(0, at));
        m_rest.remove_prefix(at);
        return word;
    }

    /// What is left of a word that has a colon.
    std::string takeTail() {
        size_t at = 0;
        while (at < m_rest.size() && !isBlank(m_rest[at]))
            ++at;
        const std::string tail(m_rest.substr(0, at));
        m_rest.remove_prefix(at);
        return tail;
    }

    Result<Condition> conditionOf(const std::string& key, Operator is) {
        skipBlanks();
        RM_ASSIGN_OR_RETURN(const std::string value, takeWord(false));
        if (key.empty() || value.empty())
            return missing(key);
        const std::string low = lowered(key);
        return checked({isTextKey(low) ? low : key, is, value, numberIn(value)});
    }

    /// Whether the value is such as the operator and the key can be asked for.
    static Result<Condition> checked(Condition condition) {
        const bool isOrder = condition.is != Operator::kEqual &&
                             condition.is != Operator::kNotEqual &&
                             condition.is != Operator::kHolds;
        const bool isMark = lowered(condition.value) == kYes || lowered(condition.value) == kNo;
        const char* phrase = isMarkKey(condition.key) && (isOrder || !isMark)
                                 ? "run.filter-yes-or-no"
                             : isOrder && !condition.number ? "run.filter-no-number"
                                                            : nullptr;
        if (!phrase)
            return condition;
        return fail(ErrorCode::kInvalid, say(phrase, {{"key", plainLine(condition.key)},
                                                      {"value", plainLine(condition.value)}}));
    }

    static tl::unexpected<Error> missing(const std::string& key) {
        return fail(ErrorCode::kInvalid, say("run.filter-no-value", {{"key", plainLine(key)}}));
    }

    std::string_view m_rest;
};

/// A run that has paused and waits to go on is both.
std::vector<std::string> statesOf(const RunSummary& run) {
    std::vector<std::string> states{runStateName(run)};
    if (run.queuePlace > 0)
        states.insert(states.end(),
                      {runStateName(run.state), runStateName(RunStateKind::kWaiting)});
    return states;
}

std::vector<std::string> textsOf(const RunSummary& run, std::string_view key) {
    std::vector<std::string> texts;
    if (key == "name")
        texts = {lowered(run.name)};
    else if (key == "id")
        texts = {lowered(run.id)};
    else if (key == "state")
        texts = statesOf(run);
    else if (isMarkKey(key))
        texts = {std::string((key == kStarred ? run.isStarred : run.isArchived) ? kYes : kNo)};
    else if (key == "note")
        texts = {lowered(run.notes)};
    else if (key == "branch")
        texts = {lowered(run.parentName), lowered(run.parentRun)};
    else if (key == "sweep")
        texts = {lowered(run.sweep)};
    else if (key == "tag")
        for (const QString& tag : run.tags)
            texts.push_back(lowered(tag));
    else if (key == "node")
        for (const RunNode& node : run.nodes)
            texts.push_back(lowered(node.nodeName));
    return texts;
}

bool holdsText(const RunSummary& run, std::string_view key, const std::string& part) {
    return std::ranges::any_of(textsOf(run, key), [&](const std::string& text) {
        return text.find(part) != std::string::npos;
    });
}

bool holdsWord(const RunSummary& run, const std::string& word) {
    return std::ranges::any_of(kTextKeys,
                               [&](std::string_view key) { return holdsText(run, key, word); });
}

bool compares(double left, Operator is, double right) {
    switch (is) {
    case Operator::kLess:
        return left < right;
    case Operator::kAtMost:
        return left <= right;
    case Operator::kGreater:
        return left > right;
    case Operator::kAtLeast:
        return left >= right;
    case Operator::kEqual:
        return left == right;
    case Operator::kNotEqual:
        return left != right;
    case Operator::kHolds:
        break;
    }
    return false;
}

bool compares(const Condition& condition, const std::string& value) {
    const auto number = numberIn(value);
    if (number && condition.number)
        return compares(*number, condition.is, *condition.number);
    const bool isSame = lowered(value) == lowered(condition.value);
    return condition.is == Operator::kEqual      ? isSame
           : condition.is == Operator::kNotEqual ? !isSame
                                                 : false;
}

bool holds(const Condition& condition, const RunSummary& run, const RunValueOf& valueOf) {
    if (condition.is == Operator::kHolds)
        return holdsText(run, condition.key, condition.value);
    if (isTextKey(condition.key)) {
        const auto texts = textsOf(run, condition.key);
        const bool isThere = std::ranges::count(texts, lowered(condition.value)) > 0;
        return (condition.is == Operator::kEqual && isThere) ||
               (condition.is == Operator::kNotEqual && !isThere);
    }
    if (const auto own = summaryNumber(run, condition.key))
        return *own && compares(condition, plainNumber(**own));
    const auto value = valueOf(condition.key);
    return value && compares(condition, *value);
}

} // namespace

std::optional<double> numberIn(const std::string& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool isAll = error == std::errc() && end == text.data() + text.size();
    return isAll && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<std::optional<double>> summaryNumber(const RunSummary& run, std::string_view key) {
    using Number = std::optional<double>;
    if (key == "loss")
        return run.loss;
    if (key == "best")
        return run.validationLoss;
    if (key == "step")
        return Number(static_cast<double>(run.step));
    if (key == "ranks")
        return Number(run.ranks);
    if (key == "attempt")
        return Number(run.attempt);
    return std::nullopt;
}

bool isTextKey(std::string_view key) {
    return std::ranges::find(kTextKeys, key) != kTextKeys.end() || isMarkKey(key);
}

Result<RunFilter> parseRunFilter(std::string_view text) {
    if (!isPlainText(text))
        return fail(ErrorCode::kInvalid, say("run.filter-no-text"));
    return FilterParser(text).parse();
}

bool isPutAway(const RunSummary& run) {
    return run.isArchived && hasEnded(run.state) && run.queuePlace == 0;
}

RunFilter ofArchive(RunFilter filter) {
    filter.conditions.push_back({std::string(kArchived), Operator::kHolds, std::string(kYes)});
    return filter;
}

bool matches(const RunFilter& filter, const RunSummary& run, const RunValueOf& valueOf) {
    const auto archived = std::ranges::find(filter.conditions, kArchived, &Condition::key);
    const auto isThere = [&](const std::string& word) { return holdsWord(run, word); };
    const auto isSo = [&](const Condition& condition) { return holds(condition, run, valueOf); };
    return (!isPutAway(run) || archived != filter.conditions.end()) &&
           std::ranges::all_of(filter.words, isThere) &&
           std::ranges::all_of(filter.conditions, isSo);
}

std::vector<std::string> keysBesidesSummary(const RunFilter& filter) {
    std::vector<std::string> keys;
    for (const Condition& condition : filter.conditions)
        if (!isTextKey(condition.key) && !summaryNumber({}, condition.key))
            keys.push_back(condition.key);
    return keys;
}

} // namespace rm
