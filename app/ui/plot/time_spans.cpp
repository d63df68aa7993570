// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/time_spans.h"

#include <algorithm>

namespace rm {

TimeSpans united(TimeSpans spans, int64_t joinNs) {
    std::ranges::sort(spans, {}, &TimeSpan::firstNs);
    TimeSpans apart;
    for (const TimeSpan& span : spans) {
        if (apart.empty() || span.firstNs > apart.back().lastNs + joinNs)
            apart.push_back(span);
        else
            apart.back().lastNs = std::max(apart.back().lastNs, span.lastNs);
    }
    return apart;
}

TimeSpans without(const TimeSpans& spans, const TimeSpans& holes) {
    TimeSpans left;
    for (TimeSpan span : spans) {
        for (const TimeSpan& hole : holes) {
            if (hole.lastNs <= span.firstNs || hole.firstNs >= span.lastNs)
                continue;
            if (hole.firstNs > span.firstNs)
                left.push_back({span.firstNs, hole.firstNs});
            span.firstNs = hole.lastNs;
        }
        if (span.firstNs < span.lastNs)
            left.push_back(span);
    }
    return left;
}

TimeSpans within(const TimeSpans& spans, const TimeSpan& window) {
    TimeSpans seen;
    for (const TimeSpan& span : spans) {
        const TimeSpan part{std::max(span.firstNs, window.firstNs),
                            std::min(span.lastNs, window.lastNs)};
        if (part.firstNs < part.lastNs)
            seen.push_back(part);
    }
    return seen;
}

int64_t lengthOf(const TimeSpans& spans) {
    int64_t length = 0;
    for (const TimeSpan& span : spans)
        length += span.lastNs - span.firstNs;
    return length;
}

int64_t passedAt(const TimeSpans& spans, int64_t wallNs) {
    int64_t passed = 0;
    for (const TimeSpan& span : spans)
        passed += std::clamp(wallNs, span.firstNs, span.lastNs) - span.firstNs;
    return passed;
}

int64_t clockAt(const TimeSpans& spans, int64_t passedNs) {
    for (const TimeSpan& span : spans) {
        if (passedNs <= span.lastNs - span.firstNs)
            return span.firstNs + passedNs;
        passedNs -= span.lastNs - span.firstNs;
    }
    return spans.empty() ? 0 : spans.back().lastNs;
}

} // namespace rm
