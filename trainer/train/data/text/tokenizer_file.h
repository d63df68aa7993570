// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/spec/run_spec.h"
#include "trainer/train/checkpoint/text_files.h"

#include <string>

namespace rm {

/// What data.tokenizer_file names: a file, or a folder that has one of the name that data.tokenizer
/// calls for.
Result<std::string> readTokenizerFile(const RunSpec::Data& data);

/// The files in `folder` that accompany the tokenizer there (tokenizer_config.json,
/// special_tokens_map.json; for a SentencePiece model also its tokenizer.json), so that checkpoints
/// can keep them.
TextFiles filesBesideTokenizer(const std::string& folder);

} // namespace rm
