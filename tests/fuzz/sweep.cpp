// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/queue/sweep.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto axis = rm::parseSweepAxis(text);
    if (!axis)
        return 0;
    rm::RunSpec spec;
    spec.data.train = {"/data"};
    static_cast<void>(rm::sweepSpecs(spec, {{*axis}, 0, 1, 0, 2}));
    static_cast<void>(rm::sweepSpecs(spec, {{*axis}, 3, 1, 100, 3}));
    return 0;
}
