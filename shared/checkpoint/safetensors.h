// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rm {

/// The safetensors file format (https://github.com/huggingface/safetensors, README "Format"):
/// u64 header length | JSON header | tensors, little-endian, contiguous and gap-free.

/// dtype as the format spells it: "F32", "BF16", "F16", "F64", "I64", "I32", "U8", "BOOL".
size_t safetensorsItemSize(const std::string& dtype); ///< bytes; 0: unknown

struct TensorView {
    std::string name;
    std::string dtype;
    std::vector<int64_t> shape;
    std::span<const std::byte> data; ///< borrowed
};

using TensorMetadata = std::map<std::string, std::string>;

/// Writes `path`, which the disk begins to take; the caller syncs it. Tensors keep their order.
/// kInvalid: duplicate or empty name, size that does not fit shape and dtype.
Result<void> writeSafetensors(const std::string& path, const std::vector<TensorView>& tensors,
                              const TensorMetadata& metadata);

/// SHA-256 in hex of the file that writeSafetensors() makes of them, from the tensors' own bytes.
std::string sha256OfSafetensors(const std::vector<TensorView>& tensors,
                                const TensorMetadata& metadata);

/// A file mapped read-only; views stay valid as long as it lives.
class SafetensorsFile {
public:
    /// Checks everything: header size (<= 100 MB) and JSON, dtypes, shapes without overflow,
    /// offsets in range, no overlap, no gap. kCorrupt names file and tensor.
    static Result<SafetensorsFile> open(const std::string& path);
    SafetensorsFile(SafetensorsFile&&) noexcept;
    SafetensorsFile& operator=(SafetensorsFile&&) noexcept;
    ~SafetensorsFile();

    const std::vector<TensorView>& tensors() const; ///< by offset
    const TensorMetadata& metadata() const;
    const TensorView* find(const std::string& name) const; ///< nullptr: none

private:
    SafetensorsFile();
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Parses the header, for SafetensorsFile and the fuzzer. The views point into `file`.
Result<std::pair<std::vector<TensorView>, TensorMetadata>>
parseSafetensors(std::span<const std::byte> file, const std::string& source);

} // namespace rm
