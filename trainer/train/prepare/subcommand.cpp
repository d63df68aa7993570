// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/prepare/subcommand.h"

#include "trainer/train/prepare/prepare.h"
#include "trainer/train/session/options.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace rm {
namespace {

/// A kind of shard.
struct Kind {
    const char* name;
    const char* ending; ///< of the names of its files
    Result<void> (*make)(const PrepareOptions& options);
};
constexpr Kind kKinds[] = {{"text", ".rmtok", prepareText}, {"pairs", ".rmpairs", preparePairs}};

/// The kind of shard that `options` name; CLI11 has checked the name.
const Kind& kindOf(const PrepareOptions& options) {
    return *std::ranges::find(kKinds, options.kind, &Kind::name);
}

/// Whether a name fits the shard's header, and is no path or option.
bool isLanguage(const std::string& name) {
    constexpr size_t kMost = 16;
    return name.size() <= kMost && std::ranges::all_of(name, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '@' || c == '.' || c == '-';
           });
}

Result<void> check(const PrepareOptions& options, const Kind& kind) {
    const std::string ending = kind.ending;
    if (!options.out.ends_with(ending))
        return fail(ErrorCode::kInvalid, "prepare " + options.kind + ": --out is " + options.out +
                                             ", but the trainer knows shards of " + options.kind +
                                             " by the ending " + ending);
    for (const std::string& name : {options.source, options.target})
        if (!isLanguage(name))
            return fail(ErrorCode::kInvalid, "prepare " + options.kind + ": \"" + name +
                                                 "\" is no language such as en or pt_BR");
    return {};
}

std::vector<std::string> kindNames() {
    std::vector<std::string> names;
    for (const Kind& kind : kKinds)
        names.emplace_back(kind.name);
    return names;
}

void addOptions(CLI::App& app, PrepareOptions& options) {
    app.add_option("--kind", options.kind,
                   "text: tokens for a language model; pairs: sentences "
                   "and their translations")
        ->required()
        ->check(CLI::IsMember(kindNames()));
    app.add_option("--out", options.out, "The shard to write: .rmtok or .rmpairs")->required();
    app.add_option("--source", options.source, "pairs: language of the source, such as en");
    app.add_option("--target", options.target,
                   "pairs: language of the target; catalogues of others are left out");
    app.add_option("--tokenizer", options.tokenizer,
                   "text: bytes, sentencepiece (learnt, kept as OUT.model), the file of a "
                   "SentencePiece model or a tokenizer.json of Hugging Face")
        ->capture_default_str();
    app.add_option("--vocab-size", options.vocabSize, "text: of a sentencepiece that is learnt")
        ->capture_default_str()
        ->check(CLI::Range(16, 1048576));
    app.add_option("--max-bad", options.maxBad, "pairs: share of broken lines that is an error")
        ->capture_default_str()
        ->check(CLI::Range(0.0, 1.0));
    app.add_option("PATH", options.paths,
                   "text: files and folders; pairs: .tsv (source TAB target), gettext catalogues "
                   "(.mo), .rmpairs, and folders of them")
        ->required();
}

} // namespace

Result<void> prepareSubcommand(int argc, char** argv) {
    PrepareOptions options;
    CLI::App app("Makes a shard that the trainer maps into memory.", "ringmaster-trainer prepare");
    addOptions(app, options);
    const auto continues = parseArguments(app, argc, argv);
    if (!continues || !*continues)
        return continues.map([](bool) {});
    const Kind& kind = kindOf(options);
    if (const auto valid = check(options, kind); !valid)
        return valid;
    return kind.make(options);
}

} // namespace rm
