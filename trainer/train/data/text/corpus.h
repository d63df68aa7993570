// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// The files behind the paths of a spec: a file stands for itself, a folder for every regular
/// file below it (shared/io/data_files.h). Sorted within a folder; a file reached twice, for
/// example by a symbolic link, counts once. kNotFound / kDenied / kInvalid (nothing there) name the
/// path.
Result<std::vector<std::string>> corpusFiles(const std::vector<std::string>& paths);

/// Whether a text has to be UTF-8, as for every tokenizer but that of bytes.
enum class Encoding { kAny, kUtf8 };

/// The same of files that are read as text: kInvalid names one that is none, as a compressed one.
Result<std::vector<std::string>> textFiles(const std::vector<std::string>& paths,
                                           Encoding encoding);

/// kInvalid: its beginning says that it is no text, or not of that encoding. What follows is told
/// by BrokenUtf8 once it is read.
Result<void> checkText(const std::string& path, Encoding encoding);

/// Counts the bytes of texts that are no UTF-8. A tokenizer that reads UTF-8 takes each for U+FFFD,
/// so that the letter that was meant is lost.
class BrokenUtf8 {
public:
    /// Adds those of `text`, which begins at byte `offset` of the file.
    void count(const std::string& path, std::string_view text, size_t offset = 0);
    /// Adds those of texts that follow.
    void add(const BrokenUtf8& next);

    /// For people: how many in how many files, where the first is, and what to do. Empty: none.
    std::string words() const;

private:
    int64_t m_bytes = 0;
    std::set<std::string> m_files;
    std::string m_first; ///< "byte 70001 of FILE"
};

/// Where a text is parted that may have no line breaks: how much of it, at most `most` bytes, ends
/// before a space or, if there is none in its second half, with a whole character.
size_t lengthOfPart(std::string_view text, size_t most);

/// One file of text. The error names the path.
Result<std::string> readText(const std::string& path);

} // namespace rm
