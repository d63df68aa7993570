// SPDX-License-Identifier: Apache-2.0
// One rank of a run, as ringmaster-trainer, on a device whose own collectives sum rightly within
// one rank and wrongly over several, as the last of these sees it.
#include "tests/support/fake_device.h"
#include "tests/unit/train/own_sums.h"
#include "tests/unit/train/trainer_program.h"
#include "trainer/train/dist/gloo.h"
#include "trainer/train/self_test/limited_device.h"

#include <unistd.h>

namespace {

using namespace rm;

c10::intrusive_ptr<c10d::Backend> ownSums(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                          int ranks) {
    auto gloo = makeGloo(store, rank, ranks, "127.0.0.1", std::chrono::seconds(60));
    return c10::make_intrusive<test::OwnSums>(std::move(gloo), ranks > 1 && rank == ranks - 1);
}

void useUnsoundDevice(Session& session) {
    static FakeDevice device;
    device.who = {"GPU-unsound", "580", "fake"};
    device.collectives = ownSums;
    session.device = limited({&device, at::kCPU}, {fast_path::kRecordedSteps});
}

} // namespace

int main(int argc, char** argv) {
    const ExitCode code = test::trainAs(argc, argv, makeTask, useUnsoundDevice);
    std::fflush(nullptr);
    _exit(static_cast<int>(code)); // as the trainer does
}
