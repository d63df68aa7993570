// SPDX-License-Identifier: Apache-2.0
// One rank of a run, as ringmaster-trainer, that says at its end how many bytes it had in tensors
// at the worst moment, and how many it had in memory.
#include "tests/unit/train/counting_allocator.h"
#include "trainer/train/failure.h"
#include "trainer/train/memory/host_heap.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

using namespace rm;

Result<Ending> train(Session& session) {
    session.world = World::join(session.placement, session.device);
    const auto loop = TrainLoop::create(session);
    if (!loop)
        return tl::unexpected(loop.error());
    return (*loop)->run();
}

/// Bytes, at the worst moment.
long long mostResident() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (long long kilobytes = 0; word == "VmHWM:" && status >> kilobytes)
            return kilobytes * 1024;
    return 0;
}

int fail(const std::string& message) {
    std::fprintf(stderr, "error: %s\n", message.c_str());
    return 1;
}

} // namespace

int main(int argc, char** argv) {
    const auto options = parseOptions(argc, argv);
    const auto placement =
        placementFrom([](const char* name) -> const char* { return std::getenv(name); });
    if (!options || !*options || !placement)
        return fail("read the command line and environment");
    keepFreedMemory();
    test::useCountingAllocator();
    auto session = openSession(**options, *placement);
    if (!session)
        return fail(session.error().message);
    const auto ending = train(*session);
    if (!ending)
        return fail(ending.error().message);
    std::printf("peak %zu\nresident %lld\n", test::CountingAllocator::peak(), mostResident());
    std::fflush(nullptr);
    _exit(static_cast<int>(ending->code)); // as the trainer does
}
