// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/model_family.h"

// The rows of modelFamilies(), each in a file of its name in families/, and what the families of
// text share.
namespace rm {

ModelFamily gptFamily();
ModelFamily translationFamily();
ModelFamily resnetFamily();
ModelFamily llamaFamily();

/// Keys that every transformer of text uses.
std::vector<std::string_view> transformerKeys();
/// Keys that a model which goes on with text uses besides.
std::vector<std::string_view> generatorKeys();

/// Adds that model.heads must divide model.width, where it does not.
void checkHeads(const RunSpec& spec, std::vector<std::string>& mistakes);

/// The bound of `layers` blocks with attention and a feed-forward net of model.feed_forward, with
/// embeddings for `vocabularies` of data.vocab_size tokens, on sequences of model.context.
ModelBound transformerBound(const RunSpec& spec, int64_t layers, int vocabularies);

} // namespace rm
