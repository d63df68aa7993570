// SPDX-License-Identifier: Apache-2.0
#include "shared/io/data_files.h"
#include "shared/return_if_error.h"
#include "trainer/train/data/text/corpus.h"
#include "trainer/train/data/text/fit_vocabulary.h"
#include "trainer/train/data/text/tokenizer.h"
#include "trainer/train/data/text/tokenizer_json.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <cmath>
#include <optional>
#include <unordered_map>

// Debian's libsentencepiece and libc10 each define a global of this name, a flag object of 32 bytes
// and an int, which the dynamic linker resolves to one symbol. This definition comes before both
// and has room for either; without it SentencePiece's constructor would overwrite libc10's
// neighbouring variables, among them the switch that turns errors into aborts. libc10 reads its own
// only for command lines that nobody passes to it.
extern "C" {
extern char FLAGS_minloglevel[64];
__attribute__((visibility("default"))) alignas(16) char FLAGS_minloglevel[64] = {};
}

namespace rm {
namespace {

constexpr size_t kMaxTrainingLines = 1'000'000;
constexpr const char* kLineBreak = "\n";

class SentencePieceTokenizer final : public Tokenizer {
public:
    Result<void> load(const std::string& model) {
        const auto status = m_processor.LoadFromSerializedProto(model);
        if (!status.ok())
            return fail(ErrorCode::kCorrupt,
                        "load SentencePiece model: " + whyNotOfItsKind(model, status.ToString()));
        m_model = model;
        return {};
    }

    int64_t vocabSize() const override { return m_processor.GetPieceSize(); }

    Result<void> encode(std::string_view text, std::vector<int32_t>& ids) const override {
        const std::vector<int> pieces =
            m_processor.EncodeAsIds(absl::string_view(text.data(), text.size()));
        ids.insert(ids.end(), pieces.begin(), pieces.end());
        return {};
    }

    std::string decode(const std::vector<int32_t>& ids) const override {
        return m_processor.DecodeIds(std::vector<int>(ids.begin(), ids.end()));
    }

    std::string serialized() const override { return m_model; }

    std::vector<std::pair<std::string, std::string>> files() const override {
        if (!isPlainBpe())
            return {{kModelFile, m_model}};
        return {{kModelFile, m_model},
                {"tokenizer.json",
                 bpeTokenizerJson(pieces(), m_processor.IdToPiece(m_processor.unk_id()))},
                {"tokenizer_config.json", tokenizerConfigJson("sentencepiece", vocabSize())}};
    }

private:
    static constexpr const char* kModelFile = "tokenizer.model";

    /// Whether the model is of the kind that is learnt here, BPE over the unchanged text; our
    /// tokenizer.json can describe only that. Other models add a space in front, normalize the
    /// text, or are Unigram models, which weigh pieces by probability instead of rank.
    bool isPlainBpe() const {
        const std::string probe = " a  \uFB01"; // the spaces and the ligature must survive
        std::vector<int> ids;
        std::vector<std::string> begin;
        if (!m_processor.Encode(probe, &ids).ok() || m_processor.DecodeIds(ids) != probe ||
            !m_processor.Encode("a", &begin).ok() || begin.front().starts_with("\u2581"))
            return false;
        for (int id = 0; id < m_processor.GetPieceSize(); ++id)
            if (m_processor.GetScore(id) != std::floor(m_processor.GetScore(id)))
                return false;
        return true;
    }

    std::vector<BpePiece> pieces() const {
        std::vector<BpePiece> pieces;
        for (int id = 0; id < m_processor.GetPieceSize(); ++id)
            pieces.push_back({m_processor.IdToPiece(id), m_processor.GetScore(id), kindOf(id)});
        return pieces;
    }

    BpePiece::Kind kindOf(int id) const {
        const bool isText = !m_processor.IsUnknown(id) && !m_processor.IsControl(id) &&
                            !m_processor.IsByte(id) && !m_processor.IsUnused(id);
        if (!isText)
            return BpePiece::Kind::kOther;
        return m_processor.IdToPiece(id) == kLineBreak ? BpePiece::Kind::kWhole
                                                       : BpePiece::Kind::kMerged;
    }

