// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QByteArray>
#include <QString>
#include <QtGlobal>

#include <cstdint>
#include <functional>
#include <random>
#include <string>

namespace rm::test {

/// The random decisions of a schedule.
class Dice {
public:
    explicit Dice(uint64_t seed)
        : m_state(seed * 0x9e3779b97f4a7c15 + 0x2545f4914f6cdd1d) {}

    /// At least 0 and less than `end`.
    int64_t below(int64_t end) {
        // xorshift64*, as an engine of <random> takes longer to seed than a schedule to run.
        m_state ^= m_state >> 12;
        m_state ^= m_state << 25;
        m_state ^= m_state >> 27;
        return static_cast<int64_t>((m_state * 0x2545f4914f6cdd1d >> 1) %
                                    static_cast<uint64_t>(end));
    }
    bool oneIn(int64_t count) { return below(count) == 0; }
    template <class List>
    auto& of(List& list) {
        return list[static_cast<size_t>(below(static_cast<int64_t>(std::size(list))))];
    }

private:
    uint64_t m_state;
};

/// Runs `schedule`, which gives "" or what is wrong, for the seeds 1 to `count`, or for
/// RINGMASTER_SEED alone. Returns the first that is wrong, with its seed.
inline QByteArray flawIn(uint64_t count, const std::function<std::string(Dice&)>& schedule) {
    const auto only = qEnvironmentVariable("RINGMASTER_SEED").toULongLong();
    for (uint64_t seed = only ? only : 1; seed <= (only ? only : count); ++seed) {
        Dice dice(seed);
        if (const std::string flaw = schedule(dice); !flaw.empty())
            return "seed " + QByteArray::number(qulonglong(seed)) + ": " +
                   QByteArray::fromStdString(flaw);
    }
    return {};
}

} // namespace rm::test
