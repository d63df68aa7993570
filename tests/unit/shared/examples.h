// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/checkpoint/manifest.h"
#include "shared/journal/records.h"
#include "shared/spec/node_plan.h"
#include "shared/spec/run_spec.h"
#include "shared/wire/machine_sample.h"
#include "shared/wire/measures.h"
#include "shared/wire/messages.h"
#include "shared/wire/node_report.h"
#include "shared/wire/receive.h"

#include <cstddef>
#include <string>
#include <vector>

/// Values of every kind that a format carries, no two fields alike. What tests/data/shared/ holds
/// in its version-1 files: never change one, add new ones for new versions.
namespace rm::example {

std::vector<Record> records();
/// With those that later releases added to version 1.
std::vector<Record> allRecords();
std::vector<Message> messages();
std::vector<Transfer> transfers();
RunSpec spec();
NodePlan plan();
Manifest manifest();
AllReduceReport allReduceReport();
StepProfile stepProfile();
TryAnswer tryAnswer();
SelfTest selfTest();
NodeReport nodeReport();
MachineFacts machineFacts();
MachineSample machineSample();
Command command();

/// The values above as whole files.
std::vector<std::byte> journalFile();
std::vector<std::byte> wireStream();
std::vector<std::byte> transferStream();
std::vector<std::byte> boardPage();
std::vector<std::byte> safetensorsFile();

/// What a later release might write: types that this one does not know.
std::vector<std::byte> futureRecord();
std::vector<std::byte> futureMessage();

/// The schema as the table in shared/spec/SPEC.md.
std::string specTable();

std::span<const std::byte> bytesOf(const std::string& text);
std::string textOf(std::span<const std::byte> bytes);

} // namespace rm::example
