// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/corpus.h"

#include "shared/counted.h"
#include "shared/io/data_files.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

namespace rm {
namespace fs = std::filesystem;
namespace {

Result<std::vector<std::string>> filesBelow(const std::string& folder) {
    auto names = dataFiles(folder);
    if (!names)
        return failAs("read training data", names.error());
    for (std::string& name : *names)
        name = fs::path(folder) / name;
    return names;
}

Result<std::vector<std::string>> filesAt(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status))
        return failErrno("read training data " + path, error ? error.value() : ENOENT);
    if (fs::is_directory(status))
        return filesBelow(path);
    if (!fs::is_regular_file(status))
        return fail(ErrorCode::kInvalid,
                    "read training data " + path + ": neither a file nor a folder");
    return std::vector{path};
}

/// How much of a text without broken bytes comes before a character that it ends within, if any.
size_t wholeCharacters(std::string_view text) {
    constexpr size_t kLongest = 4; ///< bytes of a character
    for (size_t back = 1; back < kLongest && back <= text.size(); ++back) {
        const std::string last(text.substr(text.size() - back));
        if ((static_cast<unsigned char>(last.front()) & 0xc0) != 0x80)
            return text.size() - (endOfUtf8(last + '\n') == 0u ? back : 0);
    }
    return text.size();
}

} // namespace

Result<std::vector<std::string>> corpusFiles(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    std::set<std::string> known;
    for (const std::string& path : paths) {
        RM_ASSIGN_OR_RETURN(const auto found, filesAt(path));
        if (found.empty())
            return fail(ErrorCode::kInvalid, "read training data " + path + ": no files in it");
        for (const std::string& file : found) {
            std::error_code ignored;
            if (known.insert(fs::canonical(file, ignored).string()).second)
                files.push_back(file);
        }
    }
    return files;
}

Result<std::vector<std::string>> textFiles(const std::vector<std::string>& paths,
                                           Encoding encoding) {
    RM_ASSIGN_OR_RETURN(auto files, corpusFiles(paths));
    for (const std::string& file : files)
        RM_RETURN_IF_ERROR(checkText(file, encoding));
    return files;
}

Result<void> checkText(const std::string& path, Encoding encoding) {
    constexpr size_t kHead = 64 << 10;
    const std::string attempt = "read training data " + path;
    if (path.ends_with(".rmtok"))
        return fail(ErrorCode::kInvalid, attempt + ": it is a shard of tokens, which is no text: "
                                                   "name shards alone, each by its own path");
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                               &std::fclose);
    if (!file)
        return failErrno(attempt, errno);
    std::string head(kHead, '\0');
    head.resize(std::fread(head.data(), 1, head.size(), file.get()));
    if (std::ferror(file.get()))
        return failErrno(attempt, errno);
    if (const std::string why = whyNotText(head); !why.empty())
        return fail(ErrorCode::kInvalid, attempt + ": " + why);
    const auto end = encoding == Encoding::kUtf8 ? endOfUtf8(head) : std::nullopt;
    if (end)
        return fail(ErrorCode::kInvalid,
                    attempt + ": byte " + std::to_string(*end + 1) +
                        " of it is no UTF-8, so that its letters would be lost: convert it first, "
                        "as by iconv -f latin1 -t utf-8, or set data.tokenizer = \"bytes\"");
    return {};
}

void BrokenUtf8::count(const std::string& path, std::string_view text, size_t offset) {
    const auto found = [&](size_t at) {
        if (m_bytes++ == 0)
            m_first = "byte " + std::to_string(offset + at + 1) + " of " + path;
    };
    const int64_t before = m_bytes;
    size_t at = 0;
    for (auto end = endOfUtf8(text); end; end = endOfUtf8(text.substr(at))) {
        at += *end;
        found(at++);
    }
    if (const size_t whole = wholeCharacters(text.substr(at)); whole < text.size() - at)
        found(at + whole);
    if (m_bytes > before)
        m_files.insert(path);
}

void BrokenUtf8::add(const BrokenUtf8& next) {
    if (m_bytes == 0)
        m_first = next.m_first;
    m_bytes += next.m_bytes;
    m_files.insert(next.m_files.begin(), next.m_files.end());
}

std::string BrokenUtf8::words() const {
    if (m_bytes == 0)
        return {};
    return counted(m_bytes, "byte") + " in " + counted(m_files.size(), "file") +
           (m_bytes == 1 ? " is" : " are") +
           " no UTF-8 and read as U+FFFD, so that the letters are lost; the first is " + m_first +
           ". Convert the text, as by iconv -f latin1 -t utf-8, or set data.tokenizer = \"bytes\"";
}

size_t lengthOfPart(std::string_view text, size_t most) {
    if (text.size() <= most)
        return text.size();
    const size_t space = text.rfind(' ', most);
    if (space != std::string_view::npos && space > most / 2)
        return space;
    size_t end = most;
    while (end > 1 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end;
    return end;
}

Result<std::string> readText(const std::string& path) {
    const std::string attempt = "read training data " + path;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                               &std::fclose);
    if (!file)
        return failErrno(attempt, errno);
    std::error_code error;
    const auto size = fs::file_size(path, error);
    if (error)
        return failErrno(attempt, error.value());
    std::string text(size, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    if (std::ferror(file.get()))
        return failErrno(attempt, errno);
    return text;
}

} // namespace rm
