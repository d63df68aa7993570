// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/chart_layout.h"

#include "shared/enforce.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto layouts = rm::chartLayoutsFrom(text, "layouts.json");
    if (!layouts)
        return 0;
    for (const auto& [name, layout] : layouts->inUse)
        static_cast<void>(rm::arranged(layout, {"loss", "lr", "heat"}));
    const auto again = rm::chartLayoutsFrom(rm::toJson(*layouts), "again");
    RM_ENFORCE(again && again->inUse.size() == layouts->inUse.size());
    return 0;
}
