// SPDX-License-Identifier: Apache-2.0
// ringmaster-gpu-bench: the trainer as it is, with its command line. Where data.train is a file, it
// learns the batches in that, which are read before the first step (see makeFixedTask()). Ends with
// its journal as a line of JSON.
// ringmaster-gpu-bench pictures FOLDER COUNT CLASSES: makes pictures to learn from.
#include "shared/journal/journal.h"
#include "tests/gpu/bench/fixed_task.h"
#include "tests/gpu/bench/journal_figures.h"
#include "tests/gpu/bench/picture_maker.h"
#include "trainer/train/device/host_heap.h"
#include "trainer/train/loop/train_loop.h"
#include "trainer/train/session/failure.h"
#include "trainer/train/workloads/registry.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace {

using namespace rm;

Result<std::unique_ptr<Task>> makeEitherTask(const Session& session) {
    return std::filesystem::is_directory(session.spec.data.train.front()) ? makeTask(session)
                                                                          : makeFixedTask(session);
}

Result<Ending> train(Session& session) {
    configureDevice(session.device, session.spec, session.runDir + "/log");
    auto world = World::join(session.environment, session.device);
    if (!world)
        return tl::unexpected(world.error());
    session.world = std::move(*world);
    const auto loop = TrainLoop::create(session, makeEitherTask);
    if (!loop)
        return tl::unexpected(loop.error());
    return (*loop)->run();
}

Result<std::string> measure(const Options& options, const TorchrunEnvironment& environment) {
    auto session = openSession(options, environment);
    if (!session)
        return tl::unexpected(session.error());
    const auto ending = train(*session);
    if (!ending)
        return tl::unexpected(ending.error());
    if (ending->code != ExitCode::kOk)
        return fail(ErrorCode::kInternal, ending->message);
    session->telemetry->flush();
    return journalFigures(session->runDir + "/journal", environment.rank);
}

Result<std::string> figures(int argc, char** argv) {
    const auto options = parseOptions(argc, argv, "");
    if (!options)
        return tl::unexpected(options.error());
    if (!*options)
        return std::string();
    const auto environment =
        torchrunEnvironmentFrom([](const char* name) -> const char* { return std::getenv(name); });
    if (!environment)
        return tl::unexpected(environment.error());
    keepFreedMemory();
    try {
        return measure(**options, *environment);
    } catch (const std::exception& error) { // LibTorch's
        return fail(ErrorCode::kInternal, endingOf(error).message);
    }
}

Result<std::string> pictures(const std::string& folder, int64_t count, int64_t classes) {
    const auto made = makePictures(folder, count, classes);
    if (!made)
        return tl::unexpected(made.error());
    return std::to_string(count) + " pictures";
}

} // namespace

int main(int argc, char** argv) {
    const bool makes = argc == 5 && std::string_view(argv[1]) == "pictures";
    const auto line =
        makes ? pictures(argv[2], std::atoll(argv[3]), std::atoll(argv[4])) : figures(argc, argv);
    if (line)
        std::printf("%s\n", line->c_str());
    else
        std::fprintf(stderr, "ringmaster-gpu-bench: %s\n", line.error().message.c_str());
    std::fflush(nullptr);
    _exit(line ? 0 : 1); // as the trainer leaves
}
