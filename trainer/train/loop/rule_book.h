// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/rule.h"
#include "trainer/train/checkpoint/train_state.h"

#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// Says when the rules of a run (the spec's `rules`) are to act. Passive: it is told of values, in
/// the order in which they come.
class RuleBook {
public:
    /// `rules` as in a checked spec.
    explicit RuleBook(const std::vector<std::string>& rules);

    struct Fired {
        const Rule* rule = nullptr; ///< as long as the book
        std::string why;            ///< "validation/loss rose 3 times, to 2.41"
    };
    /// Notes a new value of a metric, if it is finite. Returns the rules that act.
    std::vector<Fired> note(std::string_view metric, double value);

    bool isEmpty() const { return m_rules.empty(); }
    const Rule* find(const std::string& text) const; ///< nullptr: there is no such rule

    // For checkpoints. Of another spec only rules with the same text are restored.
    std::vector<RuleState> states() const;
    void restore(const std::vector<RuleState>& states);

private:
    struct Entry {
        Rule rule;
        RuleState state;
    };
    static bool meets(Entry& entry, double value);

    std::vector<Entry> m_rules;
};

} // namespace rm
