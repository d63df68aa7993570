// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the database that tst_store_file keeps as the golden one of this schema:
// make_golden_store golden_vN.sqlite. Run it once per schema step, never again for an old one.

#include "app/core/store/store_writer.h"

#include <cstdio>

namespace {

std::vector<rm::Record> history() {
    using namespace rm;
    std::vector<Record> records{RankStarted{1, 0, 70, 1}, RankStarted{1, 1, 71, 1},
                                AttemptStarted{1, 0, 2, 0, 1, ""},
                                AttemptStarted{1, 1, 2, 0, 1, ""}};
    for (int64_t step = 1; step <= 5000; ++step) {
        const float loss = 1.f / static_cast<float>(step);
        for (const int rank : {0, 1})
            records.push_back(Samples{rank,
                                      step,
                                      step * 1'000'003,
                                      {metric::kTrainLoss, metric::kTrainLr},
                                      {loss, 3e-4f}});
    }
    records.push_back(Event{1, 7, 5, Severity::kWarning, "data-skipped", "A line was skipped."});
    records.push_back(CommandApplied{"id-1", "hold", 9, 6, true, ""});
    records.push_back(CheckpointSaved{5000, 7, "/c/step-000005000", 123, 4.5, "end", 2.5, true});
    records.push_back(SampleText{5000, 8, "Once", "upon a time"});
    records.push_back(RankExited{1, 1, 0, 9, 9, "killed by SIGKILL", "last line"});
    records.push_back(AttemptEnded{1, Outcome::kFailed, 1, 0, 10, ""});
    return records;
}

bool failed(const rm::Result<void>& result) {
    if (!result)
        std::fprintf(stderr, "%s\n", result.error().message.c_str());
    return !result;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2)
        return 2;
    const auto writer = rm::StoreWriter::open(QString::fromLocal8Bit(argv[1]));
    if (!writer)
        return 1;
    rm::NewRun run;
    run.id = "golden";
    run.name = "golden run";
    run.specToml = "[train]\nsteps = 5000\n";
    run.nodes = {{0, "node-a", 2, 0}};
    rm::IngestBatch batch;
    batch.run = "golden";
    batch.records = history();
    batch.logLines = {{1, "a line"}};
    batch.cursors = {{"journal/rank-00000.rmj", 4711}};
    return failed((*writer)->createRun(run)) || failed((*writer)->ingest(batch)) ? 1 : 0;
}
