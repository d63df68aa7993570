// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/measures.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rm {

/// A measurement of sums between the ranks of some nodes.
struct LinkTest {
    struct Node {
        std::string name;
        std::string interface;    ///< by which it took part; empty: its system chose
        int64_t nominalMbit = -1; ///< that one's rate by its driver; -1: unknown
        int64_t ranks = 0;        ///< that it had; 0: unknown, as of an older version's test
        bool operator==(const Node&) const = default;
    };
    int64_t wallNs = 0; ///< by this computer's clock
    std::vector<Node> nodes;
    AllReduceReport report;
    bool operator==(const LinkTest&) const = default;
};

std::string toJson(const LinkTest& test);
/// Parses a LinkTest. kCorrupt names `source`, and what is wrong.
Result<LinkTest> parseLinkTest(const std::string& json, const std::string& source);

/// "node-a - node-b" of a pair, "all 3 nodes, 6 ranks".
std::string groupName(const LinkTest& test, const SumGroup& group);

/// The time and rate of a sum of one size, for people.
struct SumWords {
    std::string size; ///< "16 KiB"
    std::string time; ///< "2.81 ms"
    std::string rate; ///< "9.41 Gbit/s", busBandwidthOf()
    bool operator==(const SumWords&) const = default;
};
/// SumWords of each size that was measured, the smallest first.
std::vector<SumWords> sumsBySize(const SumGroup& group);

/// Sums of so many bytes and more tell a rate; what smaller ones take is latency.
inline constexpr int64_t kLeastForRate = 1 << 20;
/// Whether the test got as far as such sums.
bool hasRate(const SumGroup& group);

/// The rates of some tests, by the names of the nodes that summed and the number of their ranks.
class LinkHistory {
public:
    LinkHistory() = default;
    explicit LinkHistory(const std::vector<LinkTest>& tests);
    /// Bits a second of the same nodes and as many ranks in the newest test that is older than this
    /// one and has a rate of them; empty: there is none.
    std::optional<double> rateBefore(const LinkTest& test, const SumGroup& group) const;

private:
    using Key = std::pair<std::vector<std::string>, int64_t>; ///< sorted names, ranks
    static Key keyOf(const LinkTest& test, const SumGroup& group);

    std::map<Key, std::map<int64_t, double>> m_rates; ///< by the test's wallNs
};

/// "9.41 of 10 Gbit/s", and where that is little, what it may come from: "0.94 of 10 Gbit/s, as a
/// link of 1 Gbit/s: a port, cable or switch on the way may have negotiated that". Without a rate,
/// how far it got.
/// Where it was another one before, by more than a tenth: "9.41 of 10 Gbit/s, was 4.1 Gbit/s".
std::string rateWords(const LinkTest& test, const SumGroup& group, const LinkHistory& history = {});
/// Whether rateWords() complains.
bool isSlow(const LinkTest& test, const SumGroup& group);

/// The tests that were kept in a file, the oldest first; lines that are damaged are left out.
std::vector<LinkTest> parseLinkTests(const std::string& lines);
/// The file's text with one more; the oldest are dropped above two hundred.
std::string withLinkTest(const std::string& lines, const LinkTest& test);

/// parseLinkTests() of a file; without one, none. Any thread.
std::vector<LinkTest> keptLinkTests(const std::string& file);
/// Adds a test, the JSON of a LinkTest, to the file. Any thread.
Result<void> keepLinkTest(const std::string& file, const std::string& test);

/// Where they are kept, in the app's state folder.
inline constexpr const char* kLinkTestsFile = "all-reduce.jsonl";

} // namespace rm
