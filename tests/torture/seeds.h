// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTest>

#include <random>
#include <vector>

namespace rm::test {

/// Whether tests/torture/run was asked for the long list.
inline bool isLong() {
    return qEnvironmentVariableIsSet("RINGMASTER_LONG");
}

/// Rows for the seeds: RINGMASTER_SEED, else one, or twenty of the long list; and those that once
/// failed.
inline void addSeeds(const std::vector<int>& failedOnce = {}) {
    QTest::addColumn<int>("seed");
    const auto add = [](int seed) { QTest::addRow("seed %d", seed) << seed; };
    if (qEnvironmentVariableIsSet("RINGMASTER_SEED"))
        return add(qEnvironmentVariableIntValue("RINGMASTER_SEED"));
    for (const int seed : failedOnce)
        add(seed);
    const int others = isLong() ? 20 : 1;
    for (int seed = 1; seed <= others; ++seed)
        add(seed);
}

/// The random numbers of the row's seed.
inline std::mt19937_64 randomOfRow() {
    QFETCH(int, seed);
    return std::mt19937_64(static_cast<uint64_t>(seed));
}

} // namespace rm::test
