// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/toml_edit.h"

#include "shared/spec/toml_library.h"

#include <algorithm>

namespace rm {

namespace {

constexpr std::string_view kBlank = " \t";

std::string valueText(const TomlField& field) {
    constexpr std::string_view kEquals = " = ";
    const std::string written = writeTomlFields({&field, 1});
    const size_t begin = written.find(kEquals) + kEquals.size();
    return written.substr(begin, written.size() - begin - 1);
}

/// The byte offset of a line and column, both counted from 1, columns in code points.
size_t offsetOf(std::string_view text, toml::source_position position) {
    size_t at = 0;
    for (toml::source_index line = 1; line < position.line; ++line)
        at = text.find('\n', at) + 1;
    const auto isContinuation = [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    };
    for (toml::source_index column = 1; column < position.column && at < text.size(); ++column)
        do
            ++at;
        while (at < text.size() && isContinuation(text[at]));
    return at;
}

size_t lineStart(std::string_view text, size_t at) {
    return at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
}

size_t nextLine(std::string_view text, size_t at) {
    const size_t end = text.find('\n', at);
    return end == text.npos ? text.size() : end + 1;
}

/// Keeps a comment after the value in its column as long as there is room before it.
void keepColumn(std::string& text, size_t behindValue, ptrdiff_t growth) {
    const size_t comment = text.find_first_not_of(kBlank, behindValue);
    if (comment == text.npos || text[comment] != '#' || text[behindValue] != ' ')
        return;
    const auto room = static_cast<ptrdiff_t>(comment - behindValue);
    const ptrdiff_t wanted = std::max<ptrdiff_t>(1, room - growth);
    if (room > 1)
        text.replace(behindValue, comment - behindValue, static_cast<size_t>(wanted), ' ');
}

std::string replaceValue(std::string text, const toml::source_region& where,
                         const std::string& value) {
    const size_t begin = offsetOf(text, where.begin), end = offsetOf(text, where.end);
    const auto growth = static_cast<ptrdiff_t>(value.size()) - static_cast<ptrdiff_t>(end - begin);
    text.replace(begin, end - begin, value);
    if (where.begin.line == where.end.line)
        keepColumn(text, begin + value.size(), growth);
    return text;
}

/// The last value of a table that is not a sub-table with its own header; null: there is none.
const toml::node* lastValue(const toml::table& table) {
    const toml::node* last = nullptr;
    for (const auto& [key, node] : table) {
        const bool isOwn = !node.is_table() || node.as_table()->is_inline();
        if (isOwn && (!last || node.source().end.line > last->source().end.line))
            last = &node;
    }
    return last;
}

std::string insertLine(std::string text, size_t at, const std::string& line) {
    if (at > 0 && text[at - 1] != '\n')
        return text.insert(at, '\n' + line);
    return text.insert(at, line + '\n');
}

/// Inserts below `above`, with the same indentation.
std::string insertBelow(const std::string& text, toml::source_position above,
                        const std::string& line) {
    const size_t at = offsetOf(text, above), start = lineStart(text, at);
    const size_t indent = std::min(text.find_first_not_of(kBlank, start), at) - start;
    return insertLine(text, nextLine(text, at), text.substr(start, indent) + line);
}

/// Inserts after the comments at the beginning of the file.
std::string insertOnTop(const std::string& text, const std::string& line) {
    size_t at = 0;
    while (at < text.size() && text[at] == '#')
        at = nextLine(text, at);
    return insertLine(text, at, line);
}

std::string insertInto(const std::string& text, const toml::table& section, std::string_view name,
                       const std::string& line) {
    const size_t begin = offsetOf(text, section.source().begin);
    const toml::node* last = lastValue(section);
    if (section.is_inline()) {
        const size_t close = offsetOf(text, section.source().end) - 1;
        const size_t behind = text.find_last_not_of(kBlank, close - 1) + 1;
        return std::string(text).insert(behind, (last ? ", " : " ") + line + (last ? "" : " "));
    }
    if (text[begin] != '[') // "section.key = value" lines
        return insertBelow(text, last->source().end, std::string(name) + '.' + line);
    return insertBelow(text, last ? last->source().end : section.source().end, line);
}

std::string appendSection(std::string text, std::string_view name, const std::string& line) {
    if (!text.empty() && text.back() != '\n')
        text += '\n';
    return text + (text.empty() ? "[" : "\n[") + std::string(name) + "]\n" + line + '\n';
}

std::string insertKey(const std::string& text, const toml::table& root, std::string_view section,
                      const std::string& line) {
    if (section.empty()) {
        const toml::node* last = lastValue(root);
        return last ? insertBelow(text, last->source().end, line) : insertOnTop(text, line);
    }
    const toml::table* table = root[section].as_table();
    return table ? insertInto(text, *table, section, line) : appendSection(text, section, line);
}

} // namespace

Result<std::string> setTomlField(std::string_view toml, std::string_view source,
                                 const TomlField& field) {
    const toml::parse_result parsed = toml::parse(toml, source);
    if (!parsed)
        return tl::unexpected(readTomlFields(toml, source, {}).error());
    const toml::table& root = parsed.table();
    const auto [section, name] = splitKey(field.key);
    const toml::node* node = section.empty() ? root[name].node() : root[section][name].node();
    if (node && node->is_table())
        return fail(ErrorCode::kInvalid, "write " + std::string(source) + ": \"" +
                                             std::string(field.key) + "\" is a section there");
    const std::string value = valueText(field), text(toml);
    return node ? replaceValue(text, node->source(), value)
                : insertKey(text, root, section, std::string(name) + " = " + value);
}

} // namespace rm
