// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/text_data.h"

#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "trainer/train/data/data_identity.h"
#include "trainer/train/data/file_hash_cache.h"
#include "trainer/train/data/text/corpus.h"
#include "trainer/train/data/text/tokenizer_file.h"
#include "trainer/train/dist/agree.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace rm {
namespace {

constexpr const char* kNotebook = "known-files.json";

bool isShard(const std::string& path) {
    return path.ends_with(".rmtok");
}

struct Paths {
    std::string train;
    std::string validation;
};

Paths cachedPaths(const std::string& cacheDir, const std::string& key) {
    const std::string stem = cacheDir + "/" + key.substr(0, 32);
    return {stem + "-train.rmtok", stem + "-validation.rmtok"};
}

struct CorpusFiles {
    std::vector<std::string> train;
    std::vector<std::string> validation;
};

/// `isResumed`: it has read the text already, before this was asked of it.
Encoding encodingOf(const RunSpec::Data& data, bool isResumed) {
    return data.tokenizer == "bytes" || isResumed ? Encoding::kAny : Encoding::kUtf8;
}

Result<CorpusFiles> findFiles(const RunSpec::Data& data, Encoding encoding) {
    RM_ASSIGN_OR_RETURN(auto train, textFiles(data.train, encoding));
    RM_ASSIGN_OR_RETURN(auto validation, textFiles(data.validation, encoding));
    return CorpusFiles{std::move(train), std::move(validation)};
}

/// The cache key of the data that the shards are made from.
Result<std::string> contentKey(const CorpusFiles& corpus, const RunSpec::Data& data,
                               const Tokenizer& tokenizer, FileHashCache& known) {
    std::string text = tokenizer.serialized() + "\n" + data.tokenizer;
    for (const auto* files : {&corpus.train, &corpus.validation}) {
        text += "\n--\n";
        for (const std::string& file : *files) {
            const auto hash = known.sha256(file);
            if (!hash)
                return failAs("read training data", hash.error());
            text += *hash + "\n";
        }
    }
    if (corpus.validation.empty())
        text += std::to_string(data.validationShare);
    return sha256Hex(std::as_bytes(std::span<const char>(text)));
}

Result<void> encodeInto(TokenFileWriter& writer, const Tokenizer& tokenizer,
                        std::string_view text) {
    return encodeInParts(tokenizer, text, [&](const std::vector<int32_t>& ids) {
        return writer.append(ids.data(), ids.size());
    });
}

/// Where the held-out part of a text begins: its tail, from the start of a line if possible.
size_t holdOutFrom(std::string_view text, double share) {
    const auto wanted =
        static_cast<size_t>(std::llround(static_cast<double>(text.size()) * (1.0 - share)));
    const size_t line = text.find('\n', std::min(wanted, text.size()));
    return line == std::string_view::npos || line + 1 == text.size() ? wanted : line + 1;
}

/// `broken` may be null, for a tokenizer that reads whatever bytes there are.
Result<void> writeShards(const CorpusFiles& corpus, double share, const Tokenizer& tokenizer,
                         const Paths& paths, BrokenUtf8* broken) {
    RM_ASSIGN_OR_RETURN(auto train, TokenFileWriter::create(paths.train, tokenizer.vocabSize()));
    RM_ASSIGN_OR_RETURN(auto validation,
                        TokenFileWriter::create(paths.validation, tokenizer.vocabSize()));
    const auto encodeFile = [&](const std::string& file, double heldOut,
                                TokenFileWriter& head) -> Result<void> {
        RM_ASSIGN_OR_RETURN(const auto text, readText(file));
        if (broken)
            broken->count(file, text);
        const size_t cut = holdOutFrom(text, heldOut);
        if (const auto done = encodeInto(head, tokenizer, std::string_view(text).substr(0, cut));
            !done)
            return done;
        return encodeInto(validation, tokenizer, std::string_view(text).substr(cut));
    };
    for (const std::string& file : corpus.train)
        if (const auto done = encodeFile(file, share, train); !done)
            return done;
    for (const std::string& file : corpus.validation)
        if (const auto done = encodeFile(file, 0.0, validation); !done)
            return done;
    // The training shard is published last: if it exists, both do.
    if (const auto done = validation.finish(); !done)
        return done;
    return train.finish();
}

/// Makes sure that the shards are in `cacheDir` and returns their key.
Result<std::string> cacheShards(const RunSpec::Data& data, const Tokenizer& tokenizer,
                                const std::string& cacheDir, Encoding encoding,
                                BrokenUtf8& broken) {
    RM_ASSIGN_OR_RETURN(const auto corpus, findFiles(data, encoding));
    FileHashCache known(cacheDir + "/" + kNotebook);
    const auto key = contentKey(corpus, data, tokenizer, known);
    if (!key)
        return key;
    known.save();
    const Paths paths = cachedPaths(cacheDir, *key);
    if (std::error_code ignored; std::filesystem::exists(paths.train, ignored))
        return key;
    RM_RETURN_IF_ERROR(makeFolders(cacheDir));
    const double share = data.validation.empty() ? data.validationShare : 0.0;
    RM_RETURN_IF_ERROR(
        writeShards(corpus, share, tokenizer, paths, tokenizerModelFile(data) ? &broken : nullptr));
    return key;
}

/// The serialized tokenizer, on rank 0.
Result<std::string> findTokenizer(const RunSpec& spec, const std::string& known) {
    if (!known.empty())
        return known;
    if (!spec.data.tokenizerFile.empty())
        return readTokenizerFile(spec.data);
    if (!spec.model.startFrom.empty()) {
        const bool wantsJson = spec.data.tokenizer == "tokenizer.json";
        return fail(ErrorCode::kNotFound,
                    "find the tokenizer: model.start_from = " + spec.model.startFrom + " has no " +
                        tokenizerModelFile(spec.data) + "; where it has a " +
                        (wantsJson ? "tokenizer.model, set data.tokenizer = \"sentencepiece\""
                                   : "tokenizer.json, set data.tokenizer = \"tokenizer.json\"") +
                        ", else name a file with data.tokenizer_file");
    }
    RM_ASSIGN_OR_RETURN(const auto files, textFiles(spec.data.train, encodingOf(spec.data, false)));
    return trainSentencePiece(files, spec.data.vocabSize);
}

/// The same tokenizer on all ranks.
Result<std::unique_ptr<Tokenizer>> agreedTokenizer(const RunSpec& spec, const World& world,
                                                   const std::string& known) {
    if (!tokenizerModelFile(spec.data))
        return makeByteTokenizer();
    Result<std::string> mine;
    if (world.isFirst())
        mine = findTokenizer(spec, known);
    return agreeOnFirst(world, mine).and_then([&](const std::string& model) {
        return makeTokenizer(spec.data, model);
    });
}

Result<TokenStream> openShards(const std::vector<std::string>& paths, int64_t& vocabSize) {
    std::vector<TokenFile> files;
    for (const std::string& path : paths) {
        RM_ASSIGN_OR_RETURN(auto file, TokenFile::open(path));
        vocabSize = std::max(vocabSize, file.vocabSize());
        files.push_back(std::move(file));
    }
    return TokenStream(std::move(files));
}

Result<TextData> openStreams(const std::vector<std::string>& train,
                             const std::vector<std::string>& validation) {
    TextData data;
    RM_ASSIGN_OR_RETURN(auto trainStream, openShards(train, data.vocabSize));
    RM_ASSIGN_OR_RETURN(auto validationStream, openShards(validation, data.vocabSize));
    data.train = std::move(trainStream);
    data.validation = std::move(validationStream);
    return data;
}

Result<void> checkLength(const TextData& data, const RunSpec& spec, bool isResumed) {
    const auto tooShort = [&](const char* attempt, int64_t tokens, const char* advice) {
        return fail(ErrorCode::kInvalid, std::string(attempt) + ": its " + std::to_string(tokens) +
                                             " tokens do not fill one sample of model.context = " +
                                             std::to_string(spec.model.context) +
                                             " and the token that follows it" + advice);
    };
    if (data.train.count() <= spec.model.context)
        return tooShort("read training data", data.train.count(), "");
    if (!isResumed && !spec.data.validation.empty() &&
        data.validation.count() <= spec.model.context)
        return tooShort("read data.validation", data.validation.count(),
                        "; name a longer text, or none, and a share of the training data is held "
                        "out");
    return {};
}

/// Checks that every token of the shards is in their vocabulary; returns the identity of the
/// shards.
Result<std::string> checkOwnShards(const RunSpec::Data& data, const std::string& cacheDir) {
    FileHashCache known(cacheDir + "/" + kNotebook);
    std::string summary, content;
    for (const auto* shards : {&data.train, &data.validation})
        for (const std::string& path : *shards) {
            const auto checked = known.once(path, "tokens", [&] { return checkTokens(path); });
            if (!checked)
                return tl::unexpected(checked.error());
            RM_ASSIGN_OR_RETURN(const auto file, TokenFile::open(path));
            summary += std::to_string(file.count()) + " " + std::to_string(file.vocabSize()) + "\n";
            RM_ASSIGN_OR_RETURN(const auto hash, known.sha256(path));
            content += hash + "\n";
        }
    known.save();
    const auto hashOf = [](const std::string& text) {
        return sha256Hex(std::as_bytes(std::span<const char>(text)));
    };
    return withContent(hashOf(summary), hashOf(content));
}

/// The tokenizer of shards of the user's own; nullptr: it is not known.
Result<std::unique_ptr<Tokenizer>> tokenizerOfShards(const RunSpec& spec, const World& world,
                                                     const std::string& known, int64_t vocabSize) {
    const bool isNamed = !spec.data.tokenizerFile.empty() || !spec.model.startFrom.empty();
    const bool isBytes = spec.data.tokenizer == "bytes";
    if (!isNamed && !isBytes)
        return nullptr;
    auto tokenizer = agreedTokenizer(spec, world, known);
    if (!tokenizer || (*tokenizer)->vocabSize() == vocabSize)
        return tokenizer;
    if (isBytes)
        return nullptr;
    return fail(ErrorCode::kInvalid, "read training data: the shards are of a vocabulary of " +
                                         std::to_string(vocabSize) + " tokens, the tokenizer has " +
                                         std::to_string((*tokenizer)->vocabSize()));
}

Result<TextData> openOwnShards(const RunSpec& spec, const std::string& cacheDir, const World& world,
                               const std::string& knownModel) {
    Result<std::string> mine;
    if (world.localRank() == 0)
        mine = checkOwnShards(spec.data, cacheDir);
    RM_ASSIGN_OR_RETURN(const auto identity,
                        agreeAcrossNodes(world, mine, "read training data: the token shards"));
    auto data = openStreams(spec.data.train, spec.data.validation);
    if (!data)
        return data;
    data->identity = identity;
    RM_ASSIGN_OR_RETURN(auto tokenizer,
                        tokenizerOfShards(spec, world, knownModel, data->vocabSize));
    data->tokenizer = std::move(tokenizer);
    return data;
}

Result<TextData> shardTexts(const RunSpec& spec, const std::string& cacheDir, const World& world,
                            const std::string& knownModel, bool isResumed) {
    RM_ASSIGN_OR_RETURN(auto tokenizer, agreedTokenizer(spec, world, knownModel));
    Result<std::string> mine;
    BrokenUtf8 broken;
    if (world.localRank() == 0)
        mine =
            cacheShards(spec.data, *tokenizer, cacheDir, encodingOf(spec.data, isResumed), broken);
    RM_ASSIGN_OR_RETURN(const auto key,
                        agreeAcrossNodes(world, mine, "read training data: the texts"));
    const Paths paths = cachedPaths(cacheDir, key);
    auto data = openStreams({paths.train}, {paths.validation});
    if (data) {
        data->identity = key;
        data->tokenizer = std::move(tokenizer);
        if (world.isFirst())
            data->notUtf8 = broken.words();
    }
    return data;
}

} // namespace

Result<TextData> prepareTextData(const RunSpec& spec, const std::string& cacheDir,
                                 const World& world, const std::string& tokenizerModel,
                                 bool isResumed) {
    const bool shards = std::all_of(spec.data.train.begin(), spec.data.train.end(), isShard);
    auto data = shards ? openOwnShards(spec, cacheDir, world, tokenizerModel)
                       : shardTexts(spec, cacheDir, world, tokenizerModel, isResumed);
    if (!data)
        return data;
    RM_RETURN_IF_ERROR(checkLength(*data, spec, isResumed));
    return data;
}

} // namespace rm
