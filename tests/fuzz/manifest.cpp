// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/manifest.h"

#include "shared/checkpoint/file_name.h"
#include "shared/io/file.h"
#include "shared/io/json.h"
#include "tests/fuzz/fuzz.h"

using namespace rm;

namespace {

void parse(const std::string& json) {
    const auto manifest = parseManifest(json, "fuzz.json");
    if (!manifest)
        return;
    for (const Manifest::File& file : manifest->files)
        RM_HOLDS(isCheckpointFileName(file.name) && file.size >= 0);
    RM_HOLDS(manifest->bytes() >= 0);
    const auto again = parseManifest(toJson(*manifest), "again.json");
    RM_HOLDS(again.has_value() && toJson(*again) == toJson(*manifest));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string json(fuzz::text(data, size));
    parse(json);
    // The same with its digest made right, so that it hides nothing.
    auto tree = parseJson(json, "fuzz.json");
    if (!tree || !tree->is_object())
        return 0;
    tree->erase("digest");
    const std::string text = dumpJson(*tree);
    (*tree)["digest"] = sha256Hex(std::as_bytes(std::span(text)));
    parse(dumpJson(*tree));
    return 0;
}
