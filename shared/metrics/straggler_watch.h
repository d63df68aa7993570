// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// What a rank did in a step, in milliseconds.
struct RankTimes {
    double dataMs = 0;    ///< until its batches were there
    double computeMs = 0; ///< forward, backward and optimizer
    double exposedMs = 0; ///< in the sums over all ranks, waiting for slower ones included
    double sendMs = -1;   ///< its connections to other nodes had something to send; -1: not known
    int firstOfNode = -1; ///< the first rank of its node; -1: not known

    /// Its own work, for which the others wait.
    double busyMs() const { return dataMs + computeMs; }
    bool operator==(const RankTimes&) const = default;
};

/// Why a rank is slow.
enum class SlowCause : uint8_t {
    kData,
    kCompute,
    kLink, ///< from its node to others
};
const char* slowCauseName(SlowCause cause); ///< "data", "compute", "link"

/// A rank for which the others wait.
struct Straggler {
    int rank = 0; ///< kLink: the first of its node
    SlowCause cause = SlowCause::kData;
    double overMs = 0;  ///< by which it makes a step longer
    double usualMs = 0; ///< what the median of the other ranks (nodes) takes for the same
    double stepMs = 0;
    /// How much longer steps are for it: 0.2.
    double slowsBy() const { return stepMs > overMs ? overMs / (stepMs - overMs) : 0; }
    bool operator==(const Straggler&) const = default;
};

/// Names the ranks that make the steps of all longer, by what each was busy with. How much a GPU
/// or core is used says nothing of it: a rank that waits for others uses its own as much.
///
/// A row is a step, or as many in a row as take kRowMs together; each figure is then their mean.
/// The first kFirstSteps of an attempt do not count. M(x) is the median of x over the other ranks.
/// The excess of a rank in a row is, for a cause,
///
///   data, compute   the lesser of x - M(x) and busy - M(busy), where x is dataMs or computeMs, and
///                   busy their sum
///   link            the lesser of y - M(y) and the least exposedMs of all ranks, where y is what
///                   the rank's node sends (the sum of sendMs), and M of the other nodes
///
/// By its median over the last kRows rows, the excess makes a rank slow once it is
///   - kOver of the median rank's busy time,
///   - and kOfStep of the step, which lasts as long as the longest rank's phases,
///   - and in kSlowRows of the rows there is half of it,
///   - and kNoise times what excesses change by in quiet times: the lower quartile, over the last
///     kBlocks blocks of kBlock rows, of how far the median rank's excess is from what it was
///     kApart blocks before, each by its median over the block.
/// The rank is slow until the excess is below half of the first two, or only kEvenRows - 1 rows
/// have a quarter of them. So a rank that is slow for good is named kSlowRows rows later. A machine
/// with other work delays now this rank and now that one: the count of rows tells that apart if the
/// delays are shorter than the rows, and the last condition if they are longer.
class StragglerWatch {
public:
    static constexpr int kFirstSteps = 5;
    static constexpr double kRowMs = 50;
    static constexpr size_t kRows = 16;
    static constexpr double kOver = 0.10;
    static constexpr double kOfStep = 0.05;
    static constexpr size_t kSlowRows = 13;
    static constexpr size_t kEvenRows = 9;
    static constexpr size_t kBlock = 4;
    static constexpr size_t kApart = 2;
    static constexpr size_t kBlocks = 64;
    static constexpr double kNoise = 3;

    explicit StragglerWatch(size_t ranks);

    struct Change {
        bool begins = false; ///< else it has ended
        Straggler straggler; ///< where it has ended: as it is now
    };
    /// The times of all ranks in the attempt's next step. At most one change for each rank and
    /// cause until the opposite one, the one that costs the most first. With one rank there is
    /// never any.
    std::vector<Change> note(const std::vector<RankTimes>& step);

    /// Those who are slow, the one that costs the most first.
    std::vector<Straggler> now() const;

private:
    static constexpr size_t kCauses = 3;
    /// Of a rank in a row, for a cause: by how much it is over M(x), and that.
    struct Excess {
        double ms = 0;
        double usualMs = 0;
    };
    struct Row {
        double stepMs = 0;                               ///< of the longest rank
        double busyMs = 0;                               ///< of the median rank
        std::vector<std::array<Excess, kCauses>> excess; ///< by rank
    };
    static Row rowOf(const std::vector<RankTimes>& ranks);
    void closeRow();
    void closeBlock();
    double noiseOf(size_t cause) const;
    Straggler medians(size_t rank, size_t cause) const;
    std::optional<Change> judge(size_t rank, size_t cause);

    std::vector<RankTimes> m_sum; ///< of the row that is being filled
    double m_sumMs = 0;
    int m_sumSteps = 0;
    int64_t m_steps = 0;
    std::deque<Row> m_rows;
    size_t m_blockRows = 0;                                 ///< rows since the last block
    using Block = std::vector<std::array<double, kCauses>>; ///< medians of excesses, by rank
    std::deque<Block> m_blocks;                             ///< the last kApart
    std::array<std::deque<double>, kCauses> m_changes;      ///< by block: of the median rank
    std::vector<std::array<std::optional<Straggler>, kCauses>> m_slow; ///< by rank
};

/// For the event of a rank that is slow (or no longer, `begins` is false): "computing takes 48.1 ms
/// of a step, on the median of the other ranks 39.0 ms: the others wait for it, and steps are 23 %
/// longer".
std::string describe(const Straggler& straggler, bool begins = true);

} // namespace rm
