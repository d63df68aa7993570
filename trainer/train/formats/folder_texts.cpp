// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/formats/folder_texts.h"

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

/// Whether a weights file has a name by which it belongs to its folder.
bool isOfAFolder(const fs::path& path) {
    return path.filename() == "model.safetensors" || path.filename() == "pytorch_model.bin";
}

} // namespace

TextFiles textsBeside(const std::string& path) {
    TextFiles texts;
    for (const char* name : kNames)
        if (auto text = textBeside(path, name))
            texts.emplace_back(name, std::move(*text));
    return texts;
}

std::optional<std::string> textBeside(const std::string& path, const std::string& name) {
    std::error_code ignored;
    fs::path folder = path;
    if (!fs::is_directory(folder, ignored)) {
        if (!isOfAFolder(folder))
            return std::nullopt;
        folder = folder.parent_path();
    }
    if (!fs::is_regular_file(folder / name, ignored))
        return std::nullopt;
    auto text = readFile((folder / name).string());
    return text ? std::optional(std::move(*text)) : std::nullopt;
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
