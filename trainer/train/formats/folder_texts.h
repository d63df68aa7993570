// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/checkpoint/text_files.h"

#include <optional>
#include <string>

namespace rm {

/// The small files that Hugging Face's loaders expect beside weights: config.json and tokenizer
/// files, if they exist in the folder `path`, or beside the file `path` if it has the name of a
/// weights file of such a folder.
TextFiles textsBeside(const std::string& path);
/// The content of the file `name` there, which may be any name.
std::optional<std::string> textBeside(const std::string& path, const std::string& name);

/// The content of the text `name`; empty: there is none.
std::string textOf(const TextFiles& texts, const std::string& name);
/// Adds or replaces a text.
void setText(TextFiles& texts, const std::string& name, std::string content);

} // namespace rm
