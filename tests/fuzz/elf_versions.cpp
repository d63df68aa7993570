// SPDX-License-Identifier: Apache-2.0
#include "shared/io/elf_versions.h"

#include "tests/fuzz/fuzz.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto versions = elfVersions(std::as_bytes(std::span(data, size)));
    if (!versions)
        return 0;
    for (const auto* list : {&versions->offered, &versions->needed}) {
        const std::string newest = newestVersion(*list, "GLIBCXX_");
        for (const std::string& version : *list)
            RM_HOLDS(!isOlderVersion(newest, newestVersion({version}, "GLIBCXX_")));
    }
    return 0;
}
