// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/device/host_heap.h"
#include "trainer/train/loop/train_loop.h"
#include "trainer/train/self_test/trust.h"
#include "trainer/train/session/failure.h"
#include "trainer/train/workloads/registry.h"

#include <cstdio>
#include <cstdlib>
#include <functional>

namespace rm::test {

/// Trains as ringmaster-trainer does with its command line and environment, on the workload that
/// `maker` makes, and prints why it failed. `prepare` may give the session another device. The
/// caller still has to end the process, by _exit().
inline ExitCode trainAs(int argc, char** argv, const TaskMaker& maker,
                        const std::function<void(Session&)>& prepare = {}) {
    const auto failed = [](const Ending& ending) {
        std::fprintf(stderr, "error: %s\n", ending.message.c_str());
        return ending.code;
    };
    const auto options = parseOptions(argc, argv, "");
    const auto environment =
        torchrunEnvironmentFrom([](const char* name) -> const char* { return std::getenv(name); });
    if (!options || !*options || !environment)
        return failed({ExitCode::kUsage, "read the command line and environment"});
    keepFreedMemory();
    auto session = openSession(**options, *environment);
    if (!session)
        return failed(endingOf(session.error()));
    if (prepare)
        prepare(*session);
    configureDevice(session->device, session->spec, session->runDir + "/log");
    auto world = World::join(session->environment, session->device, {}, session->board.get());
    if (!world)
        return failed(endingOf(world.error()));
    session->world = std::move(*world);
    reportCollectives(*session);
    const auto loop = TrainLoop::create(*session, maker);
    const auto ending = loop ? (*loop)->run() : tl::unexpected(loop.error());
    session->telemetry->flush();
    if (!ending)
        return failed(endingOf(ending.error()));
    return isFailure(ending->code) ? failed(*ending) : ending->code;
}

} // namespace rm::test
