// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/journal/records.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace rm {

struct StoredCommand {
    CommandApplied applied;
    int attempt = 0;
};

/// How a command was asked for. Stored and sent: never renumber.
enum class RequestedFrom : uint8_t {
    kWindow = 0,
    kTerminal = 1,
    kRule = 2,      ///< a rule of the run's spec
    kElsewhere = 3, ///< a Ringmaster with another database, or one before this was stored
    kRun = 4,       ///< the run's agents, which hold it again after a restart
};

/// Who asked for a command, and how.
struct Requester {
    std::string who; ///< name of the user; empty: not known, or a rule
    RequestedFrom from = RequestedFrom::kElsewhere;
    bool operator==(const Requester&) const = default;
};

/// What became of a command. Stored: never renumber.
enum class RequestedState : uint8_t {
    kWaiting = 0,  ///< no node is known to have it
    kAccepted = 1, ///< the node of rank 0 has it; a kill: some of the run's nodes have done it
    kApplied = 2,
    kRefused = 3,
    kWithdrawn = 4, ///< by a person, before it was accepted
    kLapsed = 5,    ///< too old to be sent, or the attempt ended before
};
const char* requestedStateName(RequestedState state); ///< "waiting", "accepted", ...
bool isOpen(RequestedState state);                    ///< waiting or accepted

/// A command that a person or a rule asked for. It is stored before it is sent.
struct RequestedCommand {
    std::string id; ///< of the Command
    std::string kind;
    std::vector<std::pair<std::string, std::string>> args = {};
    Requester by = {};
    int64_t requestedNs = 0;
    RequestedState state = RequestedState::kWaiting;
    int64_t acceptedNs = 0;  ///< 0: not known
    int64_t answeredNs = 0;  ///< 0: it is open
    int64_t step = -1;       ///< after which all ranks acted; -1: none
    std::string answer = {}; ///< in words
    bool operator==(const RequestedCommand&) const = default;
};

/// The settings that differ from the spec from after `step` of `attempt` on. From a node: the keys
/// may be any.
struct StoredSettings {
    int attempt = 0;
    int64_t step = 0;
    std::map<std::string, double, std::less<>> values; ///< see LiveSettings
};

} // namespace rm
