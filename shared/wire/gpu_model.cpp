// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/gpu_model.h"

#include <algorithm>
#include <string>
#include <vector>

namespace rm {

namespace {

struct Model {
    std::string_view name;
    int capability;
};

constexpr Model kModels[] = {
    {"k80", 37},      {"m10", 50},       {"m40", 52},      {"m60", 52},      {"p100", 60},
    {"gp100", 60},    {"p4", 61},        {"p40", 61},      {"p2000", 61},    {"p4000", 61},
    {"p5000", 61},    {"p6000", 61},     {"gtx1060", 61},  {"gtx1070", 61},  {"gtx1080", 61},
    {"titanxp", 61},  {"v100", 70},      {"gv100", 70},    {"titanv", 70},   {"t4", 75},
    {"titanrtx", 75}, {"quadrortx", 75}, {"rtx8000", 75},  {"rtx2060", 75},  {"rtx2070", 75},
    {"rtx2080", 75},  {"a30", 80},       {"a100", 80},     {"a800", 80},     {"a2", 86},
    {"a10", 86},      {"a16", 86},       {"a40", 86},      {"a2000", 86},    {"a4000", 86},
    {"a4500", 86},    {"a5000", 86},     {"a5500", 86},    {"a6000", 86},    {"rtx3060", 86},
    {"rtx3070", 86},  {"rtx3080", 86},   {"rtx3090", 86},  {"l4", 89},       {"l20", 89},
    {"l40", 89},      {"rtx4060", 89},   {"rtx4070", 89},  {"rtx4080", 89},  {"rtx4090", 89},
    {"h20", 90},      {"h100", 90},      {"h200", 90},     {"h800", 90},     {"gh200", 90},
    {"b200", 100},    {"gb200", 100},    {"b300", 103},    {"gb300", 103},   {"rtxpro", 120},
    {"rtx5060", 120}, {"rtx5070", 120},  {"rtx5080", 120}, {"rtx5090", 120},
};

bool isAlphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// "nvidia_rtx_3090" -> "nvidia", "rtx", "3090".
std::vector<std::string> wordsOf(std::string_view name) {
    std::vector<std::string> words(1);
    for (const char c : name) {
        const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        if (isAlphanumeric(small))
            words.back() += small;
        else if (!words.back().empty())
            words.emplace_back();
    }
    return words;
}

/// A variant ("l40s", "rtx2080ti", "a100x") is of the same chip; another number is another model.
int capabilityOf(std::string_view word) {
    for (const Model& model : kModels)
        if (word.starts_with(model.name)) {
            const std::string_view rest = word.substr(model.name.size());
            if (rest.empty() || rest.front() < '0' || rest.front() > '9')
                return model.capability;
        }
    return 0;
}

} // namespace

int capabilityOfModel(std::string_view name) {
    const std::vector<std::string> words = wordsOf(name);
    for (size_t i = 0; i < words.size(); ++i) {
        const std::string pair = i + 1 < words.size() ? words[i] + words[i + 1] : std::string();
        for (const std::string& word : {words[i], pair})
            if (const int capability = capabilityOf(word); capability > 0)
                return capability;
    }
    return 0;
}

} // namespace rm
