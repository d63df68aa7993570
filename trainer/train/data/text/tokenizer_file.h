// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/spec/run_spec.h"
#include "trainer/train/checkpoint/text_files.h"

#include <string>

namespace rm {

/// Reads the file that data.tokenizer_file names, or, if that is a folder, the file in it whose
/// name data.tokenizer calls for.
Result<std::string> readTokenizerFile(const RunSpec::Data& data);

/// The files in `folder` that accompany the tokenizer there, so that checkpoints can keep
/// them: tokenizer.json, tokenizer_config.json and special_tokens_map.json, as far as they
/// exist.
TextFiles filesBesideTokenizer(const std::string& folder);

} // namespace rm
