// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/run_summary.h"
#include "shared/result.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// What a person filters runs by: words, and conditions on what runs have. All of them must hold.
struct RunFilter {
    enum class Operator { kHolds, kLess, kAtMost, kGreater, kAtLeast, kEqual, kNotEqual };

    struct Condition {
        std::string key; ///< as it was typed: "lr", "validation/loss", "tag"
        Operator is = Operator::kHolds;
        std::string value;
        std::optional<double> number = {}; ///< of `value`, if it is one
        bool operator==(const Condition&) const = default;
    };
    std::vector<std::string> words = {}; ///< in lower case; each is part of something of the run
    std::vector<Condition> conditions = {};
    bool operator==(const RunFilter&) const = default;
};

/// Reads words and conditions that are separated by blanks: `baseline loss < 3 tag:wmt
/// state:failed optimizer.lr>=1e-3 name:"two words"`. A condition is a key, one of < <= > >= = !=,
/// with or without blanks around it, and a value; or a key of kTextKeys, a colon and a part of its
/// text; or `starred:yes`, `archived:no` and such. Whatever else has a colon is a word. kInvalid: a
/// condition lacks its value, or a quote its end, or a number is asked for that is none.
Result<RunFilter> parseRunFilter(std::string_view text);

/// Keys that a colon may follow: "name", "id", "state", "node", "tag", "note", "branch", "sweep";
/// and of marks, which are "yes" or "no", "starred" and "archived".
bool isTextKey(std::string_view key);

/// "loss", "best", "step", "ranks" and "attempt" of a run, if it has that. nullopt: `key` is none
/// of them.
std::optional<std::optional<double>> summaryNumber(const RunSummary& run, std::string_view key);
/// The number that the whole text is; nullopt: it is none.
std::optional<double> numberIn(const std::string& text);

/// It is archived, has ended and does not wait to go on: lists leave it out.
bool isPutAway(const RunSummary& run);
/// The same filter of archived runs alone.
RunFilter ofArchive(RunFilter filter);

/// What a run has for the key of a condition: a number or a text. nullopt: it has none.
using RunValueOf = std::function<std::optional<std::string>(const std::string& key)>;

/// Whether all words and conditions hold for the run. `valueOf` is asked for keys that the summary
/// does not answer: other than kTextKeys, "loss", "best", "step", "ranks" and "attempt". A
/// condition on what a run does not have is false; `!=` of a text key holds where none of its texts
/// is so. A run that isPutAway() is only matched by a filter with a condition on "archived".
bool matches(const RunFilter& filter, const RunSummary& run, const RunValueOf& valueOf);

/// The keys of conditions that `valueOf` is asked for.
std::vector<std::string> keysBesidesSummary(const RunFilter& filter);

} // namespace rm
