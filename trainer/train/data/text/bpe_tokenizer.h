// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/text/tokenizer.h"

#include <memory>
#include <string>

namespace rm {

/// The tokenizer of a Hugging Face tokenizer.json: byte-level BPE as in GPT-2, Llama 3, Qwen2 and
/// SmolLM. It gives the ids of the library `tokenizers`, without the special tokens that a
/// post_processor adds:
///
///   - A text gets no begin and end tokens. Files follow each other directly; to separate
///   documents, write the text of a special token ("<|endoftext|>") between them.
///   - A text is UTF-8; bytes that are not become U+FFFD first.
///   - White space at the cut between two pieces of a large file is split there.
///   - Letters and digits of Unicode 15 and later are not recognized as such.
///
/// decode() returns the text, in NFC if the file says so. `json` is the file's content, which
/// files() returns unchanged. kInvalid names an unsupported field and what is supported.
Result<std::unique_ptr<Tokenizer>> makeBpeTokenizer(const std::string& json);

} // namespace rm
