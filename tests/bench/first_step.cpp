// SPDX-License-Identifier: Apache-2.0
// first_step JOURNAL...: one line of JSON for each rank's journal with the wall time, loss and
// number of the first step in it.
#include "shared/journal/journal.h"
#include "shared/metrics/registry.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace {

void printFirstStep(const rm::Samples& samples) {
    const auto found =
        std::find(samples.metric.begin(), samples.metric.end(), rm::metric::kTrainLoss);
    if (found == samples.metric.end())
        return;
    const auto index = static_cast<size_t>(found - samples.metric.begin());
    const nlohmann::json line = {{"rank", samples.rank},
                                 {"step", samples.step},
                                 {"wallNs", samples.wallNs},
                                 {"loss", samples.value[index]}};
    std::printf("%s\n", line.dump().c_str());
}

bool printJournal(const char* path) {
    const auto records = rm::readJournal(path);
    if (!records) {
        std::fprintf(stderr, "%s\n", records.error().message.c_str());
        return false;
    }
    for (const rm::Record& record : *records)
        if (const auto* samples = std::get_if<rm::Samples>(&record))
            return printFirstStep(*samples), true;
    std::fprintf(stderr, "read %s: it has no step\n", path);
    return false;
}

} // namespace

int main(int argc, char** argv) {
    bool good = argc > 1;
    for (int i = 1; i < argc; ++i)
        good = printJournal(argv[i]) && good;
    return good ? 0 : 1;
}
