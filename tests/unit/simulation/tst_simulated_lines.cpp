// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/run_lines.h"
#include "shared/checkpoint/manifest.h"
#include "tests/unit/simulation/schedules.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

using namespace rm;
using test::Dice;

namespace {

constexpr uint64_t kSchedules = 100'000;
constexpr int kActions = 40;

/// A run with attempts that go on from one another's checkpoints, on a disk that is a list. It
/// knows for each attempt which steps of which attempts led to where it is: what lineOf() and
/// RunLines have to find out from manifests and starts.
class Run {
public:
    explicit Run(Dice& dice)
        : m_dice(dice)
        , m_keepLast(1 + dice.below(3))
        , m_keepBest(!dice.oneIn(3)) {
        begin(nullptr);
    }

    std::string act() {
        switch (m_dice.below(8)) {
        case 0:
            resume();
            break;
        case 1:
            removeOne();
            break;
        case 2:
        case 3:
        case 4:
            m_step += 1 + m_dice.below(20);
            break;
        default:
            return save();
        }
        return flaw();
    }

    std::string flaw() const {
        const RunLines lines(m_starts);
        const auto parts = lines.parts();
        const auto best = bestOf(m_disk, m_line);
        for (const CheckpointEntry& entry : m_disk) {
            const Manifest& manifest = entry.manifest;
            const bool lives = isLiving(manifest);
            if (m_line.has(manifest) != lives)
                return entry.path + (lives ? " is not of the line" : " is of the line");
            const auto until = lines.livingUntil(static_cast<int>(manifest.attempt));
            if ((until && manifest.step <= *until) != lives)
                return entry.path + ": the app takes another line than the rank";
            if (isLivingPart(parts.at(static_cast<int>(manifest.attempt)), manifest.step) != lives)
                return entry.path + ": its part of the attempt says something else";
        }
        if (best && !isLiving(best->manifest))
            return best->path + " is the best, but retired";
        return {};
    }

private:
    using History = std::vector<Manifest::Ancestor>; ///< what led to it, each up to its step

    void begin(const CheckpointEntry* from) {
        m_attempt += 1 + (m_dice.oneIn(5) ? 1 : 0); // the number of one that never ran is used up
        m_line = lineOf(m_disk, m_attempt, from ? from->path : std::string());
        m_behind = from ? m_histories.at(from->path) : History();
        m_step = from ? from->manifest.step : 0;
        m_starts.push_back({static_cast<int>(m_attempt), m_step,
                            from ? static_cast<int>(from->manifest.attempt) : 0});
        m_lowest = std::numeric_limits<double>::infinity();
        if (const CheckpointEntry* best = bestOf(m_disk, m_line))
            m_lowest = best->manifest.validationLoss;
    }

    /// From the newest that counts, or, restored by a person, from any. Without one it begins anew.
    void resume() {
        const CheckpointEntry* from = nullptr;
        for (const CheckpointEntry& entry : m_disk)
            if (isLiving(entry.manifest) && (!from || from->manifest.step < entry.manifest.step))
                from = &entry;
        if (!m_disk.empty() && m_dice.oneIn(2))
            from = &m_dice.of(m_disk);
        if (!from)
            return; // refused: nothing to go on from
        begin(from);
    }

    void removeOne() {
        if (!m_disk.empty())
            m_disk.erase(m_disk.begin() + m_dice.below(static_cast<int64_t>(m_disk.size())));
    }

    std::string save() {
        static const char* const kReasons[] = {"every 10", "every 10", "best", "command", "pause"};
        ++m_step;
        Manifest manifest;
        manifest.attempt = m_attempt;
        manifest.step = m_step;
        manifest.reason = m_dice.of(kReasons);
        manifest.line = m_line.behind;
        manifest.validationLoss = static_cast<double>(m_dice.below(100));
        if (manifest.reason == "best")
            manifest.validationLoss = std::min(manifest.validationLoss, m_lowest - 1);
        manifest.best = manifest.validationLoss < m_lowest;
        if (manifest.best)
            m_lowest = manifest.validationLoss;
        const std::string path = "/c/" + checkpointName(m_step, m_attempt);
        History history = m_behind;
        history.push_back({m_attempt, m_step});
        m_histories[path] = history;
        m_disk.push_back({path, manifest});
        const std::string wrong = retain(path);
        return wrong.empty() ? flaw() : wrong;
    }

    /// As a rank does it after each save.
    std::string retain(const std::string& newest) {
        const CheckpointEntry* best = bestOf(m_disk, m_line);
        const auto removed = checkpointsToRemove(
            m_disk, m_line, {.last = m_keepLast, .best = m_keepBest ? 1 : 0, .every = 0});
        for (const std::string& path : removed) {
            const auto entry = std::ranges::find(m_disk, path, &CheckpointEntry::path);
            if (entry == m_disk.end())
                return path + " is removed, but is not there";
            if (!isLiving(entry->manifest))
                return path + " is retired, and removed";
            if (wasRequested(entry->manifest))
                return path + " was asked for, and is removed";
            if (m_keepBest && best && best->path == path)
                return path + " is the best, and is removed";
            if (path == newest && entry->manifest.reason != "best")
                return path + " is the newest, and is removed";
        }
        std::erase_if(m_disk, [&](const CheckpointEntry& entry) {
            return std::ranges::find(removed, entry.path) != removed.end();
        });
        const auto kept = std::ranges::count_if(m_disk, [&](const CheckpointEntry& entry) {
            return isLiving(entry.manifest) && !wasRequested(entry.manifest);
        });
        // Beside these the best and the start may stay.
        return kept > m_keepLast + 2 ? std::to_string(kept) + " stay" : std::string();
    }

    bool isLiving(const Manifest& manifest) const {
        if (manifest.attempt == m_attempt)
            return true;
        return std::ranges::any_of(m_behind, [&](const Manifest::Ancestor& part) {
            return part.attempt == manifest.attempt && manifest.step <= part.step;
        });
    }

    static bool isLivingPart(const std::vector<RunLines::Part>& parts, int64_t step) {
        const auto part = std::ranges::find_if(
            parts, [step](const RunLines::Part& each) { return step <= each.last; });
        return part != parts.end() && part->retiredBy == 0;
    }

    Dice& m_dice;
    const int64_t m_keepLast;
    const bool m_keepBest;
    std::vector<CheckpointEntry> m_disk;
    std::map<std::string, History> m_histories;
    std::vector<RunLines::Start> m_starts;
    CheckpointLine m_line;
    History m_behind;
    int64_t m_attempt = 0;
    int64_t m_step = 0;
    double m_lowest = 0; ///< loss of the line's best
};

std::string historyOf(Dice& dice) {
    Run run(dice);
    for (int action = 0; action < kActions; ++action)
        if (const std::string flaw = run.act(); !flaw.empty())
            return flaw + " after action " + std::to_string(action);
    return {};
}

} // namespace

/// Attempts, their checkpoints and which of them count.
class tst_simulated_lines : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void rankAndAppAgreeOnTheLivingLine() {
        QCOMPARE(test::flawIn(kSchedules, &historyOf), QByteArray());
    }
};

QTEST_GUILESS_MAIN(tst_simulated_lines)
#include "tst_simulated_lines.moc"
