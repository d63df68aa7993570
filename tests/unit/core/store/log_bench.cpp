// SPDX-License-Identifier: GPL-3.0-or-later
// Measures the logs in the store: log_bench [LINES] [plain]. One JSON line. `plain`: without the
// indices that came with schema 16; then nothing is searched.
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "shared/io/clock.h"

#include <QFileInfo>
#include <QTemporaryDir>

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace rm {
namespace {

constexpr int kRanks = 16;
constexpr int kPerBatch = 1000;

double secondsSince(int64_t startNs) {
    return static_cast<double>(monotonicNowNs() - startNs) * 1e-9;
}

/// As a training writes them: figures, mostly; a warning now and then; once a needle.
std::string lineOf(int64_t number) {
    if (number == 4711)
        return "RuntimeError: CUDA error: uncorrectable ECC error encountered (needle)";
    if (number % 1000 == 0)
        return "[W1130 06:07:14.123456789 socket.cpp:764] [c10d] The client socket has failed to "
               "connect to [node-a]:29500 (errno: 111 - Connection refused).";
    return "step " + std::to_string(number / kRanks) + "  loss " +
           std::to_string(2.0 + static_cast<double>(number % 977) / 977) + "  lr 0.0003  " +
           std::to_string(51'000 + number % 311) + " tokens/s";
}

std::unique_ptr<StoreWriter> openStore(const QString& path, bool isPlain) {
    auto writer = StoreWriter::open(path);
    if (!writer)
        std::abort();
    NewRun run;
    run.id = "bench";
    run.nodes = {{0, "node-a", kRanks, 0}};
    if (!(*writer)->createRun(run))
        std::abort();
    if (isPlain)
        SQLite::Database(path.toStdString(), SQLite::OPEN_READWRITE)
            .exec("DROP TRIGGER log_text_insert; DROP TRIGGER log_text_delete;"
                  "DROP INDEX log_line_time; DROP INDEX log_line_severe;"
                  "DROP INDEX log_line_rank; CREATE INDEX log_line_rank ON log_line (run, rank)");
    return std::move(*writer);
}

double write(StoreWriter& writer, int64_t lines) {
    const int64_t start = monotonicNowNs();
    for (int64_t done = 0; done < lines; done += kPerBatch) {
        IngestBatch batch;
        batch.run = "bench";
        for (int64_t i = done; i < done + kPerBatch; ++i)
            batch.logLines.push_back(
                {static_cast<int>(i % kRanks), lineOf(i), 1'700'000'000'000'000'000 + i * 1'000});
        batch.cursors = {{"log/rank-00000.log", static_cast<uint64_t>(done) + kPerBatch}};
        if (!writer.ingest(batch))
            std::abort();
    }
    return static_cast<double>(lines) / secondsSince(start);
}

/// The median of some questions, in milliseconds.
template <class Ask>
double millis(const Ask& ask) {
    std::vector<double> all;
    for (int i = 0; i < 9; ++i) {
        const int64_t start = monotonicNowNs();
        ask();
        all.push_back(secondsSince(start) * 1e3);
    }
    std::ranges::sort(all);
    return all[all.size() / 2];
}

double search(StoreReader& reader, const char* words, Severity least = Severity::kInfo,
              int limit = 10'000) {
    LogChoice choice;
    choice.search = words;
    choice.least = least;
    return millis([&] {
        if (reader.logTail("bench", choice, limit).lines.empty())
            std::abort();
    });
}

} // namespace
} // namespace rm

int main(int argc, char** argv) {
    using namespace rm;
    const int64_t lines = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
    const bool isPlain = argc > 2 && std::strcmp(argv[2], "plain") == 0;
    const QTemporaryDir folder;
    const QString path = folder.filePath("runs.sqlite");
    const auto writer = openStore(path, isPlain);
    const double perSecond = write(*writer, lines);
    const int64_t start = monotonicNowNs();
    while (!isPlain && writer->fillLogSearch().value_or(false)) {
    }
    const double indexedPerSecond = static_cast<double>(lines) / secondsSince(start);
    writer->checkpointWal();
    std::printf("{\"lines\": %lld, \"plain\": %s, \"lines_per_s\": %.0f, \"bytes_per_line\": %.1f",
                static_cast<long long>(lines), isPlain ? "true" : "false", perSecond,
                static_cast<double>(QFileInfo(path).size()) / static_cast<double>(lines));
    if (!isPlain) {
        const auto reader = std::move(*StoreReader::open(path));
        std::printf(", \"indexed_per_s\": %.0f, \"one_ms\": %.2f, \"warnings_ms\": %.2f, "
                    "\"every_line_ms\": %.2f, "
                    "\"part_of_a_word_ms\": %.2f, \"tail_ms\": %.2f",
                    indexedPerSecond, search(*reader, "ecc needle"),
                    search(*reader, "", Severity::kWarning), search(*reader, "step loss"),
                    search(*reader, "\"eedle\""), search(*reader, "", Severity::kInfo, 5000));
    }
    std::printf("}\n");
}
