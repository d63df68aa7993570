// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/wire/messages.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace rm {

/// What all ranks shall do at one step boundary: a command as it travels from rank 0 to them.
struct Order {
    std::optional<CommandKind> kind;
    int64_t steps = 0; ///< of kStep
    std::optional<double> lr;
    std::optional<double> clip;
    std::optional<int64_t> logEvery;
    bool preempt = false; ///< some rank was asked by signal to end
    bool shut = false;    ///< some rank saw that updates are held back

    bool isEmpty() const { return !kind && !preempt && !shut; }
    bool operator==(const Order&) const = default;
};

/// kInvalid says what is wrong with the command's arguments.
Result<Order> parseOrder(const Command& command);

/// An order as numbers whose sum over the ranks is the order, as long as rank 0 alone names a kind.
using OrderWords = std::array<int64_t, 8>;
OrderWords packOrder(const Order& order);
Order unpackOrder(const OrderWords& words);

} // namespace rm
