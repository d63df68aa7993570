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

/// What is known of `device` before any proof: its name and all that another result depends on.
SelfTest untested(const Device& device);

/// Whether `kept` was found out about the same device, driver and runtime as `fresh`.
bool isOfSame(const SelfTest& kept, const SelfTest& fresh);

/// Shows those of `list` that apply to `device` and are missing in `test`, in order. `keep` is
/// called before each, when it counts as failed in case it ends the process, and after the last.
void showRest(const Device& device, const std::vector<Proof>& list, SelfTest& test,
              const std::function<void(const SelfTest&)>& keep);

/// The fast paths (limited_device.h) of which a proof failed.
std::set<std::string> failedPaths(const SelfTest& test);

/// Where the node keeps the result: one file for each device and runtime.
std::string selfTestFile(const std::string& home, const SelfTest& test);

/// The kept result, complete or not, if it is of the same; else `fresh`.
SelfTest keptOr(const std::string& home, SelfTest fresh);
Result<void> keep(const std::string& home, const SelfTest& test);

/// The complete result of a device like `fresh`: the kept one, or what `showInProcess` leaves in
/// the file. That shows the missing proofs in a process of its own, which one of them may end: then
/// it is called again for those behind it. kUnavailable: it shows nothing at all.
Result<SelfTest> testedOnce(const std::string& home, const SelfTest& fresh,
                            const std::function<Result<void>()>& showInProcess);

/// A sentence for each failed proof, with its figures and what is done instead.
std::vector<std::string> failureTexts(const SelfTest& test);

} // namespace rm
