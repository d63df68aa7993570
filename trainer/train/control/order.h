// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/spec/live_settings.h"
#include "shared/wire/messages.h"

#include <cstdint>
#include <optional>

namespace rm {

/// The order for all ranks at a step boundary: rank 0's command, and what any rank noticed.
struct Order {
    std::optional<CommandKind> kind;
    int64_t steps = 0;              ///< argument of kStep and kTrace
    LiveSettings set;               ///< argument of kSet
    bool preempt = false;           ///< some rank was asked by signal to end
    bool shut = false;              ///< some rank saw that updates are held back
    std::optional<double> meanLoss; ///< of all ranks' losses; nullopt: not all gave a finite one

    bool operator==(const Order&) const = default;
};

/// kInvalid says what is wrong with the command's arguments.
Result<Order> parseOrder(const Command& command);

} // namespace rm
