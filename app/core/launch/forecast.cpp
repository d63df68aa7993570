// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/forecast.h"

#include "app/core/findings/text.h"
#include "shared/return_if_error.h"
#include "shared/spec/step_cut.h"

#include <QLocale>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace rm {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// A transfer: it asks for the link at a moment, and takes so long if it has the link alone.
struct Sent {
    double fromMs = 0;
    double alone = 0; ///< milliseconds
    double doneMs = 0;
};

/// Plays the transfers and fills `doneMs`; `sent` is in order of `fromMs`. Gloo works on several
/// collectives at once, in the order in which they were begun; NCCL on one after the other.
void travel(std::vector<Sent>& sent, size_t atOnce) {
    std::vector<size_t> active;
    std::vector<double> left(sent.size());
    size_t next = 0;
    double now = 0;
    while (next < sent.size() || !active.empty()) {
        while (next < sent.size() && active.size() < atOnce && sent[next].fromMs <= now) {
            left[next] = sent[next].alone;
            active.push_back(next++);
        }
        const bool mayJoin = next < sent.size() && active.size() < atOnce;
        const double joins = mayJoin ? std::max(now, sent[next].fromMs) : kNever;
        const auto share = static_cast<double>(active.size());
        double least = kNever;
        for (const size_t i : active)
            least = std::min(least, left[i]);
        // Not by the difference of two moments, which may be nothing far from 0.
        const bool ends = now + least * share <= joins;
        const double passed = ends ? least : (joins - now) / share;
        for (const size_t i : active)
            left[i] -= passed;
        now = ends ? now + least * share : joins;
        std::erase_if(active, [&](size_t i) {
            if (left[i] > 1e-9)
                return false;
            sent[i].doneMs = now;
            return true;
        });
    }
}

bool isCpu(const StepProfile& profile) {
    return profile.device.starts_with("CPU");
}

class Timeline {
public:
    Timeline(const StepProfile& profile, const LinkCost& link, int64_t ranks)
        : m_profile(profile)
        , m_link(link)
        , m_ranks(static_cast<double>(ranks))
        , m_atOnce(isCpu(profile) ? 4 : 1) {
        double all = 0, before = 0; // whole bytes up to 2^53, and no overflow beyond
        for (const BucketTimes& bucket : profile.buckets)
            all += static_cast<double>(bucket.bytes);
        for (const BucketTimes& bucket : profile.buckets) { // as GradientBuckets does
            m_isWhole.push_back(!profile.sharded && before >= std::floor(all * 2 / 3));
            m_share.push_back(static_cast<double>(bucket.bytes) / all);
            before += static_cast<double>(bucket.bytes);
        }
        m_here.assign(profile.buckets.size(), 0);
        for (size_t i = 0; i < profile.buckets.size(); ++i) {
            m_sumsInBackward += cpuMs(i, m_isWhole[i] ? 2 : 1);
            m_sumsInForward += m_isWhole[i] ? 0 : cpuMs(i, 1);
        }
    }

    /// The time of a step once steps repeat.
    double stepMs() {
        constexpr int kUntilTheyRepeat = 4;
        for (int i = 0; i < kUntilTheyRepeat; ++i)
            step();
        const double before = m_now;
        step();
        return m_now - before;
    }

private:
    void step() {
        forward();
        m_now += static_cast<double>(m_profile.accumulation - 1) *
                 (m_profile.backwardMs + m_profile.forwardMs);
        backward();
        m_now += m_link.latencyMs; // the norm of the gradients
        update();
    }

