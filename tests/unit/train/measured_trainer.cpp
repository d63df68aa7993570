// SPDX-License-Identifier: Apache-2.0
// One rank of a run, as ringmaster-trainer, that says at its end how many bytes it had in tensors
// at the worst moment, and how many it had in memory.
#include "tests/unit/train/counting_allocator.h"
#include "tests/unit/train/trainer_program.h"

#include <unistd.h>

#include <fstream>
#include <string>

namespace {

/// Bytes, at the worst moment.
long long mostResident() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (long long kilobytes = 0; word == "VmHWM:" && status >> kilobytes)
            return kilobytes * 1024;
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    using namespace rm;
    keepFreedMemory(); // so that what counts is put over the trainer's own allocator
    test::useCountingAllocator();
    const ExitCode code = test::trainAs(argc, argv, makeTask);
    std::printf("peak %zu\nresident %lld\n", test::CountingAllocator::peak(), mostResident());
    std::fflush(nullptr);
    _exit(static_cast<int>(code)); // as the trainer does
}
