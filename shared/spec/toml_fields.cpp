// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/toml_fields.h"

#include "shared/io/json.h"
#include "shared/spec/toml_library.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <sstream>
#include <utility>

namespace rm {

namespace {

constexpr size_t kMaxMistakes = 20;

/// Number of insertions, deletions, replacements and swaps of neighbours (optimal string
/// alignment).
size_t editDistance(std::string_view a, std::string_view b) {
    std::vector<size_t> before, last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), size_t{0});
    for (size_t i = 0; i < a.size(); ++i) {
        row[0] = i + 1;
        for (size_t j = 0; j < b.size(); ++j) {
            row[j + 1] = std::min({last[j] + (a[i] != b[j]), row[j] + 1, last[j + 1] + 1});
            if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
                row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
        }
        before = std::exchange(last, row);
    }
    return last.back();
}

/// "Learning-Rate" -> "learning_rate"
std::string plainKey(std::string_view key) {
    std::string plain(key);
    for (char& c : plain)
        c = c == '-' || c == ' ' ? '_' : static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return plain;
}

constexpr size_t kUnlike = SIZE_MAX;

/// Edit distance of two names; kUnlike when it is too large for a misspelling.
size_t misspelling(std::string_view name, std::string_view written) {
    const size_t most = written.size() < 5 ? 1 : std::max<size_t>(2, written.size() / 3);
    if (std::max(name.size(), written.size()) - std::min(name.size(), written.size()) > most)
        return kUnlike;
    const size_t edits = editDistance(name, written);
    return edits <= most && edits < std::min(name.size(), written.size()) ? edits : kUnlike;
}

/// How far an unknown key (as plainKey()) is from a field. The distance to its name or one of its
/// aliases counts most, then whether it is in the section that was written, then how much the two
/// sections differ. kUnlike: the key does not mean this field.
size_t unlikeness(const TomlField& field, std::string_view key) {
    // In units of a section's letters.
    constexpr size_t kEdit = 1000, kAlias = 300, kElsewhere = 800;
    const auto [section, name] = splitKey(key);
    const auto [itsSection, itsName] = splitKey(field.key);
    if (section == itsSection && name == std::string(itsName) + "_steps") // the unit of most keys
        return 0;
    size_t best = misspelling(itsName, name);
    best = best == kUnlike ? best : best * kEdit;
    for (const std::string_view alias : field.aliases)
        if (const size_t edits = misspelling(alias, name); edits != kUnlike)
            best = std::min(best, edits * kEdit + kAlias);
    const bool isElsewhere = !section.empty() && section != itsSection;
    return best == kUnlike
               ? best
               : best + editDistance(itsSection, section) + (isElsewhere ? kElsewhere : 0);
}

std::string shown(const toml::node& node) {
    constexpr size_t kMaxShown = 60;
    std::ostringstream text;
    node.visit([&](const auto& value) { text << value; });
    std::string line = std::move(text).str();
    std::ranges::replace(line, '\n', ' ');
    return line.size() <= kMaxShown ? line : line.substr(0, kMaxShown) + "...";
}

const char* allowed(const SpecFieldRef& ref) {
    constexpr const char* kTypes[] = {"true or false",
                                      "a whole number",
                                      "a number",
                                      "a text in quotes",
                                      "a list of texts in quotes",
                                      "a list of whole numbers"};
    return kTypes[ref.index()];
}

bool assign(bool* field, const toml::node& node) {
    const auto value = node.value_exact<bool>();
    *field = value.value_or(*field);
    return value.has_value();
}

bool assign(int64_t* field, const toml::node& node) {
    const auto value = node.value_exact<int64_t>();
    *field = value.value_or(*field);
    return value.has_value();
}

bool assign(double* field, const toml::node& node) {
    if (!node.is_number())
        return false;
    *field = node.value<double>().value_or(*field);
    return true;
}

bool assign(std::string* field, const toml::node& node) {
    auto value = node.value_exact<std::string>();
    if (value)
        *field = std::move(*value);
    return value.has_value();
}

template <class T>
bool assign(std::vector<T>* field, const toml::node& node) {
    const toml::array* array = node.as_array();
    if (!array)
        return false;
    field->clear();
    for (const toml::node& element : *array) {
        const auto* value = element.as<T>();
        if (!value)
            return false;
        field->push_back(value->get());
    }
    return true;
}

class Reader {
public:
    Reader(std::string_view source, std::span<const TomlField> fields)
        : m_source(source)
        , m_fields(fields) {}

    // Our keys have at most two levels; deeper tables are mistakes, so no recursion is needed.
    void readRoot(const toml::table& root) {
        for (const auto& [key, node] : root) {
            const std::string name(key.str());
            const toml::table* section = node.as_table();
            if (section && isSection(name))
                readSection(name, *section);
            else if (section)
                readUnknownSection(name, *section);
            else
                readValue(name, node);
        }
    }

