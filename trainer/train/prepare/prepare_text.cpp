// SPDX-License-Identifier: Apache-2.0
#include "shared/counted.h"
#include "shared/io/control_group.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "trainer/train/data/in_order.h"
#include "trainer/train/data/text/bpe_tokenizer.h"
#include "trainer/train/data/text/corpus.h"
#include "trainer/train/data/text/file_pieces.h"
#include "trainer/train/data/text/token_file.h"
#include "trainer/train/data/text/tokenizer.h"
#include "trainer/train/prepare/prepare.h"
#include "trainer/train/prepare/progress_line.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <thread>

namespace rm {
namespace {

Result<std::vector<std::string>> findInputs(const PrepareOptions& options) {
    auto files = corpusFiles(options.paths);
    if (!files)
        return files;
    std::erase_if(*files, [&](const std::string& file) {
        std::error_code absent;
        return std::filesystem::equivalent(file, options.out, absent);
    });
    for (const std::string& file : *files)
        RM_RETURN_IF_ERROR(
            checkText(file, options.tokenizer == "bytes" ? Encoding::kAny : Encoding::kUtf8));
    return files;
}

/// The tokenizer of the options. One that is learnt here is saved beside the shard.
Result<std::unique_ptr<Tokenizer>> tokenizerFor(const PrepareOptions& options,
                                                const std::vector<std::string>& files) {
    if (options.tokenizer == "bytes")
        return makeByteTokenizer();
    if (options.tokenizer.ends_with(".json"))
        return readFile(options.tokenizer).and_then(makeBpeTokenizer);
    if (options.tokenizer != "sentencepiece")
        return readFile(options.tokenizer).and_then(makeSentencePieceTokenizer);
    RM_ASSIGN_OR_RETURN(const auto model, trainSentencePiece(files, options.vocabSize));
    return writeFileAtomically(options.out + ".model", model).and_then([&] {
        return makeSentencePieceTokenizer(model);
    });
}

Result<std::vector<FilePiece>> cutAll(const std::vector<std::string>& files) {
    std::vector<FilePiece> pieces;
    for (const std::string& file : files) {
        RM_ASSIGN_OR_RETURN(const auto cut, cutFile(file));
        pieces.insert(pieces.end(), cut.begin(), cut.end());
    }
    return pieces;
}

struct Encoded {
    std::vector<int32_t> ids;
    BrokenUtf8 broken;
};

Result<Encoded> encodePiece(const FilePiece& piece, const Tokenizer& tokenizer) {
    return readPiece(piece).and_then([&](const std::string& text) {
        Encoded all;
        all.broken.count(piece.path, text, piece.offset);
        return encodeInParts(tokenizer, text,
                             [&](const std::vector<int32_t>& ids) -> Result<void> {
                                 all.ids.insert(all.ids.end(), ids.begin(), ids.end());
                                 return {};
                             })
            .map([&] { return std::move(all); });
    });
}

Result<int64_t> writeTokens(const std::vector<FilePiece>& pieces, const Tokenizer& tokenizer,
                            const std::string& out, ProgressLine& progress, BrokenUtf8& broken) {
    RM_ASSIGN_OR_RETURN(auto writer, TokenFileWriter::create(out, tokenizer.vocabSize()));
    int64_t tokens = 0;
    const auto write = [&](size_t i, const Result<Encoded>& piece) -> Result<void> {
        if (!piece)
            return tl::unexpected(piece.error());
        broken.add(piece->broken);
        tokens += static_cast<int64_t>(piece->ids.size());
        progress.show(std::to_string(i + 1) + " of " + std::to_string(pieces.size()) +
                      " pieces read, " + std::to_string(tokens) + " tokens");
        return writer.append(piece->ids.data(), piece->ids.size());
    };
    return inOrder(
               pieces.size(), static_cast<unsigned>(givenCores()),
               [&](size_t i) { return encodePiece(pieces[i], tokenizer); }, write)
        .and_then([&] { return writer.finish(); })
        .map([&] { return tokens; });
}

} // namespace

Result<void> prepareText(const PrepareOptions& options) {
    RM_ASSIGN_OR_RETURN(const auto files, findInputs(options));
    Result<int64_t> tokens;
    BrokenUtf8 broken;
    int64_t vocabSize = 0;
    double seconds = 0;
    {
        ProgressLine progress;
        RM_ASSIGN_OR_RETURN(const auto tokenizer, tokenizerFor(options, files));
        RM_ASSIGN_OR_RETURN(const auto pieces, cutAll(files));
        vocabSize = tokenizer->vocabSize();
        tokens = writeTokens(pieces, *tokenizer, options.out, progress, broken);
        seconds = progress.seconds();
    }
    if (!tokens)
        return tl::unexpected(tokens.error());
    if (*tokens == 0) {
        std::filesystem::remove(options.out);
        return fail(ErrorCode::kInvalid, "prepare text: there is no text in " +
                                             counted(files.size(), "file") +
                                             ", so no shard is made");
    }
    if (options.tokenizer != "bytes" && !broken.words().empty())
        std::fprintf(stderr, "warning: %s\n", broken.words().c_str());
    std::printf("%s: %lld tokens of a vocabulary of %lld from %s, %.1f s\n", options.out.c_str(),
                static_cast<long long>(*tokens), static_cast<long long>(vocabSize),
                counted(files.size(), "file").c_str(), seconds);
    return {};
}

} // namespace rm
