// SPDX-License-Identifier: Apache-2.0
// journal_steps JOURNAL...: one line of JSON for each rank's journal: of every step in it the
// number, the wall time at its end, the loss, and the milliseconds of each phase.
#include "shared/journal/journal.h"
#include "shared/metrics/registry.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace {

struct Column {
    const char* name;
    rm::MetricId id;
};

constexpr Column kColumns[] = {
    {"loss", rm::metric::kTrainLoss},
    {"dataMs", rm::metric::kPhaseDataMs},
    {"forwardMs", rm::metric::kPhaseForwardMs},
    {"backwardMs", rm::metric::kPhaseBackwardMs},
    {"allreduceMs", rm::metric::kPhaseAllreduceMs},
    {"optimizerMs", rm::metric::kPhaseOptimizerMs},
};

void addStep(nlohmann::json& line, const rm::Samples& samples) {
    line["rank"] = samples.rank;
    line["step"].push_back(samples.step);
    line["wallNs"].push_back(samples.wallNs);
    for (const Column& column : kColumns)
        for (size_t i = 0; i < samples.metric.size(); ++i)
            if (samples.metric[i] == column.id)
                line[column.name].push_back(samples.value[i]);
}

bool isStep(const rm::Samples& samples) {
    return std::ranges::find(samples.metric, rm::metric::kTrainLoss) != samples.metric.end();
}

bool printJournal(const char* path) {
    const auto records = rm::readJournal(path);
    if (!records) {
        std::fprintf(stderr, "%s\n", records.error().message.c_str());
        return false;
    }
    nlohmann::json line;
    for (const rm::Record& record : *records)
        if (const auto* samples = std::get_if<rm::Samples>(&record); samples && isStep(*samples))
            addStep(line, *samples);
    std::printf("%s\n", line.dump().c_str());
    return true;
}

} // namespace

int main(int argc, char** argv) {
    bool good = argc > 1;
    for (int i = 1; i < argc; ++i)
        good = printJournal(argv[i]) && good;
    return good ? 0 : 1;
}
