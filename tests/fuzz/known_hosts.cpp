// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/known_hosts.h"

#include "tests/fuzz/fuzz.h"

using namespace rm;

/// Whatever lines a file or a KnownHostsCommand has, only whole keys are taken from it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    for (const char* name : {"gpu-box", "[gpu-box]:2222"}) {
        const KnownLines found = knownLinesIn(fuzz::text(data, size), name, "fuzz");
        for (const KnownKey& key : found.keys)
            RM_HOLDS(key.line > 0 && !key.type.empty() && key.fingerprint.starts_with("SHA256:"));
    }
    return 0;
}