    Result<void> result() const {
        std::vector<std::string> mistakes;
        for (const auto& [line, mistake] : m_mistakes)
            if (mistakes.size() < kMaxMistakes)
                mistakes.push_back("read " + m_source + ": " + mistake.what + " (line " +
                                   std::to_string(line) + ")" + mistake.cause +
                                   suggestion(mistake.unknownKey));
        return failWithAll(mistakes);
    }

private:
    struct Mistake {
        std::string what, cause;
        std::string unknownKey; ///< empty: none
    };

    bool isSection(const std::string& name) const {
        return std::ranges::any_of(
            m_fields, [&](const TomlField& f) { return f.key.starts_with(name + '.'); });
    }

    void readSection(const std::string& name, const toml::table& section) {
        for (const auto& [key, node] : section)
            readValue(name + '.' + std::string(key.str()), node);
    }

    void readUnknownSection(const std::string& name, const toml::table& section) {
        if (section.empty())
            unknown(name, section);
        readSection(name, section);
    }

    void readValue(const std::string& key, const toml::node& node) {
        const auto field = std::ranges::find(m_fields, key, &TomlField::key);
        if (field == m_fields.end())
            return unknown(key, node);
        if (!std::visit([&](auto* target) { return assign(target, node); }, field->ref))
            complain(node, "\"" + key + "\"",
                     " is " + shown(node) + ", but must be " + allowed(field->ref));
    }

    void unknown(const std::string& key, const toml::node& node) {
        if (isSection(key))
            return complain(node, "\"" + key + "\"",
                            " is a section; write [" + key + "] and its keys below");
        complain(node, "unknown key \"" + key + "\"", {}, key);
    }

    // Searched only when it is shown, as a wrong file may have a thousand unknown keys.
    std::string suggestion(const std::string& unknownKey) const {
        if (unknownKey.empty())
            return {};
        const std::string key = plainKey(unknownKey);
        const auto nearest = std::ranges::min_element(
            m_fields, {}, [&](const TomlField& field) { return unlikeness(field, key); });
        if (nearest == m_fields.end() || unlikeness(*nearest, key) == kUnlike)
            return {};
        return "; did you mean \"" + std::string(nearest->key) + "\"?";
    }

    // The parser keeps keys sorted by name; people read from the top.
    void complain(const toml::node& node, std::string what, std::string cause,
                  std::string unknownKey = {}) {
        m_mistakes.emplace(node.source().begin.line,
                           Mistake{std::move(what), std::move(cause), std::move(unknownKey)});
    }

    std::string m_source;
    std::span<const TomlField> m_fields;
    std::multimap<size_t, Mistake> m_mistakes;
};

std::string tomlOf(const toml::node& node) {
    using Flags = toml::format_flags;
    const Flags flags = Flags::allow_unicode_strings | Flags::indentation;
    std::ostringstream text;
    text << toml::toml_formatter(node, flags);
    return std::move(text).str();
}

// toml++ writes all 17 digits; people want 0.1 back as they typed it.
std::string tomlOf(double number) {
    if (!std::isfinite(number))
        return tomlOf(toml::value(number));
    const std::string text = plainNumber(number);
    return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

template <class T>
std::string tomlOf(const std::vector<T>& list) {
    toml::array array;
    for (const T& element : list)
        array.push_back(element);
    return tomlOf(array);
}

std::string tomlOf(const SpecFieldRef& ref) {
    return std::visit(
        [](const auto* field) {
            using Field = std::remove_cvref_t<decltype(*field)>;
            if constexpr (std::is_same_v<Field, std::vector<std::string>> ||
                          std::is_same_v<Field, std::vector<int64_t>>) {
                return tomlOf(*field);
            } else if constexpr (std::is_same_v<decltype(field), const double*>) {
                return tomlOf(*field);
            } else {
                return tomlOf(toml::value(*field));
            }
        },
        ref);
}

constexpr int kMostDots = 100;

} // namespace

int lineOfDeepKey(std::string_view toml) {
    int line = 1, dots = 0;
    char quote = 0;
    for (size_t i = 0; i < toml.size(); ++i) {
        const char c = toml[i];
        line += c == '\n';
        if (quote == '"' && c == '\\')
            ++i;
        else if (quote != 0)
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '.' && ++dots > kMostDots)
            return line;
        else if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos)
            dots = 0;
    }
    return 0;
}

std::pair<std::string_view, std::string_view> splitKey(std::string_view key) {
    const size_t dot = key.find('.');
    return dot == key.npos ? std::pair(std::string_view(), key)
                           : std::pair(key.substr(0, dot), key.substr(dot + 1));
}

Result<void> readTomlFields(std::string_view toml, std::string_view source,
                            std::span<const TomlField> fields) {
    if (const int line = lineOfDeepKey(toml))
        return fail(ErrorCode::kInvalid, "read " + std::string(source) + ": line " +
                                             std::to_string(line) + ": a key of more than " +
                                             std::to_string(kMostDots) + " parts");
    const toml::parse_result parsed = toml::parse(toml, source);
    if (!parsed) {
        const toml::parse_error& error = parsed.error();
        return fail(ErrorCode::kInvalid, "read " + std::string(source) + ": line " +
                                             std::to_string(error.source().begin.line) +
                                             ", column " +
                                             std::to_string(error.source().begin.column) + ": " +
                                             std::string(error.description()));
    }
    Reader reader(source, fields);
    reader.readRoot(parsed.table());
    return reader.result();
}

