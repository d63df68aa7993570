// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/formats/torch_file.h"

#include "shared/io/descriptor.h"
#include "shared/return_if_error.h"
#include "trainer/train/formats/own_process.h"
#include "trainer/train/formats/torch_archive.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace rm {
namespace fs = std::filesystem;
namespace {

// Memory that reading may take in addition to a multiple of the file's size.
constexpr uint64_t kSpareMemory = uint64_t{1} << 30;
constexpr uint64_t kMaxSeconds = 1800;

std::string beginOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::array<char, 32> begin{};
    file.read(begin.data(), begin.size());
    return {begin.data(), static_cast<size_t>(file.gcount())};
}

/// A temporary file, removed with this object; the other process writes to it by name.
class TemporaryFile {
public:
    TemporaryFile() = default;
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        if (!m_path.empty())
            ::unlink(m_path.c_str());
    }

    Result<void> make() {
        std::error_code error;
        const fs::path folder = fs::temp_directory_path(error);
        std::string path = (folder / "ringmaster-weights-XXXXXX").string();
        const Descriptor file(::mkostemp(path.data(), O_CLOEXEC));
        if (!file)
            return failErrno("make a file in " + folder.string() + " (TMPDIR)", errno);
        m_path = std::move(path);
        return {};
    }

    const std::string& path() const { return m_path; }

private:
    std::string m_path;
};

void limit(__rlimit_resource what, uint64_t to) {
    const rlimit value{to, to};
    static_cast<void>(::setrlimit(what, &value)); // best effort: it may be lower already
}

/// Limits this process to the resources that reading the file may need.
void confineMyself(uint64_t fileSize) {
    limit(RLIMIT_DATA, kSpareMemory + 3 * fileSize);
    limit(RLIMIT_FSIZE, kSpareMemory + fileSize);
    limit(RLIMIT_CPU, kMaxSeconds);
    limit(RLIMIT_CORE, 0);
}

Result<Weights> readHere(const std::string& path, uint64_t size) {
    if (beginOf(path).starts_with("PK")) {
        std::ifstream file(path, std::ios::binary);
        return readTorchArchive(file, path, kSpareMemory / 2 + size);
    }
    RM_ASSIGN_OR_RETURN(const auto file, openFile(path, O_RDONLY));
    void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (mapped == MAP_FAILED)
        return failErrno("map " + path, errno);
    return readTorchPickles({static_cast<const std::byte*>(mapped), size}, path);
}

} // namespace

bool looksLikeTorchFile(const std::string& path) {
    const std::string begin = beginOf(path);
    return begin.starts_with("PK\x03\x04") || beginsAsTorchPickles(std::as_bytes(std::span(begin)));
}

Result<Weights> readTorchFile(const std::string& path) {
    TemporaryFile unpacked;
    RM_RETURN_IF_ERROR(unpacked.make());
    RM_RETURN_IF_ERROR(runOwnProgram({"unpack", path, unpacked.path()}, "read " + path));
    return readSafetensors(unpacked.path());
}

Result<void> unpackTorchFile(const std::string& path, const std::string& out) {
    std::error_code error;
    const uint64_t size = fs::file_size(path, error);
    if (error)
        return failErrno("read " + path, error.value());
    confineMyself(size);
    const auto weights = readHere(path, size);
    return weights ? writeWeights(out, *weights) : tl::unexpected(weights.error());
}

} // namespace rm
