// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/corpus.h"
#include "trainer/train/data/text/fit_vocabulary.h"
#include "trainer/train/workloads/translation/pairs/pair_tokenizer.h"

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <unordered_map>

namespace rm {
namespace {

constexpr int64_t kMaxLines = 1'000'000;

/// The source sides of a shard (0), the target sides (1) or both (2), as input for SentencePiece;
/// at most kMaxLines of them, evenly spread, and long ones in parts.
class Sides final : public sentencepiece::SentenceIterator {
public:
    Sides(const PairFile& texts, int which)
        : m_texts(texts)
        , m_side(which == 1 ? 1 : 0)
        , m_step(which == 2 ? 1 : 2) {
        const int64_t lines = (2 * texts.count() - m_side + m_step - 1) / m_step;
        m_step *= std::max<int64_t>(1, (lines + kMaxLines - 1) / kMaxLines);
        fetch();
    }

    bool done() const override { return m_side >= 2 * m_texts.count(); }
    const std::string& value() const override { return m_line; }
    sentencepiece::util::Status status() const override { return {}; }
    void Next() override {
        m_at += m_size;
        if (m_at == m_texts.text(m_side).size()) {
            m_side += m_step;
            m_at = 0;
        }
        fetch();
    }

private:
    void fetch() {
        if (done())
            return;
        const std::string_view rest = m_texts.text(m_side).substr(m_at);
        m_size = lengthOfPart(rest, kLongestLine);
        m_line = lineToLearn(rest.substr(0, m_size));
    }

    const PairFile& m_texts;
    int64_t m_side;
    int64_t m_step;
    size_t m_at = 0;   ///< where the line begins in its side
    size_t m_size = 0; ///< its bytes there
    std::string m_line;
};

std::unordered_map<std::string, std::string> trainerOptions(int64_t vocabSize) {
    return {
        {"model_type", "bpe"},
        {"vocab_size", std::to_string(vocabSize)},
        {"byte_fallback", "true"},
        {"character_coverage", "0.9995"},
        {"eos_id", std::to_string(kEndId)},
        {"unk_id", std::to_string(kUnknownId)},
        {"pad_id", std::to_string(kPadId)},
        {"bos_id", "-1"},
        {"num_threads", "1"},
        {"minloglevel", "2"},
    };
}

Result<std::string> learn(const PairFile& texts, int which, int64_t vocabSize) {
    static constexpr const char* kNames[] = {"the source", "the target", "both languages"};
    return fitVocabulary(vocabSize, [&](int64_t size) -> Result<std::string> {
        std::string model;
        Sides lines(texts, which);
        const auto status =
            sentencepiece::SentencePieceTrainer::Train(trainerOptions(size), &lines, &model);
        if (!status.ok())
            return fail(ErrorCode::kInvalid, std::string("learn a SentencePiece vocabulary of ") +
                                                 kNames[which] +
                                                 ", data.vocab_size = " + std::to_string(size) +
                                                 ": " + inKeysOfTheSpec(status.ToString()));
        return model;
    });
}

} // namespace

Result<PairTokenizer> learnPairTokenizer(const PairFile& texts, int64_t vocabSize, bool shared) {
    const auto source = learn(texts, shared ? 2 : 0, vocabSize);
    if (!source || shared)
        return source.and_then(
            [](const std::string& model) { return PairTokenizer::load(model, model); });
    return learn(texts, 1, vocabSize).and_then([&](const std::string& target) {
        return PairTokenizer::load(*source, target);
    });
}

} // namespace rm
