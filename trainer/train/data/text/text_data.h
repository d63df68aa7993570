// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/spec/run_spec.h"
#include "trainer/train/data/batch_source.h"
#include "trainer/train/data/sample_order.h"
#include "trainer/train/data/text/token_file.h"
#include "trainer/train/data/text/tokenizer.h"

#include <memory>
#include <string>

namespace rm {

class World;

/// What a language model learns from, ready to be read.
struct TextData {
    TokenStream train;
    TokenStream validation;
    int64_t vocabSize = 0;
    std::unique_ptr<Tokenizer> tokenizer; ///< nullptr: shards of a vocabulary not known here
};

/// Turns the spec's texts into token shards cached in `cacheDir`, once per node, and opens them on
/// every rank; all ranks call it together and all get the same error. `tokenizerModel` is that of
/// the checkpoint resumed from or of model.start_from, on rank 0; empty: that of
/// data.tokenizer_file, else learnt from the texts where the kind needs it.
/// Nodes whose texts differ are an error, as is a user's shard with a token beyond its vocabulary.
/// Files are read whole once; `cacheDir` keeps what is known of them (FileHashCache).
Result<TextData> prepareTextData(const RunSpec& spec, const std::string& cacheDir,
                                 const World& world, const std::string& tokenizerModel);

/// Cuts windows of context + 1 tokens out of a stream, in the run's order.
class TextBatches final : public BatchSource {
public:
    TextBatches(const TokenStream& tokens, int64_t context, uint64_t seed);

    int64_t epochSize() const override { return m_order.sampleCount(); }
    /// Inputs and targets (B, T).
    Result<Batch> read(int64_t first, int64_t count) override;
    int64_t targets(int64_t, int64_t count) const override { return count * m_context; }

private:
    const TokenStream& m_tokens;
    int64_t m_context;
    uint64_t m_seed;
    SampleOrder m_order;
};

/// The windows with which every validation of a run measures, spread evenly over the stream:
/// `limit` at most, none when the stream is too short for one of two tokens. A stream shorter
/// than a window gives one short window.
struct ValidationWindows {
    std::vector<int64_t> starts;
    int64_t context = 0;
};
ValidationWindows validationWindows(const TokenStream& tokens, int64_t context, int64_t limit);

/// Windows `starts` of the stream as one batch.
Batch readWindows(const TokenStream& tokens, const std::vector<int64_t>& starts, int64_t context);

} // namespace rm
