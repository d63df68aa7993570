// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/pairs/pair_tokenizer.h"

#include "shared/io/data_files.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <sentencepiece_processor.h>

namespace rm {

struct PairTokenizer::Vocabulary {
    std::string model;
    sentencepiece::SentencePieceProcessor processor;

    Result<void> load(const std::string& text) {
        const std::string attempt = "load SentencePiece model of a translation: ";
        if (const auto status = processor.LoadFromSerializedProto(text); !status.ok())
            return fail(ErrorCode::kCorrupt, attempt + whyNotOfItsKind(text, status.ToString()));
        if (processor.eos_id() != kEndId || processor.unk_id() != kUnknownId ||
            processor.pad_id() != kPadId)
            return fail(ErrorCode::kInvalid,
                        attempt + "its ids of </s>, <unk> and <pad> are not 0, 1, 2");
        model = text;
        return {};
    }

    /// vocab.json: id by piece.
    std::string json() const {
        nlohmann::ordered_json ids;
        for (int id = 0; id < processor.GetPieceSize(); ++id)
            ids[processor.IdToPiece(id)] = id;
        return ids.dump(1) + "\n";
    }
};

Result<PairTokenizer> PairTokenizer::load(const std::string& source, const std::string& target) {
    PairTokenizer tokenizer;
    for (const auto& [member, model] :
         {std::pair(&tokenizer.m_source, &source), {&tokenizer.m_target, &target}}) {
        auto vocabulary = std::make_shared<Vocabulary>();
        RM_RETURN_IF_ERROR(vocabulary->load(*model));
        *member = std::move(vocabulary);
    }
    if (source == target)
        tokenizer.m_target = tokenizer.m_source;
    return tokenizer;
}

Result<PairTokenizer> PairTokenizer::parse(const std::string& serialized) {
    const size_t sizeEnd = serialized.find('\n');
    const size_t size = std::strtoull(serialized.c_str(), nullptr, 10);
    if (sizeEnd == serialized.npos || size > serialized.size() - sizeEnd - 1)
        return fail(ErrorCode::kInternal, "load tokenizers of a translation: cut short");
    return load(serialized.substr(sizeEnd + 1, size), serialized.substr(sizeEnd + 1 + size));
}

std::string PairTokenizer::serialized() const {
    return std::to_string(m_source->model.size()) + "\n" + m_source->model + m_target->model;
}

int64_t PairTokenizer::sourceVocab() const {
    return m_source->processor.GetPieceSize();
}

int64_t PairTokenizer::targetVocab() const {
    return m_target->processor.GetPieceSize();
}

bool PairTokenizer::isShared() const {
    return m_source == m_target;
}

std::vector<int32_t> PairTokenizer::encode(const Vocabulary& vocabulary, std::string_view text) {
    std::vector<int> ids =
        vocabulary.processor.EncodeAsIds(absl::string_view(text.data(), text.size()));
    ids.push_back(kEndId);
    return ids;
}

std::vector<int32_t> PairTokenizer::encodeSource(std::string_view text) const {
    return encode(*m_source, text);
}

std::vector<int32_t> PairTokenizer::encodeTarget(std::string_view text) const {
    return encode(*m_target, text);
}

std::string PairTokenizer::decodeTarget(const std::vector<int32_t>& ids) const {
    return m_target->processor.DecodeIds(ids);
}

TextFiles PairTokenizer::files(int64_t longest, const PairLanguages& languages) const {
    nlohmann::ordered_json config = {{"tokenizer_class", "MarianTokenizer"},
                                     {"separate_vocabs", !isShared()},
                                     {"model_max_length", longest},
                                     {"eos_token", "</s>"},
                                     {"unk_token", "<unk>"},
                                     {"pad_token", "<pad>"},
                                     {"clean_up_tokenization_spaces", false}};
    if (!languages.source.empty())
        config["source_lang"] = languages.source;
    if (!languages.target.empty())
        config["target_lang"] = languages.target;
    TextFiles files = {{"source.spm", m_source->model},
                       {"target.spm", m_target->model},
                       {"vocab.json", m_source->json()},
                       {"tokenizer_config.json", config.dump(2) + "\n"}};
    if (!isShared())
        files.emplace_back("target_vocab.json", m_target->json());
    return files;
}

} // namespace rm
