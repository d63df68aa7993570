// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/holder/messages.h"

#include "app/core/engine/holder/value_codec.h"
#include "app/core/store/requested_command.h"

#include <QCborParserError>

namespace rm {

// The functions below name every enumerator that is sent, so that adding one without extending them
// does not compile.

constexpr bool isKnown(ErrorCode code) {
    switch (code) {
    case ErrorCode::kInvalid:
    case ErrorCode::kNotFound:
    case ErrorCode::kCorrupt:
    case ErrorCode::kTooNew:
    case ErrorCode::kUnavailable:
    case ErrorCode::kDenied:
    case ErrorCode::kExhausted:
    case ErrorCode::kInternal:
        return true;
    }
    return false;
}

constexpr bool isKnown(RequestedFrom from) {
    switch (from) {
    case RequestedFrom::kWindow:
    case RequestedFrom::kTerminal:
    case RequestedFrom::kRule:
    case RequestedFrom::kRun:
    case RequestedFrom::kElsewhere:
        return true;
    }
    return false;
}

constexpr bool isKnown(CommandProgress progress) {
    switch (progress) {
    case CommandProgress::kAccepted:
    case CommandProgress::kApplied:
    case CommandProgress::kRefused:
        return true;
    }
    return false;
}

constexpr bool isKnown(LiveState::Link link) {
    switch (link) {
    case LiveState::Link::kNone:
    case LiveState::Link::kConnecting:
    case LiveState::Link::kLive:
    case LiveState::Link::kLost:
    case LiveState::Link::kRefused:
    case LiveState::Link::kUnstored:
    case LiveState::Link::kMissing:
        return true;
    }
    return false;
}

constexpr bool isKnown(TryKind kind) {
    switch (kind) {
    case TryKind::kText:
    case TryKind::kTranslation:
    case TryKind::kClasses:
        return true;
    }
    return false;
}

constexpr bool isKnown(IfTooLarge what) {
    switch (what) {
    case IfTooLarge::kRefuse:
    case IfTooLarge::kLaunch:
        return true;
    }
    return false;
}

constexpr bool isKnown(CheckRow::State state) {
    switch (state) {
    case CheckRow::State::kGood:
    case CheckRow::State::kWarning:
    case CheckRow::State::kBad:
        return true;
    }
    return false;
}

constexpr bool isKnown(CheckAction::Kind kind) {
    switch (kind) {
    case CheckAction::Kind::kCopyCommand:
    case CheckAction::Kind::kEndLeftovers:
    case CheckAction::Kind::kTrustHostKey:
    case CheckAction::Kind::kEnterSecret:
    case CheckAction::Kind::kRemoveAgents:
    case CheckAction::Kind::kSelfTest:
        return true;
    }
    return false;
}

constexpr bool isKnown(ConnectFailure::Cause cause) {
    using Cause = ConnectFailure::Cause;
    switch (cause) {
    case Cause::kOther:
    case Cause::kName:
    case Cause::kRoute:
    case Cause::kJumpHost:
    case Cause::kRefused:
    case Cause::kNoAnswer:
    case Cause::kTurnedAway:
    case Cause::kAlgorithms:
    case Cause::kHostKey:
    case Cause::kLogin:
        return true;
    }
    return false;
}

constexpr bool isKnown(ConnectFailure::Need need) {
    switch (need) {
    case ConnectFailure::Need::kNothing:
    case ConnectFailure::Need::kTrustHostKey:
    case ConnectFailure::Need::kPassword:
    case ConnectFailure::Need::kPassphrase:
        return true;
    }
    return false;
}

constexpr bool isKnown(AtLogout what) {
    switch (what) {
    case AtLogout::kUnknown:
    case AtLogout::kGoOn:
    case AtLogout::kEndWithSession:
    case AtLogout::kEndWithUserManager:
        return true;
    }
    return false;
}

constexpr bool isKnown(OtherRuns what) {
    switch (what) {
    case OtherRuns::kRefuse:
    case OtherRuns::kEnd:
        return true;
    }
    return false;
}

constexpr bool isKnown(MachineState state) {
    switch (state) {
    case MachineState::kConnecting:
    case MachineState::kLive:
    case MachineState::kLost:
    case MachineState::kRefused:
    case MachineState::kFailed:
    case MachineState::kCluster:
        return true;
    }
    return false;
}

constexpr bool isKnown(TrialKind kind) {
    switch (kind) {
    case TrialKind::kSelfTest:
    case TrialKind::kAllReduce:
    case TrialKind::kStepProfile:
        return true;
    }
    return false;
}

namespace face {

constexpr bool isKnown(Kind kind) {
    switch (kind) {
    case Kind::kTerminal:
    case Kind::kWindow:
        return true;
    }
    return false;
}

} // namespace face

QByteArray encodeFaceMessage(const face::Message& message) {
    return codec::pack(message).toCbor();
}

Result<face::Message> decodeFaceMessage(std::span<const std::byte> payload) {
    const auto bytes = QByteArray::fromRawData(reinterpret_cast<const char*>(payload.data()),
                                               static_cast<qsizetype>(payload.size()));
    QCborParserError problem;
    const QCborValue value = QCborValue::fromCbor(bytes, &problem);
    face::Message message;
    if (problem.error != QCborError::NoError)
        return fail(ErrorCode::kCorrupt,
                    "read a message of another Ringmaster: " + problem.errorString().toStdString());
    if (problem.offset != bytes.size() || !codec::unpack(value, message))
        return fail(ErrorCode::kCorrupt,
                    "read a message of another Ringmaster: its form is unknown");
    return message;
}

} // namespace rm
