// SPDX-License-Identifier: Apache-2.0
#include "shared/return_if_error.h"
#include "trainer/train/device/host_heap.h"
#include "trainer/train/loop/train_loop.h"
#include "trainer/train/memory/batch_search.h"
#include "trainer/train/self_test/trust.h"
#include "trainer/train/session/failure.h"
#include "trainer/train/subcommands.h"
#include "trainer/train/workloads/registry.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace rm;

Result<Ending> train(Session& session) {
    RM_RETURN_IF_ERROR(trustWhatIsProven(session));
    configureDevice(session.device, session.spec, session.runDir + "/log");
    session.board->setPhase(Phase::kRendezvous);
    const auto warn = [&session](const std::string& text) {
        session.event(Severity::kWarning, "store-is-open", text, -1);
    };
    RM_ASSIGN_OR_RETURN(
        session.world, World::join(session.environment, session.device, warn, session.board.get()));
    reportCollectives(session);
    RM_ASSIGN_OR_RETURN(const auto loop, TrainLoop::create(session));
    return loop->run();
}

/// The one place that catches LibTorch's exceptions.
Ending trainToEnd(Session& session) {
    try {
        const auto ending = train(session);
        return ending ? *ending : endingOf(ending.error());
    } catch (const std::exception& error) {
        Ending ending = endingOf(error);
        if (ending.code == ExitCode::kExhausted)
            ending.message += memoryAdvice(session.spec, session.environment.worldSize,
                                           session.environment.localWorldSize, session.device);
        return ending;
    }
}

/// A process group cannot be shut down cleanly after a failure, so exit without running
/// destructors.
[[noreturn]] void leave(ExitCode code) {
    std::fflush(nullptr);
    _exit(static_cast<int>(code));
}

ExitCode runSession(Session& session) {
    const Ending ending = trainToEnd(session);
    if (isFailure(ending.code)) {
        reportFailure(ending, session.environment, session.runDir);
        session.event(Severity::kError, "rank-failed", ending.message, -1);
    } else if (!ending.message.empty() && session.world.isFirst()) {
        std::printf("%s\n", ending.message.c_str());
    }
    session.telemetry->flushAtLast();
    session.board->setLastWord(static_cast<int>(ending.code));
    return ending.code;
}

int failEarly(const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.message.c_str());
    return static_cast<int>(exitCodeFor(error.code));
}

} // namespace

int main(int argc, char** argv) {
    if (const auto code = runSubcommand(argc, argv))
        return *code;
    const auto options = parseOptions(argc, argv, subcommandsHelp());
    if (!options)
        return failEarly(options.error());
    if (!*options)
        return static_cast<int>(ExitCode::kOk);
    const auto environment =
        torchrunEnvironmentFrom([](const char* name) -> const char* { return std::getenv(name); });
    if (!environment)
        return failEarly(environment.error());
    keepFreedMemory();
    catchPreemption();
    // Gloo writes to a rank that is gone, and by default that would end this one as well, without a
    // word: as an error it is told as what it is.
    std::signal(SIGPIPE, SIG_IGN);
    auto session = openSession(**options, *environment);
    if (!session) {
        reportFailure(endingOf(session.error()), *environment, (*options)->runDir);
        return static_cast<int>(exitCodeFor(session.error().code));
    }
    leave(runSession(*session));
}
