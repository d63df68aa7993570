// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/verbs.h"

#include "shared/exit_code.h"
#include "trainer/train/cause.h"
#include "trainer/train/failure.h"
#include "trainer/train/interchange/verbs.h"
#include "trainer/train/memory/estimate_verb.h"
#include "trainer/train/prepare/verb.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <new>

namespace rm {
namespace {

constexpr Verb kVerbs[] = {
    {"estimate", "the memory that a run needs, and the batch that fits", estimateVerb},
    {"export", "the weights of a checkpoint as other programs read them", exportVerb},
    {"import", "a checkpoint from weights of other programs", importVerb},
    {"inspect", "what a checkpoint or a file of weights holds", inspectVerb},
    {"prepare", "makes shards from text, TSV pairs and gettext catalogues", prepareVerb},
    {"unpack", nullptr, unpackVerb},
};

const Verb* findVerb(const std::string& name) {
    for (const Verb& verb : kVerbs)
        if (name == verb.name)
            return &verb;
    return nullptr;
}

/// LibTorch reports by exception.
Result<void> runCaught(const Verb& verb, int argc, char** argv) {
    try {
        return verb.run(argc, argv);
    } catch (const std::exception& error) {
        const Ending ending = endingOf(error);
        const auto code =
            ending.code == ExitCode::kExhausted ? ErrorCode::kExhausted : ErrorCode::kInternal;
        return fail(code, std::string(verb.name) + ": " + causeOf(error));
    }
}

} // namespace

std::optional<int> runVerb(int argc, char** argv) {
    const Verb* verb = argc > 1 ? findVerb(argv[1]) : nullptr;
    if (!verb)
        return std::nullopt;
    const auto done = runCaught(*verb, argc - 1, argv + 1);
    if (done)
        return static_cast<int>(ExitCode::kOk);
    std::fprintf(stderr, "error: %s\n", done.error().message.c_str());
    return static_cast<int>(exitCodeFor(done.error().code));
}

std::string verbsHelp() {
    std::string help = "Besides training:";
    for (const Verb& verb : kVerbs) {
        if (!verb.summary)
            continue;
        std::string name = verb.name;
        name.resize(12, ' ');
        help += "\n  " + name + verb.summary;
    }
    return help + "\nringmaster-trainer VERB --help says more of each.";
}

Result<bool> parseArguments(CLI::App& app, int argc, char** argv) {
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& wish) { // CLI11 reports by exception
        app.exit(wish);
        return false;
    } catch (const CLI::ParseError& error) {
        return fail(ErrorCode::kInvalid,
                    std::string("read command line: ") + error.what() + " (see --help)");
    }
    return true;
}

} // namespace rm
