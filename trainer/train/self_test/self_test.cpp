// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/self_test/self_test.h"

#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "trainer/train/self_test/limited_device.h"
#include "trainer/train/session/cause.h"
#include "trainer/train/session/options.h"

#include <torch/version.h>

#include <algorithm>
#include <cctype>

namespace rm {
namespace {

constexpr const char* kEndedByProof = "the process that showed it was ended by it";
constexpr size_t kMostBytes = 1 << 20;

bool has(const SelfTest& test, const Proof& proof) {
    return std::ranges::find(test.proofs, std::string(proof.name), &SelfTestProof::name) !=
           test.proofs.end();
}

void show(const Device& device, const Proof& proof, SelfTestProof& found) {
    const int64_t began = monotonicNowNs();
    try {
        found.evidence = proof.show(device);
        device.plugin->synchronize();
        found.held = true;
    } catch (const std::exception& error) {
        found.evidence = causeOf(error);
    }
    found.ms = (monotonicNowNs() - began) / 1'000'000;
}

/// The text with `_` for every character that might not be harmless in a file's name.
std::string asFileName(std::string text) {
    std::ranges::replace_if(
        text, [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '-'; }, '_');
    return text;
}

} // namespace

SelfTest untested(const Device& device) {
    const DeviceIdentity identity = device.plugin->identity();
    SelfTest test;
    test.device = device.plugin->deviceName();
    test.uuid = identity.uuid;
    test.driver = identity.driver;
    test.runtime = "torch " TORCH_VERSION ", " +
                   (identity.runtime.empty() ? "" : identity.runtime + ", ") + trainerRelease();
    return test;
}

bool isOfSame(const SelfTest& kept, const SelfTest& fresh) {
    return kept.device == fresh.device && kept.uuid == fresh.uuid && kept.driver == fresh.driver &&
           kept.runtime == fresh.runtime;
}

void showRest(const Device& device, const std::vector<Proof>& list, SelfTest& test,
              const std::function<void(const SelfTest&)>& keep) {
    for (const Proof& proof : list) {
        if (has(test, proof) || !proof.applies(device))
            continue;
        test.wallNs = wallNowNs();
        test.proofs.push_back({proof.name, proof.fastPath, false, kEndedByProof, 0});
        keep(test);
        show(device, proof, test.proofs.back());
    }
    test.complete = true;
    test.wallNs = wallNowNs();
    keep(test);
}

std::set<std::string> failedPaths(const SelfTest& test) {
    std::set<std::string> paths;
    for (const SelfTestProof& proof : test.proofs)
        if (!proof.held)
            paths.insert(proof.path);
    return paths;
}

std::string selfTestFile(const std::string& home, const SelfTest& test) {
    const std::string device = test.uuid.empty() ? test.device : test.uuid;
    return home + "/self-tests/" + asFileName(device + "-" + test.runtime) + ".json";
}

SelfTest keptOr(const std::string& home, SelfTest fresh) {
    const std::string path = selfTestFile(home, fresh);
    const auto kept = readFile(path, kMostBytes).and_then([&](const std::string& text) {
        return parseSelfTest(text, path);
    });
    return kept && isOfSame(*kept, fresh) ? *kept : std::move(fresh);
}

Result<void> keep(const std::string& home, const SelfTest& test) {
    return makeFolders(home + "/self-tests").and_then([&] {
        return writeFileAtomically(selfTestFile(home, test), toJson(test) + "\n");
    });
}

Result<SelfTest> testedOnce(const std::string& home, const SelfTest& fresh,
                            const std::function<Result<void>()>& showInProcess) {
    SelfTest test = keptOr(home, fresh);
    while (!test.complete) {
        const Result<void> shown = showInProcess();
        SelfTest next = keptOr(home, fresh);
        if (!next.complete && next.proofs.size() <= test.proofs.size())
            return fail(ErrorCode::kUnavailable,
                        "test " + fresh.device + ": " +
                            (shown ? selfTestFile(home, fresh) + " holds no result"
                                   : shown.error().message));
        test = std::move(next);
    }
    return test;
}

std::vector<std::string> failureTexts(const SelfTest& test) {
    std::vector<std::string> texts;
    for (const SelfTestProof& proof : test.proofs)
        if (!proof.held)
            texts.push_back("the self-test of " + test.device + " failed in \"" + proof.name +
                            "\": " + proof.evidence + "; " + proof.path +
                            " is off there, and instead " + plainWayInsteadOf(proof.path));
    return texts;
}

} // namespace rm
