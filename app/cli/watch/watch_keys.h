// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/watch/watch_view.h"
#include "shared/wire/command_kind.h"

#include <QString>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rm::cli {

/// A key that a person pressed.
struct Key {
    enum class Named : uint8_t {
        kCharacter,
        kEnter,
        kEscape,
        kBackspace,
        kTab,
        kUp,
        kDown,
        kLeft,
        kRight,
        kPageUp,
        kPageDown,
        kHome,
        kEnd,
        kRedraw, ///< Ctrl+L, or the terminal has another size
        kOther,
    };
    Named named = Named::kCharacter;
    char32_t character = 0;
};

/// One line of the help, and of the line of keys.
struct KeyRow {
    const char* keys;
    const char* brief; ///< for the line of keys; empty: only in the help
    const char* help;
};
const std::vector<KeyRow>& keyRows();

/// The question before the command is sent: "Hold all ranks at the next step?".
const char* confirmationOf(CommandKind kind);
/// What is typed for the command: "Steps to do".
const char* promptOf(CommandKind kind);

// What a key asks for, beside another look.
struct LeaveWatch {};
struct SendCommand {
    CommandKind kind = CommandKind::kHold;
    std::vector<std::pair<std::string, std::string>> args = {};
};
struct OpenRun {
    QString run;
};
struct LogIn {}; ///< to the nodes that refuse the login
using WatchAction = std::variant<std::monostate, LeaveWatch, SendCommand, OpenRun, LogIn>;

/// Changes the view as the key says; what has to be done beside that is the answer. No command is
/// sent before the person has confirmed it, or typed its argument.
WatchAction pressKey(WatchView& view, const WatchData& data, const Key& key);

} // namespace rm::cli
