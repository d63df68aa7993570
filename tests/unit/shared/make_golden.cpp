// SPDX-License-Identifier: Apache-2.0
// Writes the files of tests/data/shared/ of the current versions into a folder, and the table of
// shared/spec/SPEC.md to stdout. See tests/data/shared/README.md.
#include "shared/io/file.h"
#include "tests/unit/shared/examples.h"

#include <cstdio>

int main(int argc, char** argv) {
    using namespace rm;
    if (argc != 2) {
        std::fprintf(stderr, "usage: make_golden FOLDER\n");
        return 2;
    }
    const std::string folder = std::string(argv[1]) + "/";
    const std::pair<const char*, std::string> files[] = {
        {"journal-v1.rmj", example::textOf(example::journalFile())},
        {"wire-v1.bin", example::textOf(example::wireStream())},
        {"receive-v1.bin", example::textOf(example::transferStream())},
        {"board-v1.bin", example::textOf(example::boardPage())},
        {"spec-v1.toml", toToml(example::spec())},
        {"node-plan-v1.toml", toToml(example::plan())},
        {"manifest-v1.json", toJson(example::manifest())},
        {"safetensors-v1.safetensors", example::textOf(example::safetensorsFile())},
    };
    for (const auto& [name, text] : files) {
        if (auto done = writeFileAtomically(folder + name, text); !done) {
            std::fprintf(stderr, "%s\n", done.error().message.c_str());
            return 1;
        }
    }
    std::fputs(example::specTable().c_str(), stdout);
    return 0;
}
