// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/text_data.h"
#include "trainer/train/model/model.h"
#include "trainer/train/session.h"

#include <optional>

namespace rm {

/// Mean loss over the run's fixed validation windows, cut by rank and summed over all: every rank
/// gets the same number. nullopt when nothing is held out.
std::optional<double> validationLoss(Model& model, const TextData& data, const Session& session);

/// Text that the model writes after the spec's prompt. Depends on weights, seed and step alone and
/// leaves every generator as it was. Empty when the data has no tokenizer.
std::string writeSample(Model& model, const TextData& data, const RunSpec& spec, int64_t step);

/// Runs what follows in bfloat16 where that is safe, if `precision` says so.
class Autocast {
public:
    Autocast(const std::string& precision, const Device& device);
    ~Autocast();
    Autocast(const Autocast&) = delete;
    Autocast& operator=(const Autocast&) = delete;

private:
    bool m_on;
    at::DeviceType m_device;
};

} // namespace rm
