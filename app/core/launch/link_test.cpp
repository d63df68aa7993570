// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/link_test.h"

#include "app/core/findings/text.h"
#include "shared/io/file.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <mutex>

namespace rm {

namespace {

constexpr double kEnough = 0.7; ///< of the nominal rate: TCP's own share, and a busy moment
constexpr size_t kMostKept = 200;
constexpr int64_t kMostRanks = 1 << 20; ///< of a node, as the trainer takes them

/// A number with three digits, or with all of those before the point.
std::string number(double value) {
    const bool isWhole = value >= 999.5;
    return QLocale::c().toString(value, isWhole ? 'f' : 'g', isWhole ? 0 : 3).toStdString();
}

std::string milliseconds(double seconds) {
    return number(seconds * 1e3) + " ms";
}

/// "16 KiB"
std::string sizeOf(int64_t bytes) {
    return QLocale::c().formattedDataSize(bytes, 0).toStdString();
}

struct Unit {
    double bits;
    const char* name;
};

Unit unitOf(double bits) {
    return bits >= 1e9   ? Unit{1e9, " Gbit/s"}
           : bits >= 1e6 ? Unit{1e6, " Mbit/s"}
                         : Unit{1e3, " kbit/s"};
}

std::string rateOf(double bits) {
    const Unit unit = unitOf(bits);
    return number(bits / unit.bits) + unit.name;
}

/// The slower end of the group's links, in bits a second; 0: unknown.
double nominalOf(const LinkTest& test, const SumGroup& group) {
    double least = 0;
    for (const int64_t node : group.nodes) {
        const int64_t mbit = test.nodes[static_cast<size_t>(node)].nominalMbit;
        if (mbit <= 0)
            return 0;
        const double bits = static_cast<double>(mbit) * 1e6;
        least = least == 0 ? bits : std::min(least, bits);
    }
    return least;
}

/// The value ", was 4.1 Gbit/s" where the rate before is far from this one; else empty.
std::string wasWords(const LinkTest& test, const SumGroup& group, const LinkHistory& history) {
    constexpr double kSame = 0.1;
    const double now = hasRate(group) ? busBandwidthOf(group) * 8 : 0;
    const auto before = history.rateBefore(test, group);
    const bool isNew = before && std::abs(now - *before) > kSame * *before;
    return isNew ? say("links.was", {{"rate", rateOf(*before)}}) : std::string();
}

/// The rate of the usual kind of link that such a measurement suggests; 0: none.
double usualRate(double bits) {
    static constexpr std::array kRates = {10e6, 100e6, 1e9,  2.5e9, 5e9,   10e9,
                                          25e9, 40e9,  50e9, 100e9, 200e9, 400e9};
    for (const double rate : kRates)
        if (bits <= rate && bits > 0.8 * rate)
            return rate;
    return 0;
}

} // namespace

std::string toJson(const LinkTest& test) {
    Json nodes = Json::array();
    for (const LinkTest::Node& node : test.nodes)
        nodes.push_back({{"name", node.name},
                         {"interface", node.interface},
                         {"nominal_mbit", node.nominalMbit},
                         {"ranks", node.ranks}});
    return dumpJson(
        {{"wall_ns", test.wallNs}, {"nodes", nodes}, {"report", Json::parse(toJson(test.report))}});
}

Result<LinkTest> parseLinkTest(const std::string& json, const std::string& source) {
    RM_ASSIGN_OR_RETURN(const auto parsed, parseJson(json, source));
    const auto corrupt = [&source](const char* why) {
        return failAs(say("links.read", {{"source", source}}), {ErrorCode::kCorrupt, say(why)});
    };
    const Json* nodes = arrayAt(parsed, "nodes");
    if (!nodes || !parsed.contains("report"))
        return corrupt("links.no-nodes-or-report");
    LinkTest test;
    test.wallNs = intAt(parsed, "wall_ns").value_or(0);
    for (const Json& node : *nodes) {
        test.nodes.push_back(
            {textAt(node, "name").value_or(""), textAt(node, "interface").value_or(""),
             intAt(node, "nominal_mbit").value_or(-1), intAt(node, "ranks").value_or(0)});
        if (test.nodes.back().ranks < 0 || test.nodes.back().ranks > kMostRanks)
            return corrupt("links.odd-ranks");
    }
    RM_ASSIGN_OR_RETURN(test.report, parseAllReduceReport(dumpJson(parsed.at("report")), source));
    for (const SumGroup& group : test.report.groups)
        for (const int64_t node : group.nodes)
            if (node >= static_cast<int64_t>(test.nodes.size()))
                return corrupt("links.unknown-node");
    return test;
}

std::string groupName(const LinkTest& test, const SumGroup& group) {
    const auto name = [&](size_t i) {
        return test.nodes[static_cast<size_t>(group.nodes[i])].name;
    };
    if (group.ranks == 2 && group.nodes.size() == 2)
        return name(0) + " - " + name(1);
    return say("links.all", {{"nodes", std::to_string(group.nodes.size())},
                             {"ranks", std::to_string(group.ranks)}});
}

std::vector<SumWords> sumsBySize(const SumGroup& group) {
    std::vector<SumWords> words;
    for (const SumTime& time : group.times)
        words.push_back({sizeOf(time.bytes), milliseconds(time.seconds),
                         rateOf(busBandwidthOf(group, time) * 8)});
    return words;
}

bool hasRate(const SumGroup& group) {
    return group.times.back().bytes >= kLeastForRate;
}

bool isSlow(const LinkTest& test, const SumGroup& group) {
    if (!hasRate(group))
        return true;
    const double nominal = nominalOf(test, group);
    return nominal > 0 && busBandwidthOf(group) * 8 < kEnough * nominal;
}

LinkHistory::LinkHistory(const std::vector<LinkTest>& tests) {
    for (const LinkTest& test : tests)
        for (const SumGroup& group : test.report.groups)
            if (hasRate(group))
                m_rates[keyOf(test, group)][test.wallNs] = busBandwidthOf(group) * 8;
}

std::optional<double> LinkHistory::rateBefore(const LinkTest& test, const SumGroup& group) const {
    const auto rates = m_rates.find(keyOf(test, group));
    if (rates == m_rates.end())
        return std::nullopt;
    const auto next = rates->second.lower_bound(test.wallNs);
    return next == rates->second.begin() ? std::nullopt : std::optional(std::prev(next)->second);
}

LinkHistory::Key LinkHistory::keyOf(const LinkTest& test, const SumGroup& group) {
    Key key{{}, group.ranks};
    for (const int64_t node : group.nodes)
        key.first.push_back(test.nodes[static_cast<size_t>(node)].name);
    std::ranges::sort(key.first);
    return key;
}

std::string rateWords(const LinkTest& test, const SumGroup& group, const LinkHistory& history) {
    const Value was{"was", wasWords(test, group, history)};
    if (!hasRate(group))
        return say("links.no-rate", {was,
                                     {"size", sizeOf(group.times.back().bytes)},
                                     {"time", milliseconds(group.times.back().seconds)}});
    const double bits = busBandwidthOf(group) * 8;
    const double nominal = nominalOf(test, group);
    if (nominal == 0)
        return say("links.rate", {{"rate", rateOf(bits)}, was});
    const Value rate{"rate", number(bits / unitOf(nominal).bits)},
        whole{"nominal", rateOf(nominal)};
    if (!isSlow(test, group))
        return say("links.rate-of", {rate, whole, was});
    const double usual = usualRate(bits);
    if (usual > 0 && usual < nominal)
        return say("links.rate-of-slower-link", {rate, whole, was, {"usual", rateOf(usual)}});
    return say("links.rate-far-below", {rate, whole, was});
}

std::vector<LinkTest> parseLinkTests(const std::string& lines) {
    std::vector<LinkTest> tests;
    for (size_t begin = 0; begin < lines.size();) {
        const size_t end = std::min(lines.find('\n', begin), lines.size());
        if (auto test = parseLinkTest(lines.substr(begin, end - begin), "a kept all-reduce test"))
            tests.push_back(std::move(*test));
        begin = end + 1;
    }
    return tests;
}

std::vector<LinkTest> keptLinkTests(const std::string& file) {
    return parseLinkTests(readFile(file).value_or(""));
}

Result<void> keepLinkTest(const std::string& file, const std::string& json) {
    static std::mutex mutex; // of this process, which alone holds the state folder
    const std::scoped_lock lock(mutex);
    RM_ASSIGN_OR_RETURN(const auto test, parseLinkTest(json, "the all-reduce test"));
    return writeFileAtomically(file, withLinkTest(readFile(file).value_or(""), test));
}

std::string withLinkTest(const std::string& lines, const LinkTest& test) {
    std::vector<LinkTest> tests = parseLinkTests(lines);
    tests.push_back(test);
    std::string text;
    for (size_t i = tests.size() - std::min(tests.size(), kMostKept); i < tests.size(); ++i)
        text += toJson(tests[i]) + "\n";
    return text;
}

} // namespace rm
