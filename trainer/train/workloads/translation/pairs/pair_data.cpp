// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/pairs/pair_data.h"

#include "shared/io/control_group.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "trainer/train/data/in_order.h"
#include "trainer/train/dist/agree.h"

#include <algorithm>
#include <filesystem>
#include <thread>

namespace rm {
namespace {

constexpr int64_t kPairsAPiece = 4096;

std::string hashOf(const std::string& text) {
    return sha256Hex(std::as_bytes(std::span<const char>(text))).substr(0, 32);
}

bool exists(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

struct Corpora {
    PairCorpus train;
    PairCorpus validation; ///< no files: split off from train
};

Result<Corpora> findCorpora(const RunSpec::Data& data, Others others) {
    RM_ASSIGN_OR_RETURN(auto train, findPairs(data.train, {}, others));
    if (data.validation.empty())
        return Corpora{std::move(train), {}};
    RM_ASSIGN_OR_RETURN(auto validation, findPairs(data.validation, {}, others));
    return Corpora{std::move(train), std::move(validation)};
}

/// The cache key of the texts.
Result<std::string> contentKey(const Corpora& corpora, const RunSpec::Data& data) {
    std::string text = "pairs 1\n";
    for (const PairCorpus* corpus : {&corpora.train, &corpora.validation}) {
        text += "--\n";
        for (const std::string& file : corpus->files) {
            const auto hash = sha256HexOfFile(file);
            if (!hash)
                return failAs("read pairs", hash.error());
            text += *hash + "\n";
        }
    }
    if (corpora.validation.files.empty())
        text += std::to_string(data.validationShare);
    text += "\n" + std::to_string(data.maxBad); // a stricter limit must be checked again
    return hashOf(text);
}

/// Files of the cache.
struct Names {
    Names(const std::string& cacheDir, const std::string& key)
        : train(cacheDir + "/" + key + "-texts.rmpairs")
        , validation(cacheDir + "/" + key + "-validation.rmpairs") {}
    std::string train;
    std::string validation;
};

/// Reads everything once and splits it into training and validation.
Result<HarvestState> writeTexts(const Corpora& corpora, const RunSpec::Data& data,
                                const Names& names) {
    const PairLanguages& languages = corpora.train.languages;
    const PairFileInfo info{1, 0, 0, languages.source, languages.target};
    RM_ASSIGN_OR_RETURN(auto train, PairFileWriter::create(names.train, info));
    RM_ASSIGN_OR_RETURN(auto validation, PairFileWriter::create(names.validation, info));
    HarvestState state;
    PairDeduplicator seen; // validation first, so that training never sees its pairs
    const double share = data.validation.empty() ? data.validationShare : 0;
    const auto done =
        harvestPairs(corpora.validation, state, seen,
                     [&](const Pair& pair) { return validation.append(pair.source, pair.target); })
            .and_then([&] {
                return harvestPairs(corpora.train, state, seen, [&](const Pair& pair) {
                    PairFileWriter& into = shareOf(pair.source) < share ? validation : train;
                    return into.append(pair.source, pair.target);
                });
            })
            .and_then([&] { return checkBad(state, data.maxBad, "data.max_bad"); })
            .and_then([&] { return validation.finish(); })
            .and_then([&] { return train.finish(); }); // last: if it exists, both do
    if (!done)
        return tl::unexpected(done.error());
    return state;
}

void noteBad(const HarvestState& state, PairData& into) {
    into.bad = state.bad;
    if (state.bad == 0)
        return;
    std::string text = std::to_string(state.bad) + " lines are no pairs and were left out:";
    for (const std::string& name : state.named)
        text += "\n  " + name;
    into.warnings.push_back(std::move(text));
}

/// kInvalid: no pair is left to train on, and why.
Result<void> checkSomeAreLeft(const HarvestState& state, const Names& names) {
    RM_ASSIGN_OR_RETURN(const auto train, PairFile::open(names.train));
    if (train.count() > 0)
        return {};
    std::error_code ignored;
    std::filesystem::remove(names.train, ignored); // the next attempt reads the texts again
    return fail(ErrorCode::kInvalid,
                state.pairs == 0
                    ? "read pairs: there are none in data.train"
                    : "read pairs: all of data.train are in data.validation as well, so that none "
                      "is left to train on; name other pairs there");
}

/// Makes sure that the texts are in `cacheDir` and returns their key.
Result<std::string> cacheTexts(const RunSpec::Data& data, const std::string& cacheDir,
                               Others others, PairData& into) {
    RM_ASSIGN_OR_RETURN(const auto corpora, findCorpora(data, others));
    const auto key = contentKey(corpora, data);
    if (!key || exists(Names(cacheDir, *key).train))
        return key;
    RM_RETURN_IF_ERROR(makeFolders(cacheDir));
    RM_ASSIGN_OR_RETURN(const auto state, writeTexts(corpora, data, Names(cacheDir, *key)));
    RM_RETURN_IF_ERROR(checkSomeAreLeft(state, Names(cacheDir, *key)));
    noteBad(state, into);
    return key;
}

Result<std::string> learnOn(const std::string& texts, const RunSpec& spec) {
    RM_ASSIGN_OR_RETURN(const auto file, PairFile::open(texts));
    return learnPairTokenizer(file, spec.data.vocabSize, spec.model.shareEmbeddings)
        .map([](const PairTokenizer& tokenizer) { return tokenizer.serialized(); });
}

struct Encoded {
    std::vector<int32_t> source;
    std::vector<int32_t> target;
};

std::vector<Encoded> encodePiece(const PairFile& texts, const PairTokenizer& tokenizer,
                                 int64_t first) {
    std::vector<Encoded> piece;
    const int64_t end = std::min(texts.count(), first + kPairsAPiece);
    for (int64_t i = first; i < end; ++i)
        piece.push_back({tokenizer.encodeSource(texts.text(2 * i)),
                         tokenizer.encodeTarget(texts.text(2 * i + 1))});
    return piece;
}

/// Encodes the pairs of `texts` that fit into `context`.
Result<void> writeIds(const PairFile& texts, const PairTokenizer& tokenizer, int64_t context,
                      const std::string& path) {
    const int64_t largest = std::max(tokenizer.sourceVocab(), tokenizer.targetVocab());
    PairFileInfo info = texts.info();
    info.itemBytes = largest <= 65536 ? 2 : 4;
    info.sourceVocab = tokenizer.sourceVocab();
    info.targetVocab = tokenizer.targetVocab();
    RM_ASSIGN_OR_RETURN(auto writer, PairFileWriter::create(path, info));
    const auto limit = static_cast<size_t>(context);
    const auto write = [&](size_t, const std::vector<Encoded>& piece) -> Result<void> {
        for (const Encoded& pair : piece)
            if (pair.source.size() <= limit && pair.target.size() <= limit)
                if (const auto done = writer.append(pair.source, pair.target); !done)
                    return done;
        return {};
    };
    const auto pieces = static_cast<size_t>((texts.count() + kPairsAPiece - 1) / kPairsAPiece);
    return inOrder(
               pieces, static_cast<unsigned>(givenCores()),
               [&](size_t i) {
                   return encodePiece(texts, tokenizer, static_cast<int64_t>(i) * kPairsAPiece);
               },
               write)
        .and_then([&] { return writer.finish(); });
}

std::string idsFile(const std::string& cacheDir, const std::string& key) {
    return cacheDir + "/" + key + "-ids.rmpairs";
}

/// Makes sure that the ids are in `cacheDir` and returns their key.
Result<std::string> cacheIds(const std::string& textsKey, const std::string& cacheDir,
                             const PairTokenizer& tokenizer, int64_t context) {
    const std::string key =
        hashOf(textsKey + "\n" + tokenizer.serialized() + "\n" + std::to_string(context));
    if (exists(idsFile(cacheDir, key)))
        return key;
    RM_ASSIGN_OR_RETURN(const auto texts, PairFile::open(Names(cacheDir, textsKey).train));
    return writeIds(texts, tokenizer, context, idsFile(cacheDir, key)).map([&] { return key; });
}

Result<void> noteLong(PairData& data, int64_t texts, int64_t context) {
    const int64_t kept = data.train.count();
    if (kept == 0)
        return fail(ErrorCode::kInvalid,
                    "read pairs: none of " + std::to_string(texts) +
                        " fits into model.context = " + std::to_string(context));
    if (kept < texts)
        data.warnings.push_back(std::to_string(texts - kept) + " of " + std::to_string(texts) +
                                " pairs are longer than model.context = " +
                                std::to_string(context) + " tokens and were left out");
    return {};
}

Result<void> openShards(PairData& data, const Names& names, const std::string& ids,
                        int64_t context) {
    auto texts = PairFile::open(names.train);
    auto validation = PairFile::open(names.validation);
    auto train = PairFile::open(ids);
    for (const auto* file : {&texts, &validation, &train})
        if (!*file)
            return tl::unexpected(file->error());
    data.train = std::move(*train);
    data.validation = std::move(*validation);
    data.languages = {texts->info().sourceLanguage, texts->info().targetLanguage};
    return noteLong(data, texts->count(), context);
}

} // namespace

Result<PairData> preparePairData(const RunSpec& spec, const std::string& cacheDir,
                                 const World& world, const std::string& tokenizer) {
    constexpr const char* kWhat = "read training data: the pairs";
    const bool makesCache = world.localRank() == 0;
    PairData data;
    Result<std::string> mine;
    if (makesCache)
        mine = cacheTexts(spec.data, cacheDir,
                          tokenizer.empty() ? Others::kRefused : Others::kLeftOut, data);
    RM_ASSIGN_OR_RETURN(const auto key, agreeAcrossNodes(world, mine, kWhat));
    data.identity = key;
    const Names names(cacheDir, key);
    if (world.isFirst())
        mine = tokenizer.empty() ? learnOn(names.train, spec) : tokenizer;
    RM_ASSIGN_OR_RETURN(const auto model, agreeOnFirst(world, mine));
    RM_ASSIGN_OR_RETURN(auto loaded, PairTokenizer::parse(model));
    data.tokenizer = std::move(loaded);
    if (makesCache)
        mine = cacheIds(key, cacheDir, data.tokenizer, spec.model.context);
    RM_ASSIGN_OR_RETURN(const auto ids, agreeAcrossNodes(world, mine, kWhat));
    RM_RETURN_IF_ERROR(openShards(data, names, idsFile(cacheDir, ids), spec.model.context));
    const bool isResumed = !tokenizer.empty(); // it has gone on without one already
    if (!isResumed && !spec.data.validation.empty() && data.validation.count() == 0)
        return fail(ErrorCode::kInvalid, "read data.validation: there are no pairs in it; name a "
                                         "file that has some, or none, and a share of the "
                                         "training data is held out");
    return data;
}

} // namespace rm
