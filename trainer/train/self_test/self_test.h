// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/node_report.h"
#include "trainer/train/device/device.h"
#include "trainer/train/self_test/proofs.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace rm {

/// The result of `device` before any proof: its name, and all that kept results depend on.
SelfTest untested(const Device& device);

/// Whether `kept` and `fresh` are of the same device, driver and runtime.
bool isOfSame(const SelfTest& kept, const SelfTest& fresh);

/// Shows the proofs of `list` that apply to `device` and are missing in `test`, in order. `keep` is
/// called before each, when it counts as failed in case it ends the process, and after the last.
void showRest(const Device& device, const std::vector<Proof>& list, SelfTest& test,
              const std::function<void(const SelfTest&)>& keep);

/// The fast paths (limited_device.h) that failed a proof.
std::set<std::string> failedPaths(const SelfTest& test);

/// The file in which the node keeps the result: one for each device and runtime.
std::string selfTestFile(const std::string& home, const SelfTest& test);

/// The kept result, complete or not, if it isOfSame() as `fresh`; else `fresh`.
SelfTest keptOr(const std::string& home, SelfTest fresh);
Result<void> keep(const std::string& home, const SelfTest& test);

/// The complete result of a device like `fresh`. `showInProcess` shows the proofs that the kept
/// result lacks, in a process of its own, and keeps theirs. A proof may end that process: then it
/// is called again for the proofs behind it. kUnavailable: it shows nothing at all.
Result<SelfTest> testedOnce(const std::string& home, const SelfTest& fresh,
                            const std::function<Result<void>()>& showInProcess);

/// A sentence for each failed proof, with its figures and what is done instead.
std::vector<std::string> failureTexts(const SelfTest& test);

} // namespace rm
