// SPDX-License-Identifier: Apache-2.0
// step_batches SPEC FOLDER RANKS STEPS: the batches of a run's first steps as the trainer reads
// them, in FOLDER/rank-R.safetensors, each tensor as "STEP.INDEX". One line of JSON for each rank:
// what each of its steps' losses is a mean over.
#include "trainer/train/data/batch_partition.h"
#include "trainer/train/formats/weights.h"
#include "trainer/train/workloads/task.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

rm::Result<void> writeRank(rm::BatchSource& source, const rm::BatchPartition& partition,
                           int64_t rank, int64_t steps, const std::string& folder) {
    rm::Weights tensors;
    std::vector<int64_t> targets;
    for (int64_t step = 0; step < steps; ++step) {
        const rm::BatchPartition::Share share =
            partition.at(step * partition.positionsPerStep(), 0, rank);
        const auto batch = source.read(share.first, share.count);
        if (!batch)
            return tl::unexpected(batch.error());
        for (size_t i = 0; i < batch->tensors.size(); ++i)
            tensors.push_back({std::to_string(step) + "." + std::to_string(i), batch->tensors[i]});
        targets.push_back(batch->targets);
    }
    const nlohmann::json line = {{"rank", rank}, {"targets", targets}};
    std::printf("%s\n", line.dump().c_str());
    return rm::writeWeights(folder + "/rank-" + std::to_string(rank) + ".safetensors", tensors);
}

rm::Result<void> writeAll(char** arguments) {
    rm::Options options;
    options.spec = arguments[1];
    options.runDir = arguments[2];
    const auto session = rm::openSession(options, {});
    if (!session)
        return tl::unexpected(session.error());
    const auto task = rm::makeTask(*session);
    if (!task)
        return tl::unexpected(task.error());
    const auto ranks = std::atoll(arguments[3]);
    const std::vector<int64_t> sizes(static_cast<size_t>(ranks), (*task)->batchSizes().front());
    const rm::BatchPartition partition(sizes, 1);
    rm::Result<void> written;
    for (int64_t rank = 0; rank < ranks && written; ++rank)
        written = writeRank((*task)->training(), partition, rank, std::atoll(arguments[4]),
                            session->runDir);
    return written;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fputs("usage: step_batches SPEC FOLDER RANKS STEPS\n", stderr);
        return 2;
    }
    const auto done = writeAll(argv);
    if (!done)
        std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return done ? 0 : 1;
}
