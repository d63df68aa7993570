// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/memory/peak_line.h"

#include <algorithm>
#include <cmath>

namespace rm {
namespace {

/// Matching changes in a row that prove that two places correspond.
constexpr size_t kSure = 16;
/// Changes by which a loop of one trace may be longer.
constexpr size_t kLongest = 8192;
/// Changes that both traces may have on their own at one place.
constexpr size_t kBoth = 48;
/// Allocators round sizes up to this.
constexpr int64_t kRounding = 512;

/// A place in each of two traces.
struct Place {
    size_t few = 0;
    size_t more = 0;
};

class Pair {
public:
    Pair(const MemoryTrace& few, const MemoryTrace& more, double ratio)
        : m_few(few)
        , m_more(more)
        , m_ratio(ratio) {}

    bool isEnd(Place at) const { return at.few == m_few.size() || at.more == m_more.size(); }

    /// Whether the next changes of both traces can correspond.
    bool goesTogether(Place at) const {
        const int64_t a = m_few[at.few];
        const int64_t b = m_more[at.more];
        if ((a > 0) != (b > 0))
            return false;
        const auto least = static_cast<double>(std::abs(a) - kRounding);
        const double most = static_cast<double>(std::abs(a)) * m_ratio + kRounding;
        const auto size = static_cast<double>(std::abs(b));
        return least <= size && size <= most;
    }

    /// The next place from which the traces agree; their ends when there is none.
    Place meet(Place from) const {
        for (size_t step = 1; step <= kLongest; ++step) {
            const size_t mixed = step <= kBoth ? step : 1;
            for (size_t i = 0; i < mixed; ++i)
                if (const Place at{from.few + i, from.more + step - i}; agreesFrom(at))
                    return at;
            if (const Place at{from.few + step, from.more}; agreesFrom(at))
                return at;
        }
        return {m_few.size(), m_more.size()};
    }

private:
    bool agreesFrom(Place at) const {
        if (at.few > m_few.size() || at.more > m_more.size())
            return false;
        const size_t left = std::min(m_few.size() - at.few, m_more.size() - at.more);
        if (left < kSure && m_few.size() - at.few != m_more.size() - at.more)
            return false;
        for (size_t i = 0; i < std::min(left, kSure); ++i)
            if (!goesTogether({at.few + i, at.more + i}))
                return false;
        return true;
    }

    const MemoryTrace& m_few;
    const MemoryTrace& m_more;
    double m_ratio;
};

/// Advances `at` to `end` and updates `level`; returns the highest rise above the initial level.
int64_t riseUntil(size_t end, const MemoryTrace& trace, size_t& at, int64_t& level) {
    const int64_t before = level;
    int64_t highest = level;
    for (; at < end; ++at) {
        level += trace[at];
        highest = std::max(highest, level);
    }
    return highest - before;
}

} // namespace

PeakLine::PeakLine(const MemoryTrace& traceOfFew, int64_t few, const MemoryTrace& traceOfMore,
                   int64_t more)
    : m_few(few)
    , m_more(more) {
    const Pair pair(traceOfFew, traceOfMore, static_cast<double>(more) / static_cast<double>(few));
    Place at;
    Moment now;
    while (!pair.isEnd(at)) {
        if (pair.goesTogether(at)) {
            now.few += traceOfFew[at.few++];
            now.more += traceOfMore[at.more++];
            m_moments.push_back(now);
            continue;
        }
        const Place next = pair.meet(at);
        const Moment before = now;
        const bool onlyMore = next.few == at.few;
        const bool onlyFew = next.more == at.more;
        int64_t riseOfFew = riseUntil(next.few, traceOfFew, at.few, now.few);
        int64_t riseOfMore = riseUntil(next.more, traceOfMore, at.more, now.more);
        if (onlyMore) // an extra iteration, as large in the other trace
            riseOfFew = riseOfMore;
        else if (onlyFew)
            riseOfMore = riseOfFew;
        m_moments.push_back({before.few + riseOfFew, before.more + riseOfMore});
        m_moments.push_back(now);
    }
}

int64_t PeakLine::at(int64_t samples) const {
    const double share = static_cast<double>(samples - m_few) / static_cast<double>(m_more - m_few);
    double peak = 0;
    for (const Moment& moment : m_moments) {
        const auto few = static_cast<double>(moment.few);
        peak = std::max(peak, few + share * static_cast<double>(moment.more - moment.few));
    }
    return std::llround(peak);
}

} // namespace rm
