// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/fingerprint.h"

#include "shared/io/bytes.h"
#include "shared/io/clock.h"
#include "shared/io/data_files.h"
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
constexpr int64_t kLongest = 3600; ///< seconds
constexpr int64_t kSecondNs = 1'000'000'000;

class Fingerprint {
public:
    Fingerprint(int64_t seconds, Repeated repeated)
        : m_endNs(monotonicNowNs() + seconds * kSecondNs)
        , m_repeated(repeated) {}

    bool tookTooLong() const { return m_tookTooLong; }
    void add(const fs::path& path) {
        std::error_code error;
        if (isOver())
            return;
        if (fs::is_directory(path, error))
            addFolder(path);
        else if (fs::is_regular_file(path, error))
            addFile(path, path.filename().string());
    }

    Json report() const {
        return {{"files", m_files}, {"bytes", m_bytes}, {"digest", m_digest}, {"whole", m_isWhole}};
    }

private:
    bool isOver() {
        m_tookTooLong = m_tookTooLong || monotonicNowNs() > m_endNs;
        return m_tookTooLong;
    }

    /// Adds what the trainer reads of it.
    void addFolder(const fs::path& folder) {
        const auto visit = [&](const std::string& name) {
            m_isWhole = m_isWhole && m_files < kMostFiles;
            if (m_isWhole && !isOver())
                addFile(folder / name, '/' + name);
            return m_isWhole && !isOver();
        };
        const auto visited = visitDataFiles(folder.string(), visit, m_repeated);
        // What cannot be read is said by who trains on it.
        m_isWhole = m_isWhole && visited;
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

    const int64_t m_endNs;
    const Repeated m_repeated;
    bool m_tookTooLong = false;
    int64_t m_files = 0;
    int64_t m_bytes = 0;
    int64_t m_read = 0;
    bool m_isWhole = true;
    std::string m_digest;
};

} // namespace

Result<std::string> fingerprintReport(const std::string& order) {
    RM_ASSIGN_OR_RETURN(const Json request, parseJson(order, "stdin"));
    const Json* paths = arrayAt(request, "paths");
    if (!paths)
        return fail(ErrorCode::kInvalid, "fingerprint: stdin must hold a list of paths");
    const int64_t seconds = intAt(request, "seconds").value_or(-1);
    if (seconds < 0 || seconds > kLongest)
        return fail(ErrorCode::kInvalid, "fingerprint: stdin must hold seconds, 0 to 3600");
    // As the trainer reads it: a picture counts under each of its names.
    const bool arePictures = boolAt(request, "pictures").value_or(false);
    Fingerprint all(seconds, arePictures ? Repeated::kAlways : Repeated::kOnce);
    for (const Json& path : *paths) {
        if (!path.is_string())
            return fail(ErrorCode::kInvalid, "fingerprint: a path must be a text");
        all.add(path.get<std::string>());
    }
    if (all.tookTooLong())
        return fail(ErrorCode::kUnavailable, "fingerprint: there are more files than can be looked "
                                             "at in " +
                                                 std::to_string(seconds) + " s");
    return dumpJson(all.report()) + "\n";
}

} // namespace rm
