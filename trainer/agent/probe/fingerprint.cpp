// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/fingerprint.h"

#include "shared/io/bytes.h"
#include "shared/io/descriptor.h"
#include "shared/io/file.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

namespace rm {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostFiles = 100'000;
constexpr int64_t kMostContents = 64 << 20;
constexpr size_t kSample = 64 << 10;

class Fingerprint {
public:
    void add(const fs::path& path) {
        std::error_code error;
        if (fs::is_directory(path, error))
            addFolder(path, "");
        else if (fs::is_regular_file(path, error))
            addFile(path, path.filename().string());
    }

    Json report() const {
        return {{"files", m_files}, {"bytes", m_bytes}, {"digest", m_digest}, {"whole", m_isWhole}};
    }

private:
    /// Adds its entries by name, as each file system has an order of its own.
    void addFolder(const fs::path& folder, const std::string& below) {
        std::vector<fs::path> entries;
        std::error_code error;
        for (fs::directory_iterator at(folder, error), end; !error && at != end;
             at.increment(error))
            entries.push_back(at->path());
        std::ranges::sort(entries);
        for (const fs::path& entry : entries) {
            const std::string name = below + '/' + entry.filename().string();
            if (m_files >= kMostFiles)
                m_isWhole = false;
            else if (fs::is_directory(entry, error) && !fs::is_symlink(entry, error))
                addFolder(entry, name);
            else if (fs::is_regular_file(entry, error))
                addFile(entry, name);
        }
    }

    void addFile(const fs::path& path, const std::string& name) {
        std::error_code error;
        const uintmax_t size = fs::file_size(path, error);
        if (error)
            return;
        ++m_files;
        m_bytes += static_cast<int64_t>(size);
        std::string facts = m_digest + name + '\n' + std::to_string(size) + '\n';
        if (m_read < kMostContents)
            facts += endsOf(path, size);
        m_digest = sha256Hex(std::as_bytes(std::span(facts)));
    }

    std::string endsOf(const fs::path& path, uintmax_t size) {
        const auto file = openFile(path.string(), O_RDONLY);
        std::string ends;
        std::vector<char> buffer(kSample);
        const auto read = [&](uintmax_t offset) {
            const ssize_t got =
                file ? ::pread(file->get(), buffer.data(), kSample, static_cast<off_t>(offset)) : 0;
            ends.append(buffer.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
        };
        read(0);
        if (size > kSample)
            read(size - kSample);
        m_read += static_cast<int64_t>(ends.size());
        return ends;
    }

    int64_t m_files = 0;
    int64_t m_bytes = 0;
    int64_t m_read = 0;
    bool m_isWhole = true;
    std::string m_digest;
};

} // namespace

Result<std::string> fingerprintReport(const std::string& list) {
    RM_ASSIGN_OR_RETURN(const Json paths, parseJson(list, "stdin"));
    if (!paths.is_array())
        return fail(ErrorCode::kInvalid, "fingerprint: stdin must hold a list of paths");
    Fingerprint all;
    for (const Json& path : paths) {
        if (!path.is_string())
            return fail(ErrorCode::kInvalid, "fingerprint: a path must be a text");
        all.add(path.get<std::string>());
    }
    return dumpJson(all.report()) + "\n";
}

} // namespace rm
