// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/torture/oracle_steps.h"

#include "app/core/store/store_reader.h"
#include "shared/checkpoint/manifest.h"

#include <QDir>
#include <QFile>

#include <algorithm>
#include <bit>

namespace rm::torture {
namespace {

QByteArray at(int rank, const OracleStep& step) {
    return "rank " + QByteArray::number(rank) + ", attempt " + QByteArray::number(step.attempt) +
           ", step " + QByteArray::number(qlonglong(step.step));
}

bool isSame(double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

QByteArray gapIn(int rank, const OracleSteps& recorded) {
    for (size_t i = 1; i < recorded.size(); ++i) {
        const bool isNew = recorded[i].attempt > recorded[i - 1].attempt;
        if (!isNew && (recorded[i].attempt != recorded[i - 1].attempt ||
                       recorded[i].step != recorded[i - 1].step + 1))
            return at(rank, recorded[i]) + " was told after " + at(rank, recorded[i - 1]);
    }
    return {};
}

QByteArray flawOfRank(int rank, const std::vector<Point>& stored,
                      const std::map<int64_t, OracleStep>& living) {
    auto expected = living.begin();
    for (const Point& point : stored) {
        if (expected == living.end() || point.step != expected->first)
            return "rank " + QByteArray::number(rank) + ": stored is step " +
                   QByteArray::number(qlonglong(point.step)) + " where " +
                   (expected == living.end() ? "nothing"
                                             : QByteArray::number(qlonglong(expected->first))) +
                   " belongs";
        const auto recorded = static_cast<float>(expected->second.loss);
        if (std::bit_cast<uint32_t>(recorded) != std::bit_cast<uint32_t>(point.value))
            return at(rank, expected->second) + ": stored is another loss than was told";
        ++expected;
    }
    return expected == living.end() ? QByteArray() : at(rank, expected->second) + " is not stored";
}

} // namespace

std::map<int, OracleSteps> readOracle(const QString& folder, const QString& run) {
    std::map<int, OracleSteps> recorded;
    for (const QString& name : QDir(folder).entryList({run + "-rank-*"}, QDir::Files)) {
        QFile file(folder + "/" + name);
        if (!file.open(QIODevice::ReadOnly))
            continue;
        OracleSteps& steps = recorded[name.section('-', -1).toInt()];
        while (file.canReadLine() || !file.atEnd()) {
            const QByteArray line = file.readLine();
            const QList<QByteArray> words = line.trimmed().split(' ');
            if (line.endsWith('\n') && words.size() == 4)
                steps.push_back({words[0].toInt(), words[1].toLongLong(),
                                 std::bit_cast<double>(uint64_t(words[2].toULongLong(nullptr, 16))),
                                 words[3].toLongLong()});
        }
    }
    return recorded;
}

int64_t lastOracleStep(const QString& folder, const QString& run) {
    constexpr qint64 kLines = 256;
    QFile file(folder + "/" + run + "-rank-00000");
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    file.seek(std::max<qint64>(0, file.size() - kLines));
    const QList<QByteArray> lines = file.readAll().split('\n');
    return lines.size() < 2 ? 0 : lines[lines.size() - 2].split(' ').value(1).toLongLong();
}

std::map<int64_t, OracleStep> livingOf(const OracleSteps& recorded) {
    std::map<int64_t, OracleStep> living;
    int attempt = 0;
    for (const OracleStep& step : recorded) {
        if (step.attempt != attempt)
            living.erase(living.lower_bound(step.step), living.end());
        attempt = step.attempt;
        living[step.step] = step;
    }
    return living;
}

QByteArray flawIn(const std::map<int, OracleSteps>& recorded) {
    for (const auto& [rank, steps] : recorded) {
        std::map<int64_t, double> losses;
        if (const QByteArray gap = gapIn(rank, steps); !gap.isEmpty())
            return gap;
        for (const OracleStep& step : steps)
            if (!isSame(losses.emplace(step.step, step.loss).first->second, step.loss))
                return at(rank, step) + ": another loss than in an earlier attempt";
    }
    return {};
}

QByteArray flawInStore(const QString& database, const QString& run,
                       const std::map<int, OracleSteps>& recorded, int ranks) {
    const auto reader = StoreReader::open(database);
    if (!reader)
        return QByteArray::fromStdString(reader.error().message);
    if (recorded.size() != static_cast<size_t>(ranks))
        return QByteArray::number(qlonglong(recorded.size())) + " ranks told anything";
    for (const auto& [rank, steps] : recorded) {
        const auto stored = (*reader)->points(run, {"train/loss", rank});
        if (const QByteArray flaw = flawOfRank(rank, stored, livingOf(steps)); !flaw.isEmpty())
            return flaw;
    }
    return {};
}

QByteArray flawInCheckpoints(const QString& folder, const std::map<int, OracleSteps>& recorded) {
    const QStringList names = QDir(folder).entryList({"step-*"}, QDir::Dirs);
    for (const QString& name : names) {
        const auto manifest = verifyCheckpoint((folder + "/" + name).toStdString());
        if (!manifest)
            return QByteArray::fromStdString(manifest.error().message);
        const bool isRecorded =
            !recorded.empty() &&
            std::ranges::any_of(recorded.begin()->second, [&](const OracleStep& step) {
                return step.step == manifest->step && step.attempt == manifest->attempt;
            });
        if (!isRecorded)
            return name.toUtf8() + ": its attempt never told that step";
    }
    return names.isEmpty() ? QByteArray("no checkpoint in " + folder.toUtf8()) : QByteArray();
}

QByteArray difference(const std::map<int, OracleSteps>& recorded,
                      const std::map<int, OracleSteps>& undisturbed) {
    if (recorded.size() != undisturbed.size())
        return QByteArray::number(qlonglong(recorded.size())) + " ranks instead of " +
               QByteArray::number(qlonglong(undisturbed.size()));
    for (const auto& [rank, steps] : recorded) {
        const auto expected = livingOf(undisturbed.at(rank));
        for (const auto& [step, mine] : livingOf(steps))
            if (!expected.contains(step) || !isSame(mine.loss, expected.at(step).loss))
                return at(rank, mine) + ": another loss than in a run to which nothing was done";
    }
    return {};
}

} // namespace rm::torture
