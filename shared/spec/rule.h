// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// A line of the spec's `rules`, in words: when a metric behaves so, rank 0 acts by itself.
///
///     RULE   = METRIC WHEN [COUNT "times"] ":" ACTION { "and" ACTION } [ "at most" COUNT "times" ]
///     WHEN   = "rises" | "falls" | "stalls" | "above" NUMBER | "below" NUMBER
///     ACTION = "lr" ("/" | "*") NUMBER | "checkpoint" | "hold" | "pause" | "stop"
///
/// as in "validation/loss rises 3 times: lr / 2 and checkpoint". Words are separated by blanks;
/// COUNT is 1 to 1000000, and 1 if it is missing. hold, pause and stop come last, as nothing
/// follows them. "at most" is how often it acts in the life of the run.
struct Rule {
    enum class When : uint8_t {
        kRises,  ///< each of the last COUNT values was above the one before it
        kFalls,  ///< below
        kStalls, ///< was not better than the best so far
        kAbove,  ///< above `bound`; then not again until COUNT in a row were not
        kBelow,
    };
    struct Action {
        enum class Kind : uint8_t { kLr, kCheckpoint, kHold, kPause, kStop };
        Kind kind = Kind::kCheckpoint;
        double factor = 1; ///< for kLr: what the learning rate is multiplied by
        bool operator==(const Action&) const = default;
    };
    std::string text; ///< the line as it was written
    std::string metric;
    When when = When::kRises;
    double bound = 0; ///< for kAbove and kBelow
    int64_t times = 1;
    std::vector<Action> actions;
    int64_t most = 0; ///< how often it acts at most; 0: without a limit
    bool operator==(const Rule&) const = default;
};

/// kInvalid quotes the rule and says what was expected where. The metric is one that every run has:
/// of training, or of the validation of some family of models.
Result<Rule> parseRule(std::string_view text);

/// Names of the metrics that rules can watch.
std::vector<std::string_view> ruleMetrics();

/// Help for people who write rules: a few lines with everything that can be watched and done, and
/// examples.
std::string ruleHelp();

/// The rule in its plain form, which parses to an equal one but for `text`.
std::string toText(const Rule& rule);

} // namespace rm
