// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/rule_book.h"

#include "shared/enforce.h"
#include "shared/metrics/registry.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace rm {
namespace {

std::string whyOf(const Rule& rule, double value) {
    char text[160];
    const char* metric = rule.metric.c_str();
    const auto times = static_cast<long long>(rule.times);
    switch (rule.when) {
    case Rule::When::kRises:
        std::snprintf(text, sizeof text, "%s rose %lld times, to %.5g", metric, times, value);
        break;
    case Rule::When::kFalls:
        std::snprintf(text, sizeof text, "%s fell %lld times, to %.5g", metric, times, value);
        break;
    case Rule::When::kStalls:
        std::snprintf(text, sizeof text, "%s was not better for %lld times, last %.5g", metric,
                      times, value);
        break;
    case Rule::When::kAbove:
        std::snprintf(text, sizeof text, "%s is %.5g, above %.5g", metric, value, rule.bound);
        break;
    case Rule::When::kBelow:
        std::snprintf(text, sizeof text, "%s is %.5g, below %.5g", metric, value, rule.bound);
        break;
    }
    return text;
}

} // namespace

RuleBook::RuleBook(const std::vector<std::string>& rules) {
    for (const std::string& text : rules) {
        auto rule = parseRule(text);
        RM_ENFORCE(rule);
        m_rules.push_back({std::move(*rule), RuleState{.text = text}});
    }
}

/// Whether the value is one of those that the rule counts.
bool RuleBook::meets(Entry& entry, double value) {
    RuleState& state = entry.state;
    const double last = std::exchange(state.last, value);
    switch (entry.rule.when) {
    case Rule::When::kRises:
        return value > last; // false for the first
    case Rule::When::kFalls:
        return value < last;
    case Rule::When::kStalls: {
        const MetricDef& metric = *findBuiltinMetric(entry.rule.metric);
        if (!std::isnan(state.best) && !isBetter(metric, value, state.best))
            return true;
        state.best = value;
        return false;
    }
    case Rule::When::kAbove:
        return value > entry.rule.bound;
    case Rule::When::kBelow:
        return value < entry.rule.bound;
    }
    return false;
}

std::vector<RuleBook::Fired> RuleBook::note(std::string_view metric, double value) {
    std::vector<Fired> fired;
    if (!std::isfinite(value))
        return fired;
    for (Entry& entry : m_rules) {
        if (entry.rule.metric != metric)
            continue;
        RuleState& state = entry.state;
        // After a bound has acted, the values that have come back are counted: a metric that is
        // noisy near the bound crosses it all the time.
        const bool counts = meets(entry, value) != state.isSpent;
        state.count = counts ? state.count + 1 : 0;
        if (state.count < entry.rule.times)
            continue;
        state.count = 0;
        if (std::exchange(state.isSpent, false))
            continue;
        if (entry.rule.most > 0 && state.fired >= entry.rule.most)
            continue;
        state.isSpent = // else it acts again after as many more
            entry.rule.when == Rule::When::kAbove || entry.rule.when == Rule::When::kBelow;
        ++state.fired;
        fired.push_back({&entry.rule, whyOf(entry.rule, value)});
    }
    return fired;
}

const Rule* RuleBook::find(const std::string& text) const {
    const auto entry =
        std::ranges::find(m_rules, text, [](const Entry& each) { return each.rule.text; });
    return entry == m_rules.end() ? nullptr : &entry->rule;
}

std::vector<RuleState> RuleBook::states() const {
    std::vector<RuleState> states;
    for (const Entry& entry : m_rules)
        states.push_back(entry.state);
    return states;
}

void RuleBook::restore(const std::vector<RuleState>& states) {
    for (Entry& entry : m_rules)
        if (const auto state = std::ranges::find(states, entry.rule.text, &RuleState::text);
            state != states.end())
            entry.state = *state;
}

} // namespace rm
