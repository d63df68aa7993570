// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/findings/check_row.h"
#include "shared/result.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

// What is found out is data: the id of a text, and values for its places. The words stand in one
// table for each subject (NAME_texts.cpp in this folder), as English source texts of Qt's
// translation in the context "Findings". Logic never puts a sentence together.

/// The text of a row: how serious it is, and in words what was found, what that leads to and what
/// to do. A place is a name in braces: "{free} free of {total}".
struct FindingText {
    /// The row's id, or that with a dot and what makes the text differ: "disk.too-little".
    const char* id;
    CheckRow::State state;
    const char* title; ///< empty: that of the text before it in its table
    const char* evidence;
    const char* cause = ""; ///< empty: a good row, or one that has no more than its evidence
    const char* fix = "";   ///< of every warning and fault
};

/// A sentence, or a part of one that is a value of another text.
struct Phrase {
    const char* id; ///< "network.dropped-between"
    const char* text;
};

/// What stands at a place of a text, as a person reads it: {"free", "12.0 GB"}.
struct Value {
    const char* place;
    std::string text;
};
using Values = std::initializer_list<Value>;

/// The phrase in the language of this process. Thread-safe. An id that no table has, a place
/// without a value and a value without a place are faults of the program: qCritical() says so,
/// which ends a test, and the id or place stands in the answer.
std::string say(std::string_view id, Values values = {});

/// The row of one finding, likewise.
CheckRow finding(std::string_view id, Values values = {}, std::optional<CheckAction> action = {});

/// Adds a further finding to a row of the same subject: what is found is put behind "; ", the same
/// cause or fix is said once, and the graver state counts. The first finding of a row gives its
/// title. An action takes the place of an earlier one.
void addFinding(CheckRow& row, std::string_view id, Values values = {},
                std::optional<CheckAction> action = {});

/// A row that is not good as one sentence, for who sees it without its title: "evidence: cause;
/// fix".
std::string sentenceOf(const CheckRow& row);

/// The error of what was cancelled before it was done: "launch gpt-1: cancelled".
tl::unexpected<Error> failCancelled(const std::string& attempt);

/// The button that copies a command line for a shell.
CheckAction copyCommand(std::string command);

// Lists, as sentences have them.
std::string joined(const std::vector<std::string>& items, std::string_view between = "; ");
std::string listed(const std::vector<std::string>& items);   ///< "a, b and c"
std::string orListed(const std::vector<std::string>& items); ///< "a, b or c"
/// "node-1, node-2 and 60 more".
std::string someOf(const std::vector<std::string>& items, size_t most = 4);

/// Puts more behind what is there.
void append(std::string& list, const std::string& item, std::string_view between = "; ");

} // namespace rm