    /// The first forward pass of a step, while sums of the step before are under way. Waits for
    /// each bucket before its first weight is read; then that bucket is updated.
    void forward() {
        std::vector<size_t> order(m_here.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::ranges::stable_sort(order, {},
                                 [this](size_t i) { return m_profile.buckets[i].neededMs; });
        double shift = m_now;
        for (const size_t i : order) {
            if (m_here[i] == 0)
                continue; // nothing is under way
            shift = std::max(shift, m_here[i] - m_profile.buckets[i].neededMs);
            shift += m_profile.updateMs * m_share[i];
            m_here[i] = 0;
        }
        m_now = shift + m_profile.forwardMs + m_sumsInForward;
    }

    void backward() {
        const double took = m_profile.backwardMs + m_sumsInBackward;
        const double slower = m_profile.backwardMs > 0 ? took / m_profile.backwardMs : 1;
        std::vector<Sent> sent;
        for (size_t i = 0; i < m_here.size(); ++i)
            sent.push_back(
                {m_now + m_profile.buckets[i].readyMs * slower, aloneMs(i, m_isWhole[i] ? 2 : 1)});
        std::ranges::stable_sort(sent, {}, &Sent::fromMs);
        travel(sent, m_atOnce);
        m_now += took;
        for (const Sent& one : sent)
            m_now = std::max(m_now, one.doneMs);
    }

    /// Updates whole buckets at once; the others are gathered as the forward pass needs them.
    void update() {
        std::vector<Sent> sent;
        std::vector<size_t> which;
        double own = 0;
        for (size_t i = m_here.size(); i-- > 0;) {
            if (m_isWhole[i]) {
                own += m_profile.updateMs * m_share[i];
                continue;
            }
            which.push_back(i);
            sent.push_back({m_now, aloneMs(i, 1)});
        }
        travel(sent, m_atOnce);
        for (size_t i = 0; i < which.size(); ++i)
            m_here[which[i]] = sent[i].doneMs;
        m_now += own;
    }

    /// The time of a bucket that has the link alone. `ways`: 2 there and back, 1 half of that.
    double aloneMs(size_t bucket, double ways) const {
        return ways * (m_link.latencyMs / 2 + bytesOneWay(bucket) / m_link.bytesPerMs);
    }

    /// The time of the core that computing has to do without while the bucket travels.
    double cpuMs(size_t bucket, double ways) const {
        const bool isInTheWay = isCpu(m_profile) && m_profile.spareCores == 0;
        return isInTheWay ? ways * (m_link.cpuMs / 2 + bytesOneWay(bucket) * m_link.cpuMsPerByte)
                          : 0;
    }

    double bytesOneWay(size_t bucket) const {
        return static_cast<double>(m_profile.buckets[bucket].bytes) / 4 *
               static_cast<double>(m_profile.bytesOnWire) * (m_ranks - 1) / m_ranks;
    }

    const StepProfile& m_profile;
    const LinkCost m_link;
    const double m_ranks;
    const size_t m_atOnce;
    std::vector<bool> m_isWhole;
    std::vector<double> m_share; ///< of all bytes, hence of the update
    std::vector<double> m_here;  ///< by bucket: when its gathered gradients arrive; 0: they have
    double m_sumsInForward = 0;  ///< milliseconds of the core that computes
    double m_sumsInBackward = 0; ///< likewise
    double m_now = 0;
};

double computeMs(const StepProfile& profile) {
    return static_cast<double>(profile.accumulation) * (profile.forwardMs + profile.backwardMs) +
           profile.updateMs;
}

bool isWithin(const SumGroup& group, size_t nodes) {
    return std::ranges::all_of(
        group.nodes, [nodes](int64_t node) { return node < static_cast<int64_t>(nodes); });
}

/// The first group without a known rate; null: there is none.
const SumGroup* withoutRate(const LinkTest& test) {
    const auto found = std::ranges::find_if_not(test.report.groups, hasRate);
    return found == test.report.groups.end() ? nullptr : &*found;
}

/// Why nothing can be forecast from the test; empty: it can.
std::string obstacleOf(const LinkTest& test) {
    if (test.report.groups.empty() || test.nodes.size() < 2)
        return test.report.fault.empty() ? say("forecast.no-sums")
                                         : say("forecast.no-sums-as", {{"why", test.report.fault}});
    if (std::ranges::any_of(test.nodes, [](const LinkTest::Node& node) { return node.ranks < 1; }))
        return say("forecast.ranks-unknown");
    if (const SumGroup* group = withoutRate(test))
        return say("forecast.no-rate",
                   {{"nodes", groupName(test, *group)}, {"rate", rateWords(test, *group)}});
    return {};
}

/// The slowest pair of the first nodes; for all of them what all did together.
const SumGroup& groupFor(const LinkTest& test, size_t nodes) {
    const SumGroup* slowest = &test.report.groups.back();
    if (nodes == test.nodes.size())
        return *slowest;
    double least = kNever;
    for (const SumGroup& group : test.report.groups) {
        if (group.nodes.size() != 2 || !isWithin(group, nodes) || busBandwidthOf(group) >= least)
            continue;
        least = busBandwidthOf(group);
        slowest = &group;
    }
    return *slowest;
}

/// "0.95", of "0.95 times as many"
std::string twoDecimals(double factor) {
    return QLocale::c().toString(factor, 'f', 2).toStdString();
}

std::string inMs(double ms) {
    return QLocale::c().toString(ms, 'f', ms < 10 ? 1 : 0).toStdString() + " ms";
}

/// The forecast for the first `nodes` of a test that allows one. kInvalid: their ranks cannot make
/// the steps of the spec.
Result<StepForecast> forecastFirst(StepProfile profile, const RunSpec& spec, const LinkTest& test,
                                   size_t nodes) {
    int64_t ranks = 0;
    for (size_t i = 0; i < nodes; ++i)
        ranks += test.nodes[i].ranks;
    profile.accumulation = spec.train.accumulation;
    if (spec.train.globalBatch > 0) {
        RM_ASSIGN_OR_RETURN(profile.accumulation,
                            accumulationOf(spec, ranks, batchSizesOf(spec, ranks), std::nullopt));
    }
    // The ranks of one node sum in its memory, which costs little beside a network.
    const LinkCost link = nodes > 1 ? costOf(groupFor(test, nodes)) : LinkCost{};
    StepForecast forecast = forecastStep(profile, link, ranks);
    forecast.nodes = static_cast<int64_t>(nodes);
    return forecast;
}

/// Which nodes are left out, and why; empty: none.
std::string leftOutWords(const StepProfile& profile, const RunSpec& spec, const LinkTest& test) {
    std::vector<std::string> numbers;
    std::string why;
    for (size_t nodes = 1; nodes <= test.nodes.size(); ++nodes) {
        const auto forecast = forecastFirst(profile, spec, test, nodes);
        if (forecast)
            continue;
        numbers.push_back(std::to_string(nodes));
        why = why.empty() ? forecast.error().message : why;
    }
    if (numbers.empty())
        return {};
    const bool isOne = numbers == std::vector<std::string>{"1"};
    return say(isOne ? "forecast.none-for-node" : "forecast.none-for-nodes",
               {{"nodes", someOf(numbers)}, {"why", why}});
}

/// The speed-up of the same nodes with another profile or larger steps of the spec.
double speedUpWith(const StepProfile& profile, const RunSpec& spec, const LinkTest& test,
                   const std::vector<StepForecast>& forecasts) {
    const auto rateOn = [&](const StepForecast& as) {
        return forecastFirst(profile, spec, test, static_cast<size_t>(as.nodes))->samplesPerSec;
    };
    return rateOn(forecasts.back()) / rateOn(forecasts.front());
}

/// The last forecast in words.
std::string verdictOf(const std::vector<StepForecast>& forecasts) {
    const StepForecast& first = forecasts.front();
    const StepForecast& last = forecasts.back();
    const double factor = speedUp(forecasts, forecasts.size() - 1);
    const bool isSlower = factor < 1;
    const Value times{"factor", twoDecimals(factor)}, step{"step", inMs(last.stepMs)},
        before{"before", inMs(first.stepMs)}, waits{"waits", inMs(last.waitMs)};
    if (last.nodes == 2)
        return say(isSlower ? "forecast.second-node-slows" : "forecast.second-node-helps",
                   {times, step, before, waits});
    return say(isSlower ? "forecast.nodes-slow" : "forecast.nodes-help",
               {{"nodes", std::to_string(last.nodes)},
                times,
                {"first", first.nodes == 1
                              ? say("forecast.one-node")
                              : say("forecast.nodes", {{"nodes", std::to_string(first.nodes)}})},
                step,
                before,
                waits});
}

std::optional<std::string> withCompression(StepProfile profile, const RunSpec& spec,
                                           const LinkTest& test,
                                           const std::vector<StepForecast>& forecasts) {
    if (profile.bytesOnWire < 4)
        return std::nullopt;
    profile.bytesOnWire = 2;
    return say("forecast.with-compression",
               {{"factor", twoDecimals(speedUpWith(profile, spec, test, forecasts))}});
}

/// The speed-up if nothing had to travel.
double mostOf(const std::vector<StepForecast>& forecasts) {
    return static_cast<double>(forecasts.back().ranks) /
           static_cast<double>(forecasts.front().ranks);
}

/// The smallest steps that come near to what the ranks could do, else the largest that were tried.
std::string withLargerSteps(const StepProfile& profile, RunSpec spec, const LinkTest& test,
                            const std::vector<StepForecast>& forecasts) {
    constexpr double kNear = 0.9;
    constexpr int64_t kMost = 64;
    const bool isGlobal = spec.train.globalBatch > 0; // train.accumulation has no effect then
    int64_t& size = isGlobal ? spec.train.globalBatch : spec.train.accumulation;
    const int64_t before = size;
    double factor = 0;
    do {
        size *= 2;
        factor = speedUpWith(profile, spec, test, forecasts);
    } while (factor < kNear * mostOf(forecasts) && size < kMost * before);
    return say("forecast.with-larger-steps",
               {{"key", isGlobal ? "train.global_batch" : "train.accumulation"},
                {"size", std::to_string(size)},
                {"factor", twoDecimals(factor)},
                {"more", std::to_string(size / before)}});
}

} // namespace

