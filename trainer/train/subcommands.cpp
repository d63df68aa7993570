// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/subcommands.h"

#include "shared/exit_code.h"
#include "trainer/train/interchange/subcommands.h"
#include "trainer/train/measure/subcommands.h"
#include "trainer/train/memory/estimate_subcommand.h"
#include "trainer/train/prepare/subcommand.h"
#include "trainer/train/self_test/subcommand.h"
#include "trainer/train/session/cause.h"
#include "trainer/train/session/failure.h"

#include <cstdio>
#include <new>

namespace rm {
namespace {

constexpr Subcommand kSubcommands[] = {
    {"all-reduce", "how fast gradients are summed between the ranks of a plan",
     allReduceSubcommand},
    {"estimate", "the memory that a run needs, and the batch that fits", estimateSubcommand},
    {"export", "the weights of a checkpoint as other programs read them", exportSubcommand},
    {"import", "a checkpoint from weights of other programs", importSubcommand},
    {"inspect", "what a checkpoint or a file of weights holds", inspectSubcommand},
    {"prepare", "makes shards from text, TSV pairs and gettext catalogues", prepareSubcommand},
    {"self-test", "whether this machine's devices compute rightly", selfTestSubcommand},
    {"step-profile", "how long a step of one rank takes, for forecasts", stepProfileSubcommand},
    {"try", "lets the model of a checkpoint answer one input", trySubcommand},
    {"unpack", nullptr, unpackSubcommand},
};

const Subcommand* findSubcommand(const std::string& name) {
    for (const Subcommand& subcommand : kSubcommands)
        if (name == subcommand.name)
            return &subcommand;
    return nullptr;
}

/// LibTorch reports by exception.
Result<void> runCaught(const Subcommand& subcommand, int argc, char** argv) {
    try {
        return subcommand.run(argc, argv);
    } catch (const std::exception& error) {
        const Ending ending = endingOf(error);
        const auto code =
            ending.code == ExitCode::kExhausted ? ErrorCode::kExhausted : ErrorCode::kInternal;
        return fail(code, std::string(subcommand.name) + ": " + causeOf(error));
    }
}

} // namespace

std::optional<int> runSubcommand(int argc, char** argv) {
    const Subcommand* subcommand = argc > 1 ? findSubcommand(argv[1]) : nullptr;
    if (!subcommand)
        return std::nullopt;
    const auto done = runCaught(*subcommand, argc - 1, argv + 1);
    if (done)
        return static_cast<int>(ExitCode::kOk);
    std::fprintf(stderr, "error: %s\n", done.error().message.c_str());
    return static_cast<int>(exitCodeFor(done.error().code));
}

std::string subcommandsHelp() {
    std::string help = "Besides training:";
    for (const Subcommand& subcommand : kSubcommands) {
        if (!subcommand.summary)
            continue;
        std::string name = subcommand.name;
        name.resize(14, ' ');
        help += "\n  " + name + subcommand.summary;
    }
    return help + "\nringmaster-trainer SUBCOMMAND --help says more of each.";
}

} // namespace rm
