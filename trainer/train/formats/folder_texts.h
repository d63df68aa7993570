// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/checkpoint/text_files.h"

#include <optional>
#include <string>

namespace rm {

/// The small files that Hugging Face's loaders want beside weights: config.json and those of
/// tokenizers, as far as they are in the folder `path`, or beside it if it is a file with the name
/// that such a folder gives its weights.
TextFiles textsBeside(const std::string& path);
/// One file there, of whatever name.
std::optional<std::string> textBeside(const std::string& path, const std::string& name);

/// Content of one of them; empty: not there.
std::string textOf(const TextFiles& texts, const std::string& name);
/// Adds or replaces one.
void setText(TextFiles& texts, const std::string& name, std::string content);

} // namespace rm
