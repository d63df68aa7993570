// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/formats/torch_file.h"
#include "trainer/train/interchange/subcommands.h"
#include "trainer/train/session/options.h"

#include <CLI/CLI.hpp>

namespace rm {

Result<void> unpackSubcommand(int argc, char** argv) {
    std::string path;
    std::string out;
    CLI::App app("Reads a file of torch.save() and writes its state dict as safetensors.",
                 "ringmaster-trainer unpack");
    app.add_option("file", path)->required();
    app.add_option("out", out)->required();
    const auto continues = parseArguments(app, argc, argv);
    if (!continues || !*continues)
        return continues ? Result<void>() : tl::unexpected(continues.error());
    return unpackTorchFile(path, out);
}

} // namespace rm
