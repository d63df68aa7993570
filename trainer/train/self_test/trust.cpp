// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/self_test/trust.h"

#include "shared/io/home.h"
#include "shared/return_if_error.h"
#include "trainer/train/formats/own_process.h"
#include "trainer/train/self_test/limited_device.h"
#include "trainer/train/self_test/self_test.h"

namespace rm {
namespace {

constexpr const char* kOffEvent = "fast-path-off";

/// All fast paths that training can do without.
std::set<std::string> allPaths() {
    std::set<std::string> paths;
    for (const Proof& proof : proofs())
        if (proof.fastPath != std::string(fast_path::kDevice))
            paths.insert(proof.fastPath);
    return paths;
}

Result<SelfTest> testedDevice(const Session& session, const ShowInProcess& showInProcess) {
    const SelfTest fresh = untested(session.device);
    const std::string home = ringmasterHome();
    if (!keptOr(home, fresh).complete)
        session.event(Severity::kInfo, "self-test",
                      "the first start on " + fresh.device + " with driver " +
                          (fresh.driver.empty() ? "of an unknown version" : fresh.driver) +
                          " and " + fresh.runtime +
                          ": it is tested before it is trusted, which takes about 10 s",
                      -1);
    return testedOnce(home, fresh, [&] { return showInProcess(session); });
}

/// The failed proof that leaves nothing to train on; null: there is none.
const SelfTestProof* fatalIn(const SelfTest& test) {
    for (const SelfTestProof& proof : test.proofs)
        if (!proof.held && proof.path == fast_path::kDevice)
            return &proof;
    return nullptr;
}

} // namespace

Result<void> showInOwnProgram(const Session& session) {
    return runOwnProgram({"self-test", "--device", "cuda", "--local-rank",
                          std::to_string(session.environment.localRank), "--go-on"},
                         "test the device");
}

Result<void> trustWhatIsProven(Session& session, const ShowInProcess& showInProcess) {
    const Device whole = session.device;
    if (whole.plugin->identity().runtime.empty())
        return {}; // the CPU
    const auto test = testedDevice(session, showInProcess);
    if (!test) {
        session.event(Severity::kWarning, kOffEvent,
                      test.error().message + "; without a proof all its fast paths are off", -1);
        session.device = limited(whole, allPaths());
        return {};
    }
    if (const SelfTestProof* fatal = fatalIn(*test))
        return fail(ErrorCode::kUnavailable,
                    "train on " + test->device + ": its self-test failed in \"" + fatal->name +
                        "\": " + fatal->evidence +
                        "; leave it out (CUDA_VISIBLE_DEVICES) or set launch.device to \"cpu\", "
                        "and once it is mended, run ringmaster-trainer self-test there");
    for (const std::string& text : failureTexts(*test))
        session.event(Severity::kWarning, kOffEvent, text, -1);
    session.device = limited(whole, failedPaths(*test));
    return {};
}

void reportCollectives(const Session& session) {
    if (const std::string& fault = session.world.collectivesFault(); !fault.empty())
        session.event(Severity::kWarning, kOffEvent,
                      "the collectives of " + session.device.plugin->deviceName() +
                          " are off for this attempt: " + fault + "; instead " +
                          plainWayInsteadOf(fast_path::kCollectives),
                      -1);
}

} // namespace rm
