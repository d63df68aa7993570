// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/text/tokenizer.h"

#include <memory>
#include <string>

namespace rm {

/// The tokenizer of a Hugging Face tokenizer.json: byte-level BPE as GPT-2, Llama 3, Qwen2 and
/// SmolLM have it. Its ids are those of the library `tokenizers` without the special tokens that a
/// post_processor adds:
///
///   - A text gets no begin and no end. Files follow each other as they are; who wants documents
///     parted writes the text of a special token ("<|endoftext|>") between them, which is found.
///   - A text is UTF-8; bytes that are not become U+FFFD first.
///   - White space that a cut between two pieces of a large file parts is not seen as one.
///   - Letters and digits that came with Unicode 15 or later are taken for neither.
///
/// decode() gives the text back, in its composed form where the file says NFC. `json` is the file's
/// content, which files() carries as it is. kInvalid names the one field that is not supported and
/// what is.
Result<std::unique_ptr<Tokenizer>> makeBpeTokenizer(const std::string& json);

} // namespace rm
