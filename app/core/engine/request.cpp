// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/request.h"

#include <type_traits>
#include <variant>

namespace rm {

std::optional<QString> runStartedBy(const EngineRequest& request) {
    return std::visit(
        [](const auto& requested) -> std::optional<QString> {
            if constexpr (requires { requested.kStartsRanks; })
                return requested.run;
            else
                return std::nullopt;
        },
        request);
}

std::string attemptOf(const EngineRequest& request) {
    return std::visit([](const auto& requested) { return requested.attempt(); }, request);
}

EngineReply failureOf(const EngineRequest& request, const Error& error) {
    return std::visit(
        [&](const auto& requested) -> EngineReply {
            using Answer = typename std::decay_t<decltype(requested)>::Answer;
            if constexpr (requires { requested.failed(error); })
                return requested.failed(error);
            else
                return Answer(tl::unexpected(error));
        },
        request);
}

EngineReply failureOf(const EngineRequest& request, ErrorCode code, const std::string& why) {
    return failureOf(request, failAs(attemptOf(request), {code, why}).value());
}

} // namespace rm
