// SPDX-License-Identifier: GPL-3.0-or-later
// Writes to a database until it is killed: store_victim PATH. Node n's batch k holds steps of
// that node's rank from its cursor on, one step a byte, and one log line a step.

#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"

#include <cstdio>

namespace {

constexpr int kNodes = 2;

rm::IngestBatch batchFrom(int node, uint64_t cursor) {
    rm::IngestBatch batch;
    batch.run = "victim";
    batch.nodeIndex = node;
    if (cursor == 0)
        batch.records.push_back(rm::AttemptStarted{1, node, kNodes, 0, 1, ""});
    const uint64_t end = cursor + 1 + cursor * 2654435761u % 97;
    for (uint64_t at = cursor + 1; at <= end; ++at) {
        const auto step = static_cast<int64_t>(at);
        batch.records.push_back(rm::Samples{node,
                                            step,
                                            step,
                                            {rm::metric::kTrainLoss, rm::metric::kTrainLr},
                                            {static_cast<float>(step), 1.f}});
        batch.logLines.push_back({node, std::to_string(at)});
    }
    batch.previous = {{"journal", cursor}};
    batch.cursors = {{"journal", end}};
    return batch;
}

uint64_t cursorOf(rm::StoreReader& reader, int node) {
    const auto cursors = reader.cursors("victim", node);
    return cursors.empty() ? 0 : cursors[0].second;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2)
        return 2;
    const QString path = QString::fromLocal8Bit(argv[1]);
    auto writer = rm::StoreWriter::open(path);
    if (!writer) {
        std::fprintf(stderr, "%s\n", writer.error().message.c_str());
        return 1;
    }
    rm::NewRun run;
    run.id = "victim";
    run.nodes = {{0, "node-a", 1, 0}, {1, "node-b", 1, 1}};
    auto reader = rm::StoreReader::open(path);
    if (!reader || (!(*reader)->run("victim") && !(*writer)->createRun(run)))
        return 1;
    uint64_t cursors[kNodes] = {cursorOf(**reader, 0), cursorOf(**reader, 1)};
    reader->reset();
    std::puts("writing");
    std::fflush(stdout);
    for (unsigned turn = 0;; ++turn) {
        const int node = static_cast<int>(turn % kNodes);
        const rm::IngestBatch batch = batchFrom(node, cursors[node]);
        if (const auto stored = (*writer)->ingest(batch); !stored) {
            std::fprintf(stderr, "%s\n", stored.error().message.c_str());
            return 1;
        }
        cursors[node] = batch.cursors[0].second;
        if (turn % 64 == 63)
            (*writer)->checkpointWal();
    }
}