LinkCost costOf(const SumGroup& group) {
    const double latency = latencyOf(group) * 1e3;
    const SumTime& largest = group.times.back();
    const auto ranks = static_cast<double>(group.ranks);
    const double onTheWay = std::max(largest.seconds * 1e3 - latency, 1e-6);
    const double bytes = static_cast<double>(largest.bytes) * 2 * (ranks - 1) / ranks;
    LinkCost cost{latency, bytes / onTheWay, 0, largest.cpuSeconds * 1e3 / bytes};
    // Buckets are of 1 MiB and more; below, sums are made in other ways.
    const auto small = std::ranges::find_if(
        group.times, [](const SumTime& time) { return time.bytes >= kLeastForRate; });
    if (small != group.times.end() && small->bytes < largest.bytes) {
        const double share = static_cast<double>(small->bytes) / static_cast<double>(largest.bytes);
        // Both times are a + b x size.
        const double fixed =
            std::max(0.0, (small->cpuSeconds - largest.cpuSeconds * share) * 1e3 / (1 - share));
        cost.cpuMs = fixed;
        cost.cpuMsPerByte = std::max(0.0, largest.cpuSeconds * 1e3 - fixed) / bytes;
    }
    return cost;
}

StepForecast forecastStep(const StepProfile& profile, const LinkCost& link, int64_t ranks) {
    StepForecast forecast;
    forecast.ranks = ranks;
    forecast.accumulation = profile.accumulation;
    forecast.stepMs = computeMs(profile);
    if (ranks > 1 && !profile.buckets.empty() && link.bytesPerMs > 0)
        forecast.stepMs = Timeline(profile, link, ranks).stepMs();
    forecast.waitMs = std::max(0.0, forecast.stepMs - computeMs(profile));
    forecast.samplesPerSec = static_cast<double>(ranks) *
                             static_cast<double>(profile.accumulation) *
                             static_cast<double>(profile.samples) / forecast.stepMs * 1e3;
    return forecast;
}