std::string writeTomlFields(std::span<const TomlField> fields) {
    std::string text, section;
    for (const TomlField& field : fields) {
        const size_t dot = field.key.find('.');
        const auto owner = dot == field.key.npos ? std::string_view() : field.key.substr(0, dot);
        if (owner != section)
            text += "\n[" + std::string(section = owner) + "]\n";
        text += std::string(dot == field.key.npos ? field.key : field.key.substr(dot + 1)) + " = " +
                tomlOf(field.ref) + "\n";
    }
    return text;
}

namespace {

template <class Number>
std::string shortestText(Number number) {
    constexpr double kLeastFixed = 1e-6, kMostFixed = 1e16;
    const double size = std::abs(static_cast<double>(number));
    const bool fixed = size == 0 || (size >= kLeastFixed && size < kMostFixed);
    char text[64];
    return {text, std::to_chars(text, text + sizeof text, number,
                                fixed ? std::chars_format::fixed : std::chars_format::scientific)
                      .ptr};
}

} // namespace

std::string plainNumber(double number) {
    return shortestText(number);
}

std::string plainFloat(float number) {
    return shortestText(number);
}

namespace {

constexpr const char* kNoOptionLine = "must be one line that begins with -";

bool isOptionLine(std::string_view entry) {
    return entry.size() > 1 && entry.front() == '-' &&
           std::ranges::all_of(entry, [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

/// Whether the entry is one of these options, by its long name or its letter.
bool isOption(std::string_view entry, std::span<const std::string_view> names,
              std::string_view letters) {
    const std::string_view name = entry.substr(0, entry.find_first_of("= "));
    return entry[1] == '-' ? std::ranges::find(names, name) != names.end()
                           : letters.find(entry[1]) != letters.npos;
}

} // namespace

std::string jobSetupMistake(std::string_view line) {
    if (!isPlainText(line) || line.find('\n') != line.npos ||
        line.find_first_not_of(" \t") == line.npos)
        return "must be one line of bash";
    if (line.starts_with("#SBATCH"))
        return "must not be for sbatch; launch.sbatch holds its options";
    return line.starts_with("#SRUN") ? "must not be for srun; launch.srun holds its options" : "";
}

std::string sbatchMistake(std::string_view entry) {
    constexpr std::string_view kOwn[] = {"--nodes", "--ntasks",   "--ntasks-per-node", "--array",
                                         "--wrap",  "--job-name", "--output",          "--wait"};
    if (!isOptionLine(entry))
        return kNoOptionLine;
    return isOption(entry, kOwn, "NnaJoW")
               ? "must leave nodes, tasks, name and output of the job to Ringmaster; "
                 "CLUSTER:RANKS and launch.ranks say where ranks run"
               : "";
}

std::string srunMistake(std::string_view entry) {
    constexpr std::string_view kOwn[] = {"--nodes",      "--ntasks", "--ntasks-per-node",
                                         "--multi-prog", "--wait",   "--kill-on-bad-exit"};
    if (!isOptionLine(entry))
        return kNoOptionLine;
    return isOption(entry, kOwn, "NnWK")
               ? "must leave nodes, tasks and the end of the step to Ringmaster; CLUSTER:RANKS and "
                 "launch.ranks say where ranks run"
               : "";
}

bool isEnvironmentEntry(std::string_view entry) {
    const size_t end = entry.find('=');
    if (end == entry.npos || end == 0 || (entry[0] >= '0' && entry[0] <= '9'))
        return false;
    const auto isNameCharacter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    return std::ranges::all_of(entry.substr(0, end), isNameCharacter) &&
           entry.find_first_of(std::string_view("\n\r\0", 3), end) == entry.npos;
}

bool isPlainText(std::string_view text) {
    const bool noControls = std::ranges::none_of(
        text, [](unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; });
    return noControls && isUtf8(text);
}

std::string plainLine(std::string_view text) {
    std::string line(text);
    if (!isUtf8(line))
        return "?";
    const auto at = [&line](size_t i) {
        return i < line.size() ? static_cast<unsigned char>(line[i]) : 0u;
    };
    for (size_t i = 0; i < line.size(); ++i) {
        const bool isC1 = at(i) == 0xC2 && at(i + 1) >= 0x80 && at(i + 1) < 0xA0;
        if (isC1)
            line.erase(i, 1); // the first of its two bytes
        if (isC1 || at(i) < 0x20 || at(i) == 0x7F)
            line[i] = ' ';
    }
    return line;
}

std::string listed(const std::vector<std::string_view>& words) {
    std::string list;
    for (const std::string_view word : words)
        list.append(list.empty() ? "" : ", ").append(word);
    return list;
}

Result<void> failWithAll(const std::vector<std::string>& mistakes) {
    if (mistakes.empty())
        return {};
    std::string message = mistakes.front();
    for (size_t i = 1; i < mistakes.size(); ++i)
        message += "\n" + mistakes[i];
    return fail(ErrorCode::kInvalid, std::move(message));
}

} // namespace rm
