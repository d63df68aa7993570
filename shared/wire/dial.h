// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// The orders and answers of `ringmaster-agent listen` and `dial`, one JSON object each (DIAL.md
/// beside this), and the greeting on a connection between the two.

/// The ports that `ringmaster-agent listen` is to open, by its options.
struct ListenOrder {
    int64_t port = 0;   ///< 0: a free one
    bool next = false;  ///< another one besides: that after `port` if it can be had, else any
    int samples = 0;    ///< ports of the ephemeral range, at most kMostSamples
    bool orAny = false; ///< a free port where `port` is taken
};
inline constexpr int kMostSamples = 2;

/// The ports that a listener serves on every address of its node.
struct OpenPorts {
    int64_t port = 0;             ///< the one that was asked for, or a free one
    int64_t next = 0;             ///< see ListenOrder; 0: not asked for
    std::vector<int64_t> samples; ///< in the lower and in the upper half of the ephemeral range
    int64_t rangeFirst = 0;       ///< ports that the node's kernel gives where none is asked for
    int64_t rangeLast = 0;
    std::string token; ///< what this listener begins each connection with; no other has it
    bool operator==(const OpenPorts&) const = default;
};

std::string toJson(const OpenPorts& ports);
/// kCorrupt: something else, or a port out of range.
Result<OpenPorts> parseOpenPorts(const std::string& json);

/// One address and port that a node is to dial.
struct DialTarget {
    std::string address; ///< IPv4, or IPv6 without zone and brackets
    int64_t port = 0;
    std::string interface; ///< to leave by; empty: as the kernel routes
    std::string token;     ///< OpenPorts::token of the node that is meant
    int64_t group = 0;     ///< the same for all targets of one node
    bool large = false;    ///< whether packets of full size are to be tried, too
    bool operator==(const DialTarget&) const = default;
};

struct DialOrder {
    std::vector<DialTarget> targets; ///< kMostDials at most
    /// Once one target of a group was reached, the others of it are waited for this long at most;
    /// -1: as long as if none had been.
    int64_t settleMs = -1;
    bool operator==(const DialOrder&) const = default;
};

inline constexpr size_t kMostDials = 8192;

std::string toJson(const DialOrder& order);
/// kInvalid names the target that is none.
Result<DialOrder> parseDialOrder(const std::string& json);

/// The result of a dial. Stored by its name.
enum class Reach {
    kUntried,     ///< the time was over before, or another address of that node answered first
    kReached,     ///< the listener that was meant answered
    kRefused,     ///< somebody answered that nobody listens there (RST)
    kNoRoute,     ///< the node's own routes do not lead there, or not by that interface
    kRejected,    ///< somebody answered that it is not allowed, as firewalls do (ICMP)
    kDropped,     ///< no answer at all
    kStranger,    ///< connected, but to something that sends another greeting
    kSilent,      ///< connected, and then no greeting or no more of what was to come
    kUnreachable, ///< somebody answered that it finds no way or no such machine (ICMP)
    kNoNeighbour, ///< no machine of the node's own network has the address, or that of the gateway
};

/// The result for the 64 KiB that the listener was to send back. Stored by its name.
enum class LargePackets { kUntried, kPassed, kLostThere, kLostBack };

/// "reached", "no-route", ...; nullptr: there is no such value.
const char* jsonWord(Reach reach);
/// "passed", "lost-there", ...; nullptr: there is no such value.
const char* jsonWord(LargePackets large);

struct DialAnswer {
    Reach reach = Reach::kUntried;
    LargePackets large = LargePackets::kUntried;
    std::string interface;     ///< by which it left; for a failed dial: by which it would have
    int64_t microseconds = -1; ///< until the connection was there; -1: it never was
    int64_t mtu = 0;           ///< of the path, as the node's kernel knows it; 0: unknown
    std::string error;         ///< what was met, in words; empty: reached
    std::string answeredBy;    ///< whose ICMP answer kRejected or kUnreachable was; empty: unknown
    bool operator==(const DialAnswer&) const = default;
};

std::string toJson(const std::vector<DialAnswer>& answers);
/// The answers in the order of the targets. kCorrupt: something else, or not `count` answers.
Result<std::vector<DialAnswer>> parseDialAnswers(const std::string& json, size_t count);

/// The text with which a listener begins each connection; then it sends back whatever comes.
std::string dialGreeting(const std::string& token);

} // namespace rm
