// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/requests/checkpoints.h"
#include "app/core/engine/requests/commands.h"
#include "app/core/engine/requests/launch.h"
#include "app/core/engine/requests/nodes.h"
#include "app/core/engine/requests/queue.h"
#include "app/core/engine/requests/runs.h"

#include <optional>
#include <string>
#include <type_traits>
#include <variant>

namespace rm {

// A request to the process that holds the database. A request is a struct of plain values, so
// that it can be sent, kept, and performed by the next holder. Besides them it has:
//   Answer           the type of its answer, a Result or, with failed(), another one
//   attempt()        "launch gpt-tiny-7f3a": how a message about it begins
//   perform(engine)  does it in the process that holds the database, in the thread of the engine,
//                    without blocking; a future that ends without an answer: the engine was closed
//   kStartsRanks     if it starts ranks, of its member `run`
// Before it leaves its process SharedEngine fills in a `by` without a name and the id of a launch
// or command, and makes the paths of a `spec` absolute. A spec can always be read from its own
// TOML.

/// Any request. Never stored; a request's position is its number on the wire.
using EngineRequest = std::variant<
    LaunchRequest, ResumeRequest, BranchRequest, CommandRequest, CheckRequest, NotesRequest,
    TagsRequest, DeletedRequest, WindowRequest, RemoveCheckpointRequest, NodePreflightRequest,
    RenameRequest, EmptyTrashRequest, VerifyCheckpointRequest, OnNodesRequest,
    RemoveFromNodesRequest, DeclareLostRequest, CleanNodeRequest, ResumePreflightRequest,
    CopyCheckpointRequest, WithdrawRequest, PinCheckpointRequest, BringBackCheckpointRequest,
    CompareCheckpointsRequest, MeasureNetworkRequest, StopNetworkRequest, EndLeftoversRequest,
    CheckLaunchRequest, TrialRequest, BatchScriptRequest, StopTrialRequest, EnqueueRequest,
    EnqueueResumeRequest, MoveInQueueRequest, StartQueuedRequest, StarRequest, ArchiveRequest,
    TryCheckpointRequest, StopTryRequest, LookAtMachinesRequest, LeaveMachinesRequest>;

namespace detail {

/// The variant of the types of `In`, each once.
template <class Out, class... In>
struct Distinct;
template <class... Out>
struct Distinct<std::variant<Out...>> {
    using Type = std::variant<Out...>;
};
template <class... Out, class First, class... Rest>
struct Distinct<std::variant<Out...>, First, Rest...>
    : std::conditional_t<(std::is_same_v<First, Out> || ...),
                         Distinct<std::variant<Out...>, Rest...>,
                         Distinct<std::variant<Out..., First>, Rest...>> {};

template <class Requests>
struct AnswersOf;
template <class... Request>
struct AnswersOf<std::variant<Request...>> : Distinct<std::variant<>, typename Request::Answer...> {
};

} // namespace detail

/// Any request's answer.
using EngineReply = detail::AnswersOf<EngineRequest>::Type;

/// The run whose ranks `request` starts; nullopt: it starts none.
std::optional<QString> runStartedBy(const EngineRequest& request);

/// "launch gpt-tiny-7f3a": for messages.
std::string attemptOf(const EngineRequest& request);

/// The reply that `request` gets when it fails with `error`.
EngineReply failureOf(const EngineRequest& request, const Error& error);
/// The same, of an error that begins with what was attempted.
EngineReply failureOf(const EngineRequest& request, ErrorCode code, const std::string& why);

} // namespace rm
