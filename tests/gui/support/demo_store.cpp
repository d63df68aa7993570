// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/support/demo_store.h"

#include "app/core/store/store_writer.h"
#include "tests/gui/support/demo_run.h"

#include <SQLiteCpp/SQLiteCpp.h>

namespace rm::test {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMinute = 60 * kSecond;
constexpr int64_t kDay = 24 * 60 * kMinute;

const std::vector<RunNode> kTwoNodes = {{0, "node-a", 4, 0}, {1, "node-b", 4, 4}};
const std::vector<RunNode> kHere = {{0, "this-computer", 2, 0}};

Result<void> writeRunning(StoreWriter& writer, int64_t nowNs) {
    DemoShape shape{.id = kRunningRun, .name = "translation en–it", .nodes = kTwoNodes};
    shape.totalSteps = 12'000;
    shape.lastStep = 9'412;
    shape.slowRank = 5;
    shape.quality = {{metric::kValidationBleu, 27.4},
                     {metric::kValidationChrf, 55.1},
                     {metric::kValidationWer, 0.6}};
    DemoRun run(writer, shape);
    const int64_t second = nowNs - static_cast<int64_t>(9'412 - 6'000) * 85'000'000;
    const int64_t first = second - 6 * kMinute - static_cast<int64_t>(6'240 * 85'000'000LL);
    return run.create()
        .and_then([&] { return run.train(1, 1, 6'240, first); })
        .and_then(
            [&] { return run.command("set", 4'310, run.wallOf(4'310), "lr 0.0005 -> 0.0003"); })
        .and_then([&] {
            return run.addEvent(Severity::kError, "peer-lost", "node-b lost; the other ranks ended",
                                -1, 6'240, run.wallOf(6'240));
        })
        .and_then([&] { return run.train(2, 6'001, 9'412, second); })
        .and_then([&] {
            return run.addEvent(Severity::kWarning, "slow-rank",
                                "data wait 18 ms over the median for 40 steps", 5, 7'800,
                                run.wallOf(7'800));
        })
        .and_then([&] {
            return writer.setTags(kRunningRun, {"wmt", "baseline"});
        })
        .and_then([&] { return writer.setNotes(kRunningRun, "label smoothing 0.1"); });
}

Result<void> writePaused(StoreWriter& writer, int64_t nowNs) {
    DemoShape shape{.id = kPausedRun, .name = "gpt 16×512", .nodes = kTwoNodes};
    shape.totalSteps = 4'000;
    shape.lastStep = 2'412;
    shape.firstLoss = 4.9;
    shape.lastLoss = 1.4;
    shape.stepMs = 240;
    shape.throughput = 11'200;
    shape.checkpointEvery = 400;
    DemoRun run(writer, shape);
    return run.create()
        .and_then([&] { return run.train(1, 1, 2'412, nowNs - kDay); })
        .and_then([&] { return run.command("pause", 2'412, run.wallOf(2'412)); })
        .and_then([&] { return run.end(Outcome::kPaused); });
}

Result<void> writeFinished(StoreWriter& writer, int64_t nowNs) {
    DemoShape shape{.id = kFinishedRun, .name = "gpt-tiny", .nodes = kHere};
    shape.totalSteps = shape.lastStep = 600;
    shape.firstLoss = 5.6;
    shape.lastLoss = 1.72;
    shape.stepMs = 180;
    shape.throughput = 22'700;
    shape.gpus = false;
    shape.checkpointEvery = 200;
    DemoRun run(writer, shape);
    return run.create()
        .and_then([&] { return run.train(1, 1, 600, nowNs - 3 * kDay); })
        .and_then([&] { return run.end(Outcome::kFinished); })
        .and_then([&] { return writer.setTags(kFinishedRun, {"first try"}); });
}

Result<void> writePictures(StoreWriter& writer, int64_t nowNs) {
    DemoShape shape{
        .id = kPicturesRun, .name = "resnet50 icons", .nodes = kTwoNodes, .modelType = "resnet50"};
    shape.totalSteps = shape.lastStep = 3'000;
    shape.firstLoss = 3.1;
    shape.lastLoss = 0.62;
    shape.stepMs = 130;
    shape.throughputMetric = metric::kTrainImagesPerS;
    shape.throughput = 1'970;
    shape.checkpointEvery = 500;
    shape.quality = {{metric::kValidationTop1, 0.78}, {metric::kValidationTop5, 0.94}};
    DemoRun run(writer, shape);
    return run.create()
        .and_then([&] { return run.train(1, 1, 3'000, nowNs - 4 * kDay); })
        .and_then([&] { return run.end(Outcome::kFinished); });
}

Result<void> writeFailed(StoreWriter& writer, int64_t nowNs) {
    DemoShape shape{.id = kFailedRun, .name = "gpt 2×8 wide", .nodes = kTwoNodes};
    shape.totalSteps = 5'000;
    shape.lastStep = 1'130;
    shape.checkpointEvery = 500;
    DemoRun run(writer, shape);
    return run.create()
        .and_then([&] { return run.train(1, 1, 1'130, nowNs - 5 * kDay); })
        .and_then([&] {
            return run.end(Outcome::kFailed, 6, "rank 6 on node-b was killed by SIGKILL",
                           "step 1128  loss 3.114\n"
                           "step 1129  loss 3.102\n"
                           "kernel: Out of memory: Killed process 41206 (ringmaster-trai)\n");
        });
}

Result<void> writePreparing(StoreWriter& writer) {
    DemoShape shape{.id = kPreparingRun, .name = "gpt-tiny seed 7", .nodes = kHere};
    shape.totalSteps = 600;
    return DemoRun(writer, shape).create();
}

/// The store stamps a new run with the clock; these are older than that.
void backdate(const QString& path, int64_t nowNs) {
    SQLite::Database database(path.toStdString(), SQLite::OPEN_READWRITE);
    const std::vector<std::pair<QString, int64_t>> ages = {{kFailedRun, 5 * kDay},
                                                           {kPicturesRun, 4 * kDay},
                                                           {kFinishedRun, 3 * kDay},
                                                           {kPausedRun, kDay},
                                                           {kRunningRun, 21 * kMinute}};
    for (const auto& [run, age] : ages) {
        SQLite::Statement update(database, "UPDATE run SET created_ns = ? WHERE uuid = ?");
        update.bind(1, int64_t{nowNs - age});
        update.bind(2, run.toStdString());
        update.exec();
    }
}

Result<void> writeRuns(const QString& path, int64_t nowNs) {
    auto writer = StoreWriter::open(path);
    if (!writer)
        return tl::unexpected<Error>(writer.error());
    return writeFailed(**writer, nowNs)
        .and_then([&] { return writePictures(**writer, nowNs); })
        .and_then([&] { return writeFinished(**writer, nowNs); })
        .and_then([&] { return writePaused(**writer, nowNs); })
        .and_then([&] { return writeRunning(**writer, nowNs); })
        .and_then([&] { return writePreparing(**writer); });
}

} // namespace

Result<void> writeDemoStore(const QString& path, int64_t nowNs) {
    return writeRuns(path, nowNs).map([&] { backdate(path, nowNs); });
}

} // namespace rm::test
