// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/run_filter.h"

#include "app/core/runs/run_values.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto filter = rm::parseRunFilter(text);
    if (!filter)
        return 0;
    static_cast<void>(rm::checkKeys(*filter));
    rm::RunSummary run;
    run.name = QString::fromStdString(text.substr(0, 32));
    run.tags = {"wmt"};
    static_cast<void>(rm::matches(*filter, run, [](const std::string& key) {
        return key.size() % 2 == 0 ? std::optional<std::string>("1.5") : std::nullopt;
    }));
    return 0;
}
