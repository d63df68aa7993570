// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace rm {

/// The messages on the socket of the process that holds the database: see PROTOCOL.md.
namespace face {

/// Which kind of process speaks.
enum class Kind { kTerminal, kWindow };

/// First message of both sides. Its shape never changes, so that any two releases can tell each
/// other which they are.
struct Hello {
    std::string magic = "ringmaster";
    std::string release;
    int64_t pid = 0;
    Kind kind = Kind::kTerminal;
    bool operator==(const Hello&) const = default;
};

// To the holder.

/// Answered by Accepted, then Answer.
struct Ask {
    int64_t number = 0; ///< the asker's own
    EngineRequest request;
};

/// Engine::attach(). Answered by Live of that run.
struct Follow {
    QString run;
    bool operator==(const Follow&) const = default;
};

// To the processes that the holder serves.

/// The request has begun. If the holder ends now, only requests that take effect once however often
/// they are sent may be repeated.
struct Accepted {
    int64_t number = 0;
    bool operator==(const Accepted&) const = default;
};

struct Answer {
    int64_t number = 0;
    EngineReply reply;
};

// The signals of Engine.
struct RunsChanged {
    bool operator==(const RunsChanged&) const = default;
};
struct SamplesAppended {
    QString run;
    bool operator==(const SamplesAppended&) const = default;
};
struct Live {
    QString run;
    LiveState state;
};
struct Progressed {
    QString run;
    Progress progress;
    bool operator==(const Progressed&) const = default;
};
struct AttemptEnded {
    QString run;
    bool operator==(const AttemptEnded&) const = default;
};
struct TooLarge {
    QString run;
    QString why;
    bool operator==(const TooLarge&) const = default;
};
struct LoginRefused {
    QString node;
    bool operator==(const LoginRefused&) const = default;
};
struct Failed {
    QString run;
    QString message;
    bool operator==(const Failed&) const = default;
};

/// The receiver has the window: bring it to the front.
struct ShowWindow {
    QByteArray activationToken;
    bool operator==(const ShowWindow&) const = default;
};

// Both ways.

/// nodes.toml was written.
struct NodesChanged {
    bool operator==(const NodesChanged&) const = default;
};

/// A message's position is its number on the wire; Hello is 0 in every release.
using Message = std::variant<Hello, Ask, Follow, Accepted, Answer, RunsChanged, SamplesAppended,
                             Live, Progressed, AttemptEnded, TooLarge, LoginRefused, Failed,
                             ShowWindow, NodesChanged>;

} // namespace face

/// One message as CBOR.
QByteArray encodeFaceMessage(const face::Message& message);

/// kCorrupt: end the connection.
Result<face::Message> decodeFaceMessage(std::span<const std::byte> payload);

} // namespace rm
