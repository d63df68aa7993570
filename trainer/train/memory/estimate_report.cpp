// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/memory/estimate_report.h"

#include "shared/amounts.h"
#include "shared/counted.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace rm {
namespace {

using nlohmann::ordered_json;

struct Part {
    const char* name;
    int64_t MemoryEstimate::*bytes;
    const char* meaning;
};

constexpr Part kParts[] = {
    {"weights", &MemoryEstimate::weights, "parameters and buffers"},
    {"gradients", &MemoryEstimate::gradients, "with the buckets in which they travel"},
    {"optimizer", &MemoryEstimate::optimizer, "its state, this rank's share"},
    {"average", &MemoryEstimate::average, "of the weights (train.ema)"},
    {"activations", &MemoryEstimate::activations, "of one micro-batch, at the worst moment"},
    {"data", &MemoryEstimate::data, "the micro-batch, and those read ahead on a CPU"},
    {"checkpoint", &MemoryEstimate::checkpoint, "rank 0's copy while it writes one"},
    {"program", &MemoryEstimate::program, "the trainer, its libraries, gaps in the heap"},
};

std::string line(const char* name, int64_t bytes, const char* meaning) {
    char text[160];
    std::snprintf(text, sizeof text, "  %-12s %10s %16lld  %s\n", name, memoryWords(bytes).c_str(),
                  static_cast<long long>(bytes), meaning);
    return text;
}

ordered_json jsonOf(const MemoryEstimate& estimate) {
    ordered_json json;
    for (const Part& part : kParts)
        json[part.name] = estimate.*part.bytes;
    json["step"] = estimate.step();
    json["total"] = estimate.total();
    return json;
}

std::string foundText(const FoundBatch& found) {
    return "fits into " + memoryWords(found.bytes) + " a rank, with " +
           memoryWords(found.estimate.total()) + ":\n" + found.key + " = " +
           std::to_string(found.value) + "\n";
}

} // namespace

std::string toText(const EstimateReport& report) {
    std::string text = report.name + ": one of " + counted(report.ranks, "rank") + " on " +
                       report.device + " with " + report.batchKey + " = " +
                       std::to_string(report.batchValue) +
                       (report.isLeast ? " needs more than\n" : " needs about\n");
    for (const Part& part : kParts)
        if (const int64_t bytes = report.estimate.*part.bytes; bytes > 0)
            text += line(part.name, bytes, part.meaning);
    text += line("together", report.estimate.total(), "");
    if (!report.assumed.empty())
        text += "assumed: " + report.assumed + "\n";
    if (report.freeBytes > 0)
        text += "free here: " + memoryWords(report.freeBytes) +
                (report.localRanks > 1 ? " for each of " + std::to_string(report.localRanks) +
                                             " ranks on this machine"
                                       : "") +
                (report.fits() ? ", it fits\n" : ", it does not fit (see --find-batch)\n");
    if (!report.advice.empty())
        text += report.advice + "\n";
    if (report.found)
        text += foundText(*report.found);
    return text;
}

std::string toJson(const EstimateReport& report) {
    ordered_json json = {{"name", report.name},
                         {"device", report.device},
                         {"ranks", report.ranks},
                         {"local_ranks", report.localRanks},
                         {report.batchKey.substr(report.batchKey.find('.') + 1), report.batchValue},
                         {"assumed", report.assumed}};
    json["bytes"] = jsonOf(report.estimate);
    json["at_least"] = report.isLeast;
    json["free"] = report.freeBytes;
    json["fits"] = report.fits();
    json["advice"] = report.advice;
    if (report.found)
        json["found"] = {{"key", report.found->key},
                         {"value", report.found->value},
                         {"memory", report.found->bytes},
                         {"bytes", jsonOf(report.found->estimate)}};
    return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace rm