std::vector<StepForecast> forecastNodes(const StepProfile& profile, const RunSpec& spec,
                                        const LinkTest& test) {
    std::vector<StepForecast> forecasts;
    if (!obstacleOf(test).empty())
        return forecasts;
    for (size_t nodes = 1; nodes <= test.nodes.size(); ++nodes)
        if (const auto forecast = forecastFirst(profile, spec, test, nodes))
            forecasts.push_back(*forecast);
    return forecasts;
}

double speedUp(const std::vector<StepForecast>& forecasts, size_t at) {
    return forecasts[at].samplesPerSec / forecasts.front().samplesPerSec;
}

std::vector<std::string> forecastWords(const StepProfile& profile, const RunSpec& spec,
                                       const LinkTest& test) {
    constexpr double kWell = 0.9; ///< of what so many ranks could do
    if (const std::string obstacle = obstacleOf(test); !obstacle.empty())
        return {say("forecast.none", {{"why", obstacle}})};
    const auto forecasts = forecastNodes(profile, spec, test);
    const std::string leftOut = leftOutWords(profile, spec, test);
    if (forecasts.size() < 2)
        return {leftOut};
    std::vector<std::string> words{verdictOf(forecasts)};
    if (!leftOut.empty())
        words.push_back(leftOut);
    if (speedUp(forecasts, forecasts.size() - 1) > kWell * mostOf(forecasts))
        return words;
    if (const auto compressed = withCompression(profile, spec, test, forecasts))
        words.push_back(*compressed);
    words.push_back(withLargerSteps(profile, spec, test, forecasts));
    return words;
}

} // namespace rm
