// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/tokenizer_file.h"

#include "shared/io/data_files.h"
#include "shared/io/file.h"
#include "trainer/train/data/text/tokenizer.h"

#include <filesystem>

namespace rm {
namespace fs = std::filesystem;

Result<std::string> readTokenizerFile(const RunSpec::Data& data) {
    fs::path path = data.tokenizerFile;
    std::error_code ignored;
    if (const char* name = tokenizerModelFile(data); name && fs::is_directory(path, ignored))
        path /= name;
    constexpr const char* kAttempt = "read the tokenizer of data.tokenizer_file";
    auto text = readFile(path.string());
    if (!text)
        return failAs(kAttempt, text.error());
    if (const std::string why = whyNotFetched(*text); !why.empty())
        return failAs(kAttempt, {ErrorCode::kCorrupt, path.string() + ": " + why});
    return text;
}

TextFiles filesBesideTokenizer(const std::string& folder) {
    TextFiles files;
    for (const char* name : {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"})
        if (auto text = readFile(folder + "/" + name))
            files.emplace_back(name, std::move(*text));
    return files;
}

} // namespace rm
