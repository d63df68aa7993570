// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"

#include <QTemporaryDir>
#include <QTest>

namespace rm {

/// A database in a folder of its own, with a writer and a reader.
class StoreFixture {
public:
    StoreFixture() { reopen(); }

    void reopen() {
        m_reader.reset();
        m_writer.reset();
        auto writer = StoreWriter::open(path());
        if (!writer)
            qFatal("%s", writer.error().message.c_str());
        m_writer = std::move(*writer);
        auto reader = StoreReader::open(path());
        if (!reader)
            qFatal("%s", reader.error().message.c_str());
        m_reader = std::move(*reader);
    }

    QString path() const { return m_folder.filePath("runs.sqlite"); }
    StoreWriter& writer() { return *m_writer; }
    StoreReader& reader() { return *m_reader; }

    void createRun(const QString& id, const QString& name = "run", int nodes = 1,
                   int ranksEach = 2) {
        NewRun run;
        run.id = id;
        run.name = name;
        for (int node = 0; node < nodes; ++node)
            run.nodes.push_back(
                {node, "node-" + std::string(1, char('a' + node)), ranksEach, node * ranksEach});
        mustBeOk(m_writer->createRun(run));
    }

    void ingest(const QString& run, std::vector<Record> records, int node = 0) {
        mustBeOk(m_writer->ingest(batch(run, std::move(records), node)));
    }

    static IngestBatch batch(const QString& run, std::vector<Record> records, int node = 0) {
        IngestBatch batch;
        batch.run = run;
        batch.nodeIndex = node;
        batch.records = std::move(records);
        return batch;
    }

    static void mustBeOk(const Result<void>& result) {
        if (!result)
            qFatal("%s", result.error().message.c_str());
    }

private:
    QTemporaryDir m_folder;
    std::unique_ptr<StoreWriter> m_writer;
    std::unique_ptr<StoreReader> m_reader;
};

/// One value of train/loss.
inline Samples lossAt(int64_t step, float value, int rank = 0) {
    const auto wallNs = static_cast<int64_t>(static_cast<uint64_t>(step) * 1'000'000);
    return {rank, step, wallNs + rank, {metric::kTrainLoss}, {value}};
}

inline AttemptStarted started(int attempt, int rank, int64_t startStep, int world = 2) {
    return {attempt, rank, world, startStep, int64_t(1'000) * attempt, {}};
}

} // namespace rm
