// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/interchange/folder_texts.h"

#include "shared/io/file.h"

#include <algorithm>
#include <filesystem>

namespace rm {
namespace fs = std::filesystem;
namespace {

constexpr const char* kNames[] = {
    "config.json",       "generation_config.json",
    "tokenizer.json",    "tokenizer_config.json",
    "tokenizer.model",   "special_tokens_map.json",
    "vocab.json",        "merges.txt",
    "source.spm",        "target.spm",
    "target_vocab.json",
};

/// A single file belongs to its folder only by such a name.
bool isOfAFolder(const fs::path& path) {
    return path.filename() == "model.safetensors" || path.filename() == "pytorch_model.bin";
}

} // namespace

TextFiles textsBeside(const std::string& path) {
    std::error_code ignored;
    fs::path folder = path;
    TextFiles texts;
    if (!fs::is_directory(folder, ignored)) {
        if (!isOfAFolder(folder))
            return texts;
        folder = folder.parent_path();
    }
    for (const char* name : kNames)
        if (fs::is_regular_file(folder / name, ignored))
            if (auto text = readFile((folder / name).string()))
                texts.emplace_back(name, std::move(*text));
    return texts;
}

std::string textOf(const TextFiles& texts, const std::string& name) {
    const auto at = std::ranges::find(texts, name, &TextFiles::value_type::first);
    return at == texts.end() ? std::string() : at->second;
}

void setText(TextFiles& texts, const std::string& name, std::string content) {
    const auto at = std::ranges::find(texts, name, &TextFiles::value_type::first);
    if (at != texts.end())
        at->second = std::move(content);
    else
        texts.emplace_back(name, std::move(content));
}

} // namespace rm
