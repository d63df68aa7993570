// SPDX-License-Identifier: Apache-2.0
// ringmaster-gpu-tests [GROUP...]: runs the tests of these groups, or all, on GPU 0; one line of
// JSON a test. --list names the groups; --rehearse runs those that make sense on the CPU there,
// where they find nothing out but whether they themselves hold. Ends with 0: all passed, 1: some
// failed, 3: no GPU here.
#include "shared/io/clock.h"
#include "tests/gpu/tests/harness.h"
#include "trainer/train/model/fused_ops.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <set>

namespace {

using namespace rm;

constexpr int kFailed = 1;
constexpr int kNoGpu = 3;
const std::set<std::string> kRehearsed = {"models", "proofs"};

/// The first lines only: torch adds a backtrace.
std::string shortened(const std::string& text) {
    constexpr size_t kMost = 600;
    return text.substr(0, std::min(text.find("\nException raised from"), kMost));
}

bool runOne(const gpu::Test& test, const Device& device) {
    nlohmann::ordered_json line = {{"part", "tests"}, {"group", test.group}, {"test", test.name}};
    const int64_t began = monotonicNowNs();
    bool passed = true;
    try {
        test.run(device);
        device.plugin->synchronize();
    } catch (const std::exception& error) {
        passed = false;
        line["why"] = shortened(error.what());
    }
    line["ok"] = passed;
    line["seconds"] = static_cast<double>(monotonicNowNs() - began) / 1e9;
    if (device.isCpu())
        line["rehearsal"] = true;
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
    return passed;
}

int listGroups() {
    std::set<std::string> seen;
    for (const gpu::Test& test : gpu::tests())
        if (seen.insert(test.group).second)
            std::printf("%s\n", test.group.c_str());
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    std::set<std::string> wanted(argv + 1, argv + argc);
    if (wanted.contains("--list"))
        return listGroups();
    const bool rehearses = wanted.contains("--rehearse");
    if (rehearses)
        wanted = kRehearsed;
    const auto device = rehearses ? Result<Device>(useCpu(1)) : useCuda(0);
    if (!device) {
        std::fprintf(stderr, "ringmaster-gpu-tests: %s\n", device.error().message.c_str());
        return kNoGpu;
    }
    setFusedOps(device->plugin->fusedOps());
    bool passed = true;
    for (const gpu::Test& test : gpu::tests())
        if (wanted.empty() || wanted.contains(test.group))
            passed = runOne(test, *device) && passed;
    std::fflush(nullptr);
    _exit(passed ? 0 : kFailed); // NCCL's threads may outlive a failure
}
