// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/findings/text.h"

#include <span>

namespace rm {

inline constexpr auto kGood = CheckRow::State::kGood;
inline constexpr auto kWarning = CheckRow::State::kWarning;
inline constexpr auto kBad = CheckRow::State::kBad;

/// The texts of one subject, each in its NAME_texts.cpp.
struct TextTable {
    std::span<const FindingText> findings;
    std::span<const Phrase> phrases;
};

TextTable listTexts();
TextTable nodeTexts();
TextTable gpuTexts();
TextTable launchTexts();
TextTable networkTexts();
TextTable runTexts();
TextTable queueTexts();
TextTable paceTexts();
TextTable sshTexts();
TextTable engineTexts();
TextTable machineTexts();

/// All of them.
std::vector<TextTable> textTables();

} // namespace rm
