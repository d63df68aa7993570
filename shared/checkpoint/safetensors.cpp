// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/safetensors.h"

#include "shared/io/bytes.h"
#include "shared/io/descriptor.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

namespace rm {

namespace {

using OrderedJson = nlohmann::ordered_json;

// The format aligns the tensors' bytes to 8; spaces pad the header.
constexpr size_t kHeaderAlignment = 8;

bool fitsItsBytes(const TensorView& tensor) {
    uint64_t bytes = safetensorsItemSize(tensor.dtype);
    for (const int64_t dimension : tensor.shape)
        if (dimension < 0 || __builtin_mul_overflow(bytes, uint64_t(dimension), &bytes))
            return false;
    return safetensorsItemSize(tensor.dtype) > 0 && bytes == tensor.data.size();
}

Result<void> checkTensors(const std::string& path, const std::vector<TensorView>& tensors) {
    std::set<std::string> names;
    for (const TensorView& tensor : tensors) {
        const std::string attempt = "write tensor \"" + tensor.name + "\" to " + path + ": ";
        if (tensor.name.empty() || tensor.name == "__metadata__")
            return fail(ErrorCode::kInvalid, attempt + "not a name");
        if (!names.insert(tensor.name).second)
            return fail(ErrorCode::kInvalid, attempt + "the name is used twice");
        if (!fitsItsBytes(tensor))
            return fail(ErrorCode::kInvalid, attempt + "its " + std::to_string(tensor.data.size()) +
                                                 " bytes do not fit its shape and dtype " +
                                                 tensor.dtype);
    }
    return {};
}

std::vector<std::byte> headerOf(const std::vector<TensorView>& tensors,
                                const TensorMetadata& metadata) {
    OrderedJson json = OrderedJson::object();
    if (!metadata.empty())
        json["__metadata__"] = metadata;
    uint64_t offset = 0;
    for (const TensorView& tensor : tensors) {
        const uint64_t end = offset + tensor.data.size();
        json.push_back(
            {tensor.name,
             {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}}});
        offset = end;
    }
    std::string text = json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    text.resize((text.size() + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment, ' ');
    std::vector<std::byte> header;
    appendInt(header, uint64_t(text.size()));
    const auto bytes = std::as_bytes(std::span(text));
    header.insert(header.end(), bytes.begin(), bytes.end());
    return header;
}

Result<void> writeParts(const std::string& path, const std::vector<TensorView>& tensors,
                        const TensorMetadata& metadata) {
    RM_ASSIGN_OR_RETURN(auto file, openFile(path, O_WRONLY | O_CREAT | O_TRUNC));
    auto done = writeAll(file.get(), headerOf(tensors, metadata), path);
    for (size_t i = 0; done && i < tensors.size(); ++i) {
        done = writeAll(file.get(), tensors[i].data, path);
        // The disk works meanwhile; the caller's sync waits for the rest alone.
        ::sync_file_range(file.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
    }
    return done;
}

} // namespace

Result<void> writeSafetensors(const std::string& path, const std::vector<TensorView>& tensors,
                              const TensorMetadata& metadata) {
    if (auto valid = checkTensors(path, tensors); !valid)
        return valid;
    auto done = writeParts(path, tensors, metadata);
    if (!done)
        ::unlink(path.c_str());
    return done;
}

std::string sha256OfSafetensors(const std::vector<TensorView>& tensors,
                                const TensorMetadata& metadata) {
    const std::vector<std::byte> header = headerOf(tensors, metadata);
    std::vector<std::span<const std::byte>> parts{header};
    for (const TensorView& tensor : tensors)
        parts.push_back(tensor.data);
    return sha256HexOfParts(parts);
}

struct SafetensorsFile::Impl {
    Impl() = default;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        if (memory)
            ::munmap(memory, size);
    }

    Result<void> map(const std::string& path);

    void* memory = nullptr;
    size_t size = 0;
    std::vector<TensorView> tensors;
    TensorMetadata metadata;
    std::map<std::string, size_t> byName;
};

Result<void> SafetensorsFile::Impl::map(const std::string& path) {
    RM_ASSIGN_OR_RETURN(auto file, openFile(path, O_RDONLY));
    struct stat info {};
    if (::fstat(file.get(), &info) != 0)
        return failErrno("open " + path, errno);
    if (!S_ISREG(info.st_mode) || info.st_size == 0)
        return fail(ErrorCode::kCorrupt, "read " + path + ": not a safetensors file");
    void* mapped = ::mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (mapped == MAP_FAILED)
        return failErrno("map " + path, errno);
    memory = mapped;
    size = size_t(info.st_size);
    return {};
}

SafetensorsFile::SafetensorsFile()
    : m_impl(std::make_unique<Impl>()) {}
SafetensorsFile::SafetensorsFile(SafetensorsFile&&) noexcept = default;
SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&&) noexcept = default;
SafetensorsFile::~SafetensorsFile() = default;

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
    SafetensorsFile file;
    Impl& impl = *file.m_impl;
    RM_RETURN_IF_ERROR(impl.map(path));
    RM_ASSIGN_OR_RETURN(
        auto parsed,
        parseSafetensors({static_cast<const std::byte*>(impl.memory), impl.size}, path));
    std::tie(impl.tensors, impl.metadata) = std::move(parsed);
    for (size_t i = 0; i < impl.tensors.size(); ++i)
        impl.byName.emplace(impl.tensors[i].name, i);
    return file;
}

const std::vector<TensorView>& SafetensorsFile::tensors() const {
    return m_impl->tensors;
}

const TensorMetadata& SafetensorsFile::metadata() const {
    return m_impl->metadata;
}

const TensorView* SafetensorsFile::find(const std::string& name) const {
    const auto found = m_impl->byName.find(name);
    return found != m_impl->byName.end() ? &m_impl->tensors[found->second] : nullptr;
}

} // namespace rm
