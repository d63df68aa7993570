// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/session/failure.h"

#include "shared/io/file.h"
#include "trainer/train/dist/agree.h"
#include "trainer/train/dist/gloo.h"
#include "trainer/train/session/cause.h"
#include "trainer/train/session/session.h"

#include <c10/util/Exception.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <new>
#include <string_view>

namespace rm {
namespace {

bool isOutOfMemory(const std::exception& error) {
    // The CPU's allocator throws a plain c10::Error.
    static constexpr std::string_view kOfCpu = "DefaultCPUAllocator: can't allocate memory";
    return dynamic_cast<const c10::OutOfMemoryError*>(&error) ||
           dynamic_cast<const std::bad_alloc*>(&error) ||
           std::string_view(error.what()).find(kOfCpu) != std::string_view::npos;
}

} // namespace

Ending endingOf(const std::exception& error) {
    if (isOutOfMemory(error))
        return {ExitCode::kExhausted, "train: out of memory: " + causeOf(error) +
                                          "; a smaller train.batch_size needs less"};
    if (dynamic_cast<const NoWayToRank*>(&error))
        return {
            ExitCode::kUnavailable,
            "train: this rank has no way to another: " + causeOf(error) +
                "; `ringmaster nodes network` finds an interface by which the nodes reach each "
                "other: name it as launch.interface, and remove a GLOO_SOCKET_IFNAME that names "
                "others"};
    if (isPeerLost(error))
        return {ExitCode::kPeerLost,
                "train: a collective failed, another rank went away: " + causeOf(error)};
    return {ExitCode::kFailed, "train: " + causeOf(error)};
}

Ending endingOf(const Error& error) {
    if (isOfAnotherRank(error))
        return {ExitCode::kPeerLost, error.message};
    return {exitCodeFor(error.code), error.message};
}

bool isFailure(ExitCode code) {
    switch (code) {
    case ExitCode::kOk:
    case ExitCode::kPaused:
    case ExitCode::kStopped:
    case ExitCode::kPreempted:
        return false;
    default:
        return true;
    }
}

void reportFailure(const Ending& ending, const TorchrunEnvironment& environment,
                   const std::string& runDir) {
    std::fprintf(stderr, "error: %s\n", ending.message.c_str());
    const auto code = static_cast<int>(ending.code);
    const nlohmann::ordered_json report = {
        {"rank", environment.rank},     {"attempt", environment.attempt}, {"exit_code", code},
        {"ending", exitCodeName(code)}, {"message", ending.message},
    };
    const std::string text =
        report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    // Best effort, as the disk may be what failed. The error is on stderr already.
    static_cast<void>(
        writeFileAtomically(runDir + "/failure-" + rankName(environment.rank) + ".json", text));
}

} // namespace rm
