// SPDX-License-Identifier: Apache-2.0
#include "shared/io/file.h"

#include "shared/enforce.h"
#include "shared/io/descriptor.h"
#include "shared/io/file_hash.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <vector>

namespace rm {

namespace {

constexpr size_t kReadBlock = 1 << 20;

std::string folderOf(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

std::string temporaryBeside(const std::string& path) {
    static std::atomic<int> counter{0};
    const std::string name = std::filesystem::path(path).filename().string();
    return folderOf(path) + "/." + name + ".tmp-" + std::to_string(::getpid()) + "-" +
           std::to_string(counter++);
}

// Errors name the file that the caller asked for, not the temporary one.
Result<void> writeAndSync(const std::string& temporary, const std::string& path,
                          std::string_view text) {
    const Descriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file)
        return failErrno("write " + path, errno);
    if (auto done = writeAll(file.get(), std::as_bytes(std::span(text)), path); !done)
        return done;
    if (::fsync(file.get()) != 0)
        return failErrno("sync " + path, errno);
    return {};
}

Result<void> syncPath(const std::string& path, int flags) {
    RM_ASSIGN_OR_RETURN(auto file, openFile(path, flags));
    if (::fsync(file.get()) != 0)
        return failErrno("sync " + path, errno);
    return {};
}

/// 0, or errno.
int makeFolder(const std::string& path) {
    struct stat info {};
    if (::mkdir(path.c_str(), 0700) == 0)
        return 0;
    const int error = errno;
    return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) ? 0 : error;
}

class Sha256 {
public:
    Sha256()
        : m_context(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
        // A node's openssl.cnf may name providers that this copy of libcrypto cannot load.
        static const int ready = OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
        RM_ENFORCE(ready == 1 && m_context);
        RM_ENFORCE(EVP_DigestInit_ex(m_context.get(), EVP_sha256(), nullptr) == 1);
    }

    void add(std::span<const std::byte> bytes) {
        RM_ENFORCE(EVP_DigestUpdate(m_context.get(), bytes.data(), bytes.size()) == 1);
    }

    std::string hex() {
        unsigned char digest[32];
        RM_ENFORCE(EVP_DigestFinal_ex(m_context.get(), digest, nullptr) == 1);
        std::string text;
        for (const unsigned char byte : digest) {
            text += "0123456789abcdef"[byte >> 4];
            text += "0123456789abcdef"[byte & 15];
        }
        return text;
    }

private:
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> m_context;
};

} // namespace

Result<std::string> readFile(const std::string& path, size_t maxBytes) {
    RM_ASSIGN_OR_RETURN(auto file, openFile(path, O_RDONLY));
    std::string text;
    for (;;) {
        const size_t done = text.size();
        const size_t block = std::min<size_t>(64 << 10, maxBytes - done + 1);
        text.resize(done + block);
        RM_ASSIGN_OR_RETURN(
            auto got,
            readSome(file.get(), std::as_writable_bytes(std::span(text)).subspan(done), path));
        text.resize(done + got);
        if (text.size() > maxBytes)
            return fail(ErrorCode::kInvalid,
                        "read " + path + ": larger than " + std::to_string(maxBytes) + " bytes");
        if (got < block)
            return text;
    }
}

std::string behindLinks(const std::string& path) {
    constexpr int kMostLinks = 40; // as the kernel's
    std::filesystem::path at = path;
    std::error_code error;
    for (int i = 0; i < kMostLinks; ++i) {
        if (!std::filesystem::is_symlink(std::filesystem::symlink_status(at, error)))
            return at.string();
        const auto target = std::filesystem::read_symlink(at, error);
        if (error)
            return path;
        at = at.parent_path() / target;
    }
    return path;
}

Result<void> writeFileAtomically(const std::string& path, std::string_view text) {
    const std::string temporary = temporaryBeside(path);
    auto done = writeAndSync(temporary, path, text);
    if (done && ::rename(temporary.c_str(), path.c_str()) != 0)
        done = failErrno("write " + path, errno);
    if (!done) {
        ::unlink(temporary.c_str());
        return done;
    }
    return syncFolder(folderOf(path));
}

Result<void> makeFolders(const std::string& path) {
    constexpr int kMostTries = 16; // a folder above may be removed by another process meanwhile
    std::string part;
    int error = ENOENT;
    for (int tries = 0; error == ENOENT && tries < kMostTries; ++tries) {
        error = 0;
        for (size_t end = 0; error == 0 && end != std::string::npos;) {
            end = path.find('/', end + 1);
            part = path.substr(0, end);
            error = makeFolder(part);
        }
    }
    return error == 0 ? Result<void>() : failErrno("create folder " + part, error);
}

int whyNotWritten(const std::string& folder, size_t bytes) {
    // Each of several that try at once has a name of its own.
    std::string path = folder + "/.ringmaster-XXXXXX";
    Descriptor file(::mkostemp(path.data(), O_CLOEXEC));
    if (!file)
        return errno;
    const std::string block(bytes, '\0');
    const ssize_t written = ::write(file.get(), block.data(), block.size());
    int error = written == static_cast<ssize_t>(block.size()) ? 0 : written < 0 ? errno : ENOSPC;
    if (::close(file.release()) != 0 && error == 0) // NFS tells here of a quota
        error = errno;
    ::unlink(path.c_str());
    return error;
}

Result<void> syncFile(const std::string& path) {
    return syncPath(path, O_RDONLY);
}

Result<void> syncFolder(const std::string& path) {
    return syncPath(path, O_RDONLY | O_DIRECTORY);
}

std::string sha256Hex(std::span<const std::byte> bytes) {
    return sha256HexOfParts({bytes});
}

std::string sha256HexOfParts(const std::vector<std::span<const std::byte>>& parts) {
    Sha256 hash;
    for (const std::span<const std::byte> part : parts)
        hash.add(part);
    return hash.hex();
}

Result<std::string> sha256HexOfFile(const std::string& path) {
    return sha256HexOfFile(path, [] {});
}

Result<std::string> sha256HexOfFile(const std::string& path, const std::function<void()>& onRead) {
    RM_ASSIGN_OR_RETURN(auto file, openFile(path, O_RDONLY));
    std::vector<std::byte> block(kReadBlock);
    Sha256 hash;
    for (;;) {
        RM_ASSIGN_OR_RETURN(const auto got, readSome(file.get(), block, path));
        hash.add(std::span(block).first(got));
        onRead();
        if (got < block.size())
            return hash.hex();
    }
}

} // namespace rm
