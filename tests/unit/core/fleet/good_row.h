// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/findings/check_row.h"

#include <string>
#include <utility>

namespace rm {

inline CheckRow goodRow(std::string id, std::string title, std::string evidence) {
    return {std::move(id), CheckRow::State::kGood, std::move(title), std::move(evidence), {}, {}};
}

} // namespace rm
