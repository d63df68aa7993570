// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/model/continuation.h"

#include <algorithm>

namespace rm {
namespace {

/// The last `count` ids; all, if there are fewer.
std::vector<int32_t> lastOf(const std::vector<int32_t>& ids, int64_t count) {
    const auto kept = std::min(static_cast<int64_t>(ids.size()), count);
    return {ids.end() - kept, ids.end()};
}

} // namespace

std::vector<int32_t> continuation(const std::vector<int32_t>& prompt, int64_t count,
                                  int64_t context, const Sampling& sampling,
                                  const at::Generator& generator, const NextScores& nextScores) {
    std::vector<int32_t> text = prompt;
    int64_t given = 0; // tokens that the model has before it
    std::vector<int32_t> fresh = prompt;
    while (static_cast<int64_t>(text.size() - prompt.size()) < count) {
        if (given + static_cast<int64_t>(fresh.size()) > context) {
            given = 0;
            fresh = lastOf(text, std::max<int64_t>(1, context / 2));
        }
        const at::Tensor scores = nextScores(fresh, given == 0);
        given += static_cast<int64_t>(fresh.size());
        fresh = {drawToken(scores, sampling, generator)};
        text.push_back(fresh.front());
    }
    return {text.begin() + static_cast<ptrdiff_t>(prompt.size()), text.end()};
}

} // namespace rm
