// SPDX-License-Identifier: Apache-2.0
// ringmaster-gpu-bench: the trainer as it is, with its command line, on batches that are read from
// one file before the first step (see makeFixedTask()). Ends with its journal as a line of JSON.
#include "shared/journal/journal.h"
#include "tests/gpu/bench/fixed_task.h"
#include "tests/gpu/bench/journal_figures.h"
#include "trainer/train/failure.h"
#include "trainer/train/memory/host_heap.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

using namespace rm;

Result<Ending> train(Session& session) {
    session.world = World::join(session.placement, session.device);
    const auto loop = TrainLoop::create(session, makeFixedTask);
    if (!loop)
        return tl::unexpected(loop.error());
    return (*loop)->run();
}

Result<std::string> measure(const Options& options, const Placement& placement) {
    auto session = openSession(options, placement);
    if (!session)
        return tl::unexpected(session.error());
    const auto ending = train(*session);
    if (!ending)
        return tl::unexpected(ending.error());
    if (ending->code != ExitCode::kOk)
        return fail(ErrorCode::kInternal, ending->message);
    session->telemetry->flush();
    return journalFigures(session->runDir + "/journal/" + rankJournalName(placement.rank));
}

Result<std::string> figures(int argc, char** argv) {
    const auto options = parseOptions(argc, argv);
    if (!options)
        return tl::unexpected(options.error());
    if (!*options)
        return std::string();
    const auto placement =
        placementFrom([](const char* name) -> const char* { return std::getenv(name); });
    if (!placement)
        return tl::unexpected(placement.error());
    keepFreedMemory();
    try {
        return measure(**options, *placement);
    } catch (const std::exception& error) { // LibTorch's
        return fail(ErrorCode::kInternal, endingOf(error).message);
    }
}

} // namespace

int main(int argc, char** argv) {
    const auto line = figures(argc, argv);
    if (line)
        std::printf("%s\n", line->c_str());
    else
        std::fprintf(stderr, "ringmaster-gpu-bench: %s\n", line.error().message.c_str());
    std::fflush(nullptr);
    _exit(line ? 0 : 1); // as the trainer leaves
}