    sentencepiece::SentencePieceProcessor m_processor;
    std::string m_model;
};

/// Lines of the corpus, long ones in parts; SentencePiece trains on lines.
class CorpusLines final : public sentencepiece::SentenceIterator {
public:
    explicit CorpusLines(std::vector<std::string> files)
        : m_files(std::move(files)) {
        Next();
    }

    bool done() const override { return m_done; }
    const std::string& value() const override { return m_line; }
    sentencepiece::util::Status status() const override { return {}; }
    const std::optional<Error>& error() const { return m_error; }
    bool hasNone() const { return m_done && m_lines == 0; }

    void Next() override {
        while (!m_done && !nextLine())
            openNextFile();
        m_done = m_done || m_lines++ == kMaxTrainingLines;
    }

private:
    bool nextLine() {
        while (m_at < m_text.size()) {
            const auto rest = std::string_view(m_text).substr(m_at, kLongestLine + 1);
            const size_t end = rest.find_first_of("\r\n");
            const bool hasEnd = end != std::string_view::npos;
            const size_t size = hasEnd ? end : lengthOfPart(rest, kLongestLine);
            m_line = lineToLearn(rest.substr(0, size));
            m_at += size + (hasEnd ? 1 : 0);
            if (!m_line.empty())
                return true;
        }
        return false;
    }

    void openNextFile() {
        if (m_nextFile == m_files.size()) {
            m_done = true;
            return;
        }
        auto text = readText(m_files[m_nextFile++]);
        m_at = 0;
        if (text) {
            m_text = toValidUtf8(*text);
        } else {
            m_error = text.error();
            m_done = true;
        }
    }

    std::vector<std::string> m_files;
    size_t m_nextFile = 0;
    std::string m_text;
    size_t m_at = 0;
    std::string m_line;
    size_t m_lines = 0;
    bool m_done = false;
    std::optional<Error> m_error;
};

std::unordered_map<std::string, std::string> trainerOptions(int64_t vocabSize) {
    return {
        {"model_type", "bpe"},
        {"vocab_size", std::to_string(vocabSize)},
        {"byte_fallback", "true"},
        {"character_coverage", "0.9995"},
        // Decoding returns the text unchanged.
        {"normalization_rule_name", "identity"},
        {"add_dummy_prefix", "false"},
        {"remove_extra_whitespaces", "false"},
        {"allow_whitespace_only_pieces", "true"},
        {"user_defined_symbols", kLineBreak},
        {"pad_id", "-1"},
        {"num_threads", "1"},
        {"minloglevel", "2"},
    };
}

} // namespace

Result<std::unique_ptr<Tokenizer>> makeSentencePieceTokenizer(const std::string& model) {
    auto tokenizer = std::make_unique<SentencePieceTokenizer>();
    RM_RETURN_IF_ERROR(tokenizer->load(model));
    return tokenizer;
}

Result<std::string> trainSentencePiece(const std::vector<std::string>& files, int64_t vocabSize) {
    return fitVocabulary(vocabSize, [&](int64_t size) -> Result<std::string> {
        std::string model;
        CorpusLines lines(files);
        if (lines.hasNone() && !lines.error())
            return fail(ErrorCode::kInvalid,
                        "learn a SentencePiece vocabulary: the training data has no text");
        const auto status =
            sentencepiece::SentencePieceTrainer::Train(trainerOptions(size), &lines, &model);
        if (lines.error())
            return tl::unexpected(*lines.error());
        if (!status.ok())
            return fail(ErrorCode::kInvalid,
                        "learn a SentencePiece vocabulary, data.vocab_size = " +
                            std::to_string(size) + ": " + inKeysOfTheSpec(status.ToString()));
        return model;
    });
}

} // namespace rm
