// SPDX-License-Identifier: Apache-2.0
#include "shared/io/control_group.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "trainer/train/measure/subcommands.h"
#include "trainer/train/measure/try_checkpoint.h"
#include "trainer/train/session/options.h"
#include "trainer/train/session/session.h"
#include "trainer/train/session/subcommand_io.h"

#include <CLI/CLI.hpp>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>

namespace rm {
namespace {

constexpr size_t kMostInput = 64u << 20;
constexpr int kBackgroundThreads = 2;
constexpr int kBackgroundNiceness = 15;

struct TryOptions {
    std::string checkpoint, text, file, picture;
    std::string device = "auto";
    bool isBase64 = false;
    bool isBackground = false;
    TryInput input;
};

/// nullopt: it is something else.
std::optional<std::string> fromBase64(std::string text) {
    std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
    if (text.size() > std::numeric_limits<int>::max()) // the type of OpenSSL's lengths
        return std::nullopt;
    const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
    std::string bytes(text.size() / 4 * 3, '\0');
    const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                       reinterpret_cast<const unsigned char*>(text.data()),
                                       static_cast<int>(text.size()));
    if (length < 0 || static_cast<size_t>(length) != bytes.size() || bytes.size() < padding)
        return std::nullopt;
    bytes.resize(bytes.size() - padding);
    return bytes;
}

Result<std::string> contentOf(const std::string& path, bool isBase64) {
    Result<std::string> content;
    if (path == "-") {
        content = standardInput();
    } else {
        RM_ASSIGN_OR_RETURN(const auto bytes, readFile(path, kMostInput));
        content = std::string(bytes.begin(), bytes.end());
    }
    if (content && content->size() > 2 * kMostInput) // Base64 takes a third more
        return fail(ErrorCode::kInvalid, "read " + path + ": it is too large");
    if (!isBase64 || !content)
        return content;
    auto decoded = fromBase64(*content);
    return decoded ? Result<std::string>(std::move(*decoded))
                   : fail(ErrorCode::kInvalid, "read " + path + ": it is not Base64");
}

Result<TryInput> inputOf(const TryOptions& options) {
    TryInput input = options.input;
    input.text = options.text;
    if (!options.file.empty()) {
        RM_ASSIGN_OR_RETURN(input.text, contentOf(options.file, options.isBase64));
    }
    if (options.picture.empty())
        return input;
    RM_ASSIGN_OR_RETURN(input.picture, contentOf(options.picture, options.isBase64));
    if (input.picture.empty())
        return fail(ErrorCode::kInvalid, "read " + options.picture + ": it is empty");
    return input;
}

void addOptions(CLI::App& app, TryOptions& options) {
    app.add_option("CHECKPOINT", options.checkpoint, "Checkpoint folder")->required();
    auto* text = app.add_option("--text", options.text, "Text to continue or to translate");
    auto* file = app.add_option("--file", options.file, "File with that text; -: standard input")
                     ->excludes(text);
    app.add_option("--picture", options.picture, "Picture to classify; -: standard input")
        ->excludes(text)
        ->excludes(file);
    app.add_flag("--base64", options.isBase64, "The file is encoded so");
    app.add_option("--max-tokens", options.input.maxTokens, "How long the answer may get")
        ->check(CLI::Range(1, 65536));
    app.add_option("--temperature", options.input.temperature, "0: always the likeliest token")
        ->check(CLI::Range(0.0, 100.0));
    app.add_option("--top-k", options.input.topK, "Of how many tokens one is drawn; 0: of all")
        ->check(CLI::Range(0, 1048576));
    app.add_option("--top-p", options.input.topP, "Of which share of probability one is drawn")
        ->check(CLI::Range(0.0, 1.0));
    app.add_option("--beams", options.input.beams, "Width of the beam search; 1: greedy")
        ->check(CLI::Range(1, 64));
    app.add_option("--seed", options.input.seed, "Of the numbers by which tokens are drawn");
    app.add_option("--device", options.device, "auto, cpu or cuda")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
        ->capture_default_str();
    app.add_flag("--background", options.isBackground,
                 "With few threads and at low priority, beside a run that trains");
}

} // namespace

Result<void> trySubcommand(int argc, char** argv) {
    TryOptions options;
    CLI::App app("Lets the model of a checkpoint continue or translate a text, or classify a "
                 "picture: one JSON object.",
                 "ringmaster-trainer try");
    addOptions(app, options);
    const auto continues = parseArguments(app, argc, argv);
    if (!continues || !*continues)
        return continues.map([](bool) {});
    RM_ASSIGN_OR_RETURN(const auto input, inputOf(options));
    endWithReader();
    int threads = givenCores();
    if (options.isBackground) {
        (void)!::nice(kBackgroundNiceness);
        threads = std::min(threads, kBackgroundThreads);
    }
    RM_ASSIGN_OR_RETURN(const auto device, useDevice(options.device, 0, threads));
    RM_ASSIGN_OR_RETURN(const auto answer, tryCheckpoint(options.checkpoint, input, device));
    std::printf("%s\n", toJson(answer).c_str());
    return {};
}

} // namespace rm
