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

/// The prepared data of a language model.
struct TextData {
    TokenStream train;
    TokenStream validation;
    int64_t vocabSize = 0;
    std::string identity;                 ///< see Task::dataIdentity()
    std::unique_ptr<Tokenizer> tokenizer; ///< nullptr: shards with an unknown vocabulary
    std::string notUtf8; ///< of texts that were read just now: BrokenUtf8::words(), on rank 0
};

/// Turns the spec's texts into token shards cached in `cacheDir`, once per node, and opens them on
/// every rank; all ranks call it together and all get the same error. `tokenizerModel` (on rank 0)
/// is that of the checkpoint or of model.start_from; empty: that of data.tokenizer_file, else one
/// is learnt from the texts if its kind needs that. It is an error if the texts differ between
/// nodes, or if a user's shard has a token beyond its vocabulary. Whole files are read only once;
/// `cacheDir` keeps the results (FileHashCache). A run that `isResumed` has read the texts before,
/// so that nothing is asked of them any more.
Result<TextData> prepareTextData(const RunSpec& spec, const std::string& cacheDir,
                                 const World& world, const std::string& tokenizerModel,
                                 bool isResumed = false);

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

/// The windows used by every validation of a run, spread evenly over the stream: at most `limit`. A
/// stream shorter than a window gives one short window; with fewer than two tokens there is none.
struct ValidationWindows {
    std::vector<int64_t> starts;
    int64_t context = 0;
};
ValidationWindows validationWindows(const TokenStream& tokens, int64_t context, int64_t limit);

/// Windows `starts` of the stream as one batch.
Batch readWindows(const TokenStream& tokens, const std::vector<int64_t>& starts, int64_t context);

} // namespace rm
