// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rm {

/// What a person can do about a row with one press.
struct CheckAction {
    enum class Kind {
        kCopyCommand,  ///< `argument`: a command line for a shell
        kEndLeftovers, ///< `argument`: ids of runs, with spaces between them
        // For a connection that waits for a person; rows with these are not kept in a file.
        kTrustHostKey, ///< `argument`: the fingerprint that the host showed
        kEnterSecret,  ///< a password, or a passphrase
        kRemoveAgents, ///< `argument`: how their SHA-256 begin, with spaces between them
        kSelfTest,     ///< of the node's devices
    };
    Kind kind = Kind::kCopyCommand;
    std::string label; ///< of the button: "Copy the command"
    std::string argument;
    bool operator==(const CheckAction&) const = default;
};

/// One finding of a check, in words.
struct CheckRow {
    enum class State { kGood, kWarning, kBad };
    std::string id; ///< the same in every release: "disk"
    State state = State::kGood;
    std::string title;    ///< "SSH and host key"; causeTitle() if the connection failed
    std::string evidence; ///< what was found: "ed25519, same fingerprint as last time"
    std::string cause;    ///< of a warning or a fault: what it leads to, or comes from
    std::string fix;      ///< likewise: what to do
    std::optional<CheckAction> action = {};
    bool operator==(const CheckRow&) const = default;
};

} // namespace rm
