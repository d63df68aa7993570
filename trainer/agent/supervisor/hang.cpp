// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/hang.h"

#include "shared/amounts.h"

#include <algorithm>

namespace rm {

namespace {

std::string namesOf(const std::vector<SeenRank>& ranks) {
    constexpr size_t kMost = 8;
    std::string names = ranks.size() > 1 ? "ranks " : "rank ";
    for (size_t i = 0; i < std::min(ranks.size(), kMost); ++i)
        names += (i ? ", " : "") + std::to_string(ranks[i].rank);
    if (ranks.size() > kMost)
        names += " and " + std::to_string(ranks.size() - kMost) + " more";
    return names;
}

/// The collective in which a rank is, or was last: "all-reduce 412 (25.0 MiB)".
std::string collectiveOf(const SeenRank& rank) {
    const bool isAside = rank.side.begun > rank.side.ended && rank.main.begun == rank.main.ended;
    const Board::Collectives& in = isAside ? rank.side : rank.main;
    return std::string(collectiveName(in.kind)) + " " + std::to_string(in.begun) +
           (isAside ? " of commands (" : " (") + memoryWords(static_cast<int64_t>(in.bytes)) + ")";
}

std::string placeOf(const SeenRank& rank, const std::string& seconds) {
    return std::string("in ") + phaseName(rank.phase) + " after step " + std::to_string(rank.step) +
           " for " + seconds;
}

} // namespace

std::optional<bool> SeenRank::isWaiting() const {
    if (!main.endsAreKnown || !side.endsAreKnown)
        return std::nullopt;
    return main.begun > main.ended || side.begun > side.ended;
}

bool mayTakeLong(const SeenRank& rank) {
    switch (rank.phase) {
    case Phase::kStarting:
    case Phase::kRendezvous:
    case Phase::kHeld:
        return true;
    case Phase::kValidation:
    case Phase::kCheckpoint:
        return !rank.isWaiting().value_or(false);
    default:
        return false;
    }
}

SeenRank seenRank(int32_t rank, const Board::Status& status, bool isStopped) {
    return {rank, status.step, status.phase, isStopped, status.main, status.side};
}

Hang judgeHang(const std::vector<SeenRank>& ranks) {
    Hang hang;
    const auto [least, most] = std::ranges::minmax_element(ranks, {}, &SeenRank::begun);
    const auto oldest = std::ranges::min_element(ranks, {}, &SeenRank::step);
    hang.step = oldest->step;
    const auto name = [&](Hang::Cause cause, auto&& isToBlame) {
        std::ranges::copy_if(ranks, std::back_inserter(hang.named), isToBlame);
        if (!hang.named.empty())
            hang.cause = cause;
        return !hang.named.empty();
    };
    if (name(Hang::Cause::kStopped, [](const SeenRank& rank) { return rank.isStopped; }))
        return hang;
    if (most->begun() > least->begun()) {
        hang.ahead = *most;
        // One that is in its collective waits as well: what the others sent does not reach it.
        if (!name(Hang::Cause::kAbsent, [first = least->begun()](const SeenRank& rank) {
                return rank.begun() == first && !rank.isWaiting().value_or(false);
            }))
            hang.cause = Hang::Cause::kTransfer;
        return hang;
    }
    const auto newest = std::ranges::max_element(ranks, {}, &SeenRank::step);
    if (oldest->step < newest->step) {
        hang.ahead = *newest;
        name(Hang::Cause::kAbsent, [&](const SeenRank& rank) {
            return rank.step == oldest->step && !rank.isWaiting().value_or(false);
        });
        return hang;
    }
    // A run of one rank begins no collective.
    const bool isAlone = ranks.size() == 1 && most->begun() == 0;
    name(Hang::Cause::kBusy,
         [&](const SeenRank& rank) { return isAlone || rank.isWaiting() == false; });
    return hang;
}

std::string describeHang(const Hang& hang, const std::string& node, int64_t nowNs) {
    const std::string seconds = std::to_string((nowNs - hang.sinceNs) / 1'000'000'000) + " s";
    const auto named = [&] {
        return namesOf(hang.named) + (hang.named.size() > 1 ? " are" : " is");
    };
    switch (hang.cause) {
    case Hang::Cause::kStopped:
        return named() + " stopped (SIGSTOP, or a debugger), and no step was finished for " +
               seconds + ": continue or kill it";
    case Hang::Cause::kAbsent:
        if (hang.ahead->begun() == hang.named.front().begun())
            return named() + " behind the others: " + placeOf(hang.named.front(), seconds);
        return namesOf(hang.named) + " did not come to " + collectiveOf(*hang.ahead) +
               ", in which others wait: " + placeOf(hang.named.front(), seconds);
    case Hang::Cause::kBusy:
        return namesOf(hang.named) + (hang.named.size() > 1 ? " wait" : " waits") +
               " for no other rank, and finished no step for " + seconds + ": " +
               placeOf(hang.named.front(), seconds);
    case Hang::Cause::kTransfer:
        return "all ranks came to their collective, but its bytes do not come through for " +
               seconds + ": a link between nodes, after step " + std::to_string(hang.step);
    case Hang::Cause::kElsewhere:
        break;
    }
    return "no rank of " + node + " has finished a step for " + seconds + " after step " +
           std::to_string(hang.step) + ": they wait for a rank elsewhere, or for a link";
}

} // namespace rm
