// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/text.h"

#include "app/core/findings/tables.h"

#include <QCoreApplication>

#include <algorithm>
#include <unordered_map>

namespace rm {

namespace {

template <class Text>
using ById = std::unordered_map<std::string_view, Text>;

ById<const char*> phrasesById() {
    ById<const char*> all;
    for (const TextTable& table : textTables())
        for (const Phrase& phrase : table.phrases)
            all.emplace(phrase.id, phrase.text);
    return all;
}

/// Each with its own title.
ById<FindingText> findingsById() {
    ById<FindingText> all;
    for (const TextTable& table : textTables()) {
        const char* title = "";
        for (FindingText text : table.findings) {
            if (*text.title == '\0')
                text.title = title;
            title = text.title;
            all.emplace(text.id, text);
        }
    }
    return all;
}

template <class Text>
const Text* found(const ById<Text>& texts, std::string_view id) {
    const auto at = texts.find(id);
    if (at != texts.end())
        return &at->second;
    qCritical("no text is called %s", std::string(id).c_str());
    return nullptr;
}

/// Which values were put into a text, of those of one finding.
using Used = std::vector<bool>;

/// The source text, translated, with the values at its places. Values are not read again: braces in
/// them stay.
std::string filled(std::string_view id, const char* source, Values values, Used& used) {
    const std::string text = *source == '\0'
                                 ? std::string()
                                 : QCoreApplication::translate("Findings", source).toStdString();
    std::string words;
    for (size_t at = 0; at < text.size();) {
        const size_t open = text.find('{', at);
        words.append(text, at, open - at);
        if (open == std::string::npos)
            break;
        const size_t close = text.find('}', open);
        const std::string_view place =
            close == std::string::npos ? std::string_view()
                                       : std::string_view(text).substr(open + 1, close - open - 1);
        const auto value = std::ranges::find(values, place, &Value::place);
        if (value == values.end()) {
            qCritical("text %s: its place {%s} has no value", std::string(id).c_str(),
                      std::string(place).c_str());
            words += '{';
            at = open + 1;
            continue;
        }
        used[static_cast<size_t>(value - values.begin())] = true;
        words += value->text;
        at = close + 1;
    }
    return words;
}

void checkAllUsed(std::string_view id, Values values, const Used& used) {
    for (size_t i = 0; i < values.size(); ++i)
        if (!used[i])
            qCritical("text %s: it has no place {%s}", std::string(id).c_str(),
                      std::data(values)[i].place);
}

std::string listedWith(const std::vector<std::string>& items, std::string_view last) {
    if (items.size() < 2)
        return joined(items);
    const std::vector<std::string> first(items.begin(), items.end() - 1);
    return say(last, {{"first", joined(first, ", ")}, {"last", items.back()}});
}

void appendOnce(std::string& list, const std::string& item) {
    if (!item.empty() && list.find(item) == std::string::npos)
        append(list, item);
}

} // namespace

std::vector<TextTable> textTables() {
    return {listTexts(),  nodeTexts(), gpuTexts(), launchTexts(), networkTexts(), runTexts(),
            queueTexts(), paceTexts(), sshTexts(), engineTexts(), machineTexts()};
}

std::string say(std::string_view id, Values values) {
    static const auto phrases = phrasesById();
    const char* const* phrase = found(phrases, id);
    if (phrase == nullptr)
        return std::string(id);
    Used used(values.size());
    std::string words = filled(id, *phrase, values, used);
    checkAllUsed(id, values, used);
    return words;
}

CheckRow finding(std::string_view id, Values values, std::optional<CheckAction> action) {
    static const auto findings = findingsById();
    const FindingText* text = found(findings, id);
    const std::string row(id.substr(0, id.find('.')));
    if (text == nullptr)
        return {row, CheckRow::State::kBad, std::string(id), {}, {}, {}};
    Used used(values.size());
    const auto words = [&](const char* source) { return filled(id, source, values, used); };
    CheckRow result{row,
                    text->state,
                    words(text->title),
                    words(text->evidence),
                    words(text->cause),
                    words(text->fix),
                    std::move(action)};
    checkAllUsed(id, values, used);
    return result;
}

void addFinding(CheckRow& row, std::string_view id, Values values,
                std::optional<CheckAction> action) {
    CheckRow more = finding(id, values, std::move(action));
    if (row.id.empty()) {
        row = std::move(more);
        return;
    }
    row.state = std::max(row.state, more.state);
    if (!more.evidence.empty())
        append(row.evidence, more.evidence);
    appendOnce(row.cause, more.cause);
    appendOnce(row.fix, more.fix);
    if (more.action)
        row.action = std::move(more.action);
}

std::string sentenceOf(const CheckRow& row) {
    return say("check.sentence",
               {{"evidence", row.evidence}, {"cause", row.cause}, {"fix", row.fix}});
}

tl::unexpected<Error> failCancelled(const std::string& attempt) {
    return fail(ErrorCode::kUnavailable, say("error.cancelled", {{"attempt", attempt}}));
}

CheckAction copyCommand(std::string command) {
    return {CheckAction::Kind::kCopyCommand, say("action.copy-command"), std::move(command)};
}

std::string joined(const std::vector<std::string>& items, std::string_view between) {
    std::string text;
    for (const std::string& item : items)
        append(text, item, between);
    return text;
}

std::string listed(const std::vector<std::string>& items) {
    return listedWith(items, "list.and");
}

std::string orListed(const std::vector<std::string>& items) {
    return listedWith(items, "list.or");
}

std::string someOf(const std::vector<std::string>& items, size_t most) {
    if (items.size() <= most)
        return joined(items, ", ");
    const std::vector<std::string> first(items.begin(),
                                         items.begin() + static_cast<std::ptrdiff_t>(most));
    return say("list.more",
               {{"first", joined(first, ", ")}, {"more", std::to_string(items.size() - most)}});
}

void append(std::string& list, const std::string& item, std::string_view between) {
    if (!list.empty())
        list += between;
    list += item;
}

} // namespace rm
