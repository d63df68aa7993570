// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/pairs/pair_corpus.h"

#include "shared/io/control_group.h"
#include "shared/return_if_error.h"
#include "shared/spec/model_family.h"
#include "trainer/train/data/in_order.h"
#include "trainer/train/data/text/corpus.h"
#include "trainer/train/data/text/file_pieces.h"
#include "trainer/train/workloads/translation/pairs/catalogue.h"
#include "trainer/train/workloads/translation/pairs/pair_file.h"
#include "trainer/train/workloads/translation/pairs/tsv.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <thread>

namespace rm {
namespace fs = std::filesystem;
namespace {

bool isCatalogue(const std::string& file) {
    return file.ends_with(".mo");
}

bool isShard(const std::string& file) {
    return file.ends_with(".rmpairs");
}

bool holdsPairs(const std::string& file) {
    return std::ranges::any_of(endingsOf(DataKind::kPairs),
                               [&](std::string_view each) { return file.ends_with(each); });
}

/// Data of a kind that is not read, or named otherwise: without it a person would train on less
/// than he named.
bool isOtherData(const std::string& file) {
    constexpr std::string_view kOthers[] = {".gz",  ".zst",   ".xz",     ".bz2",     ".zip",
                                            ".csv", ".jsonl", ".tmx",    ".parquet", ".xliff",
                                            ".tsv", ".mo",    ".rmpairs"};
    std::string lower = file;
    std::ranges::transform(lower, lower.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    return !holdsPairs(file) && std::ranges::any_of(kOthers, [&](std::string_view each) {
        return lower.ends_with(each);
    });
}

/// "it" of ".../it/LC_MESSAGES/x.mo"; empty: the path does not say.
std::string languageOfCatalogue(const fs::path& file) {
    const fs::path folder = file.parent_path();
    return folder.filename() == "LC_MESSAGES" ? folder.parent_path().filename().string() : "";
}

/// Cuts the files into pieces that one thread reads each; shards and catalogues stay whole.
Result<std::vector<FilePiece>> cutFiles(const std::vector<std::string>& files) {
    std::vector<FilePiece> pieces;
    for (const std::string& file : files) {
        if (isShard(file) || isCatalogue(file)) {
            pieces.push_back({file});
            continue;
        }
        RM_ASSIGN_OR_RETURN(const auto cut, cutFile(file));
        pieces.insert(pieces.end(), cut.begin(), cut.end());
    }
    return pieces;
}

Result<PairHarvest> readShard(const std::string& path) {
    RM_ASSIGN_OR_RETURN(const auto shard, PairFile::open(path));
    if (!shard.info().isText())
        return fail(ErrorCode::kInvalid,
                    "read pairs " + path + ": it holds token ids, but texts are wanted");
    PairHarvest harvest;
    for (int64_t i = 0; i < shard.count(); ++i)
        harvest.pairs.push_back(
            {std::string(shard.text(2 * i)), std::string(shard.text(2 * i + 1))});
    return harvest;
}

Result<PairHarvest> readPairs(const FilePiece& piece) {
    if (isShard(piece.path))
        return readShard(piece.path);
    if (isCatalogue(piece.path))
        return readText(piece.path).and_then([&](const std::string& bytes) {
            return readCatalogue(std::as_bytes(std::span<const char>(bytes)), piece.path);
        });
    return readPiece(piece).map(
        [&](const std::string& text) { return readTsv(text, piece.path, piece.firstLine); });
}

void addBad(HarvestState& state, const PairHarvest& piece) {
    state.bad += piece.bad;
    for (const std::string& name : piece.named)
        if (state.named.size() < PairHarvest::kMaxNamed)
            state.named.push_back(name);
}

Result<PairLanguages> languagesOf(const std::string& file) {
    if (isShard(file))
        return PairFile::peek(file).map([](const PairFileInfo& info) {
            return PairLanguages{info.sourceLanguage, info.targetLanguage};
        });
    return isCatalogue(file) ? PairLanguages{"en", languageOfCatalogue(file)} : PairLanguages{};
}

void learnLanguages(PairLanguages& known, const PairLanguages& given) {
    if (known.source.empty())
        known.source = given.source;
    if (known.target.empty())
        known.target = given.target;
}

/// The files of pairs at `path`, without catalogues of languages other than `target`, unless that
/// is empty. kInvalid when none is left.
Result<std::vector<std::string>> pairFilesAt(const std::string& path, const std::string& target,
                                             Others others) {
    auto files = corpusFiles({path});
    if (!files)
        return files;
    const auto other = std::ranges::find_if(*files, &isOtherData);
    if (other != files->end() && others == Others::kRefused)
        return fail(ErrorCode::kInvalid, "read pairs " + path + ": " + *other +
                                             " is of a kind that is not read; make it a .tsv "
                                             "(source, tab, target), or put it elsewhere");
    std::erase_if(*files, [&](const std::string& file) {
        const std::string language = isCatalogue(file) ? languageOfCatalogue(file) : "";
        const bool isOther = !target.empty() && !language.empty() && language != target;
        return !holdsPairs(file) || isOther;
    });
    if (files->empty())
        return fail(ErrorCode::kInvalid, "read pairs " + path + ": no .tsv, .rmpairs or .mo there" +
                                             (target.empty() ? "" : " for the language " + target) +
                                             "; of two texts, line by line, `ringmaster-trainer "
                                             "prepare --kind pairs` makes a shard");
    for (const std::string& file : *files)
        if (!isShard(file) && !isCatalogue(file))
            RM_RETURN_IF_ERROR(checkText(file, Encoding::kAny)); // each line is checked
    return files;
}

} // namespace

Result<PairCorpus> findPairs(const std::vector<std::string>& paths, const std::string& target,
                             Others others) {
    PairCorpus corpus;
    std::set<std::string> languages;
    for (const std::string& path : paths) {
        RM_ASSIGN_OR_RETURN(auto files, pairFilesAt(path, target, others));
        for (std::string& file : files) {
            if (isCatalogue(file))
                languages.insert(languageOfCatalogue(file));
            RM_ASSIGN_OR_RETURN(const auto given, languagesOf(file));
            learnLanguages(corpus.languages, given);
            corpus.files.push_back(std::move(file));
        }
    }
    if (languages.size() > 1)
        return fail(ErrorCode::kInvalid, "read pairs " + paths.front() +
                                             ": its catalogues are of several languages (" +
                                             *languages.begin() + ", " + *languages.rbegin() +
                                             "); name the folder of one, LL/LC_MESSAGES");
    return corpus;
}

Result<void> harvestPairs(const PairCorpus& corpus, HarvestState& state, PairDeduplicator& seen,
                          const std::function<Result<void>(const Pair&)>& take,
                          const std::function<void(const HarvestState&)>& report) {
    RM_ASSIGN_OR_RETURN(const auto pieces, cutFiles(corpus.files));
    state.pieces += pieces.size();
    const auto use = [&](size_t, Result<PairHarvest> read) -> Result<void> {
        if (!read)
            return tl::unexpected(read.error());
        addBad(state, *read);
        for (const Pair& pair : read->pairs) {
            const bool isNew = seen.add(pair);
            ++(isNew ? state.pairs : state.duplicates);
            if (!isNew)
                continue;
            if (const auto taken = take(pair); !taken)
                return taken;
        }
        ++state.piecesDone;
        if (report)
            report(state);
        return {};
    };
    return inOrder(
        pieces.size(), static_cast<unsigned>(givenCores()),
        [&](size_t i) { return readPairs(pieces[i]); }, use);
}

Result<void> checkBad(const HarvestState& state, double maxBad, const std::string& setting) {
    const int64_t all = state.pairs + state.duplicates + state.bad;
    if (static_cast<double>(state.bad) <= maxBad * static_cast<double>(all))
        return {};
    std::string message = "read pairs: " + std::to_string(state.bad) + " of " +
                          std::to_string(all) + " lines are no pairs, a larger share than " +
                          setting + " allows; the first of them:";
    for (const std::string& name : state.named)
        message += "\n  " + name;
    return fail(ErrorCode::kCorrupt, std::move(message));
}

} // namespace rm
