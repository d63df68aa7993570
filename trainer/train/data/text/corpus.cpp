// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/corpus.h"

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

bool isHidden(const fs::path& path) {
    return path.filename().native().starts_with('.');
}

Result<std::vector<std::string>> filesBelow(const fs::path& folder) {
    std::vector<std::string> files;
    std::error_code error;
    fs::recursive_directory_iterator entry(folder, error);
    while (!error && entry != fs::recursive_directory_iterator()) {
        if (isHidden(entry->path()))
            entry.disable_recursion_pending();
        else if (std::error_code gone; entry->is_regular_file(gone))
            files.push_back(entry->path().string());
        entry.increment(error);
    }
    if (error)
        return failErrno("read training data in " + folder.string(), error.value());
    std::sort(files.begin(), files.end());
    return files;
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
