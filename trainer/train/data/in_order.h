// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <deque>
#include <future>
#include <type_traits>

namespace rm {

/// Calls `make(i)` for i in [0, count) on up to `threads` threads and `use(i, made)` on this one,
/// in order; at most `threads` results wait at a time. Ends with the first error of `use`.
template <class Make, class Use>
Result<void> inOrder(size_t count, size_t threads, const Make& make, const Use& use) {
    using Made = std::invoke_result_t<const Make&, size_t>;
    std::deque<std::future<Made>> ahead;
    size_t next = 0;
    for (size_t i = 0; i < count; ++i) {
        for (; next < count && ahead.size() < threads; ++next)
            ahead.push_back(std::async(std::launch::async, [&make, next] { return make(next); }));
        Made made = ahead.front().get();
        ahead.pop_front();
        if (const Result<void> used = use(i, std::move(made)); !used)
            return used;
    }
    return {};
}

} // namespace rm
