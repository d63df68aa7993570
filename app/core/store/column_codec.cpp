// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/column_codec.h"

#include "shared/enforce.h"
#include "shared/return_if_error.h"

#include <zstd.h>

#include <bit>
#include <memory>
#include <utility>

namespace rm {

namespace {

/// Stored: never renumber.
enum class Method : uint8_t {
    kPlain = 0,       ///< the values
    kDelta = 1,       ///< differences, the first against 0
    kDeltaOfDelta = 2 ///< differences of those
};

constexpr int kZstdLevel = 3;
constexpr size_t kMaxCount = 1u << 24; ///< above the length of any chunk

ZSTD_CCtx* compressor() {
    thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> owner(ZSTD_createCCtx(),
                                                                                  &ZSTD_freeCCtx);
    return owner.get();
}

ZSTD_DCtx* decompressor() {
    thread_local const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> owner(ZSTD_createDCtx(),
                                                                                  &ZSTD_freeDCtx);
    return owner.get();
}

/// Groups byte k of all values, so that bytes that vary little are neighbours.
template <class Word>
std::vector<std::byte> toPlanes(const std::vector<Word>& words) {
    std::vector<std::byte> planes(words.size() * sizeof(Word));
    for (size_t plane = 0; plane < sizeof(Word); ++plane) {
        std::byte* out = planes.data() + plane * words.size();
        for (size_t i = 0; i < words.size(); ++i)
            out[i] = static_cast<std::byte>(words[i] >> (8 * plane));
    }
    return planes;
}

template <class Word>
std::vector<Word> fromPlanes(const std::vector<std::byte>& planes) {
    std::vector<Word> words(planes.size() / sizeof(Word));
    for (size_t plane = 0; plane < sizeof(Word); ++plane) {
        const std::byte* in = planes.data() + plane * words.size();
        for (size_t i = 0; i < words.size(); ++i)
            words[i] |= static_cast<Word>(in[i]) << (8 * plane);
    }
    return words;
}

/// Signed differences near 0 become small unsigned words.
template <class Word>
Word zigzag(Word word) {
    const Word sign = word >> (8 * sizeof(Word) - 1);
    return (word << 1) ^ (Word(0) - sign);
}

template <class Word>
Word unzigzag(Word word) {
    return (word >> 1) ^ (Word(0) - (word & 1));
}

template <class Word>
std::vector<Word> differences(const std::vector<Word>& words) {
    std::vector<Word> out(words.size());
    Word previous = 0;
    for (size_t i = 0; i < words.size(); ++i)
        out[i] = words[i] - std::exchange(previous, words[i]);
    return out;
}

template <class Word>
void sumUp(std::vector<Word>& words) {
    Word sum = 0;
    for (Word& word : words)
        word = sum += word;
}

template <class Word>
std::vector<std::byte> pack(Method method, std::vector<Word> words) {
    if (method != Method::kPlain)
        for (Word& word : words)
            word = zigzag(word);
    const auto planes = toPlanes(words);
    std::vector<std::byte> out(1 + ZSTD_compressBound(planes.size()));
    out[0] = static_cast<std::byte>(method);
    const size_t size = ZSTD_compressCCtx(compressor(), out.data() + 1, out.size() - 1,
                                          planes.data(), planes.size(), kZstdLevel);
    RM_ENFORCE(!ZSTD_isError(size));
    out.resize(1 + size);
    out.shrink_to_fit();
    return out;
}

tl::unexpected<Error> damagedColumn() {
    return fail(ErrorCode::kCorrupt, "read a column of samples: damaged");
}

template <class Word>
Result<std::vector<Word>> unpack(std::span<const std::byte> bytes, size_t count) {
    if (bytes.empty() || bytes[0] > static_cast<std::byte>(Method::kDeltaOfDelta) ||
        count > kMaxCount)
        return damagedColumn();
    std::vector<std::byte> planes(count * sizeof(Word));
    const size_t size = ZSTD_decompressDCtx(decompressor(), planes.data(), planes.size(),
                                            bytes.data() + 1, bytes.size() - 1);
    if (ZSTD_isError(size) || size != planes.size())
        return damagedColumn();
    std::vector<Word> words = fromPlanes<Word>(planes);
    const auto method = static_cast<Method>(bytes[0]);
    if (method == Method::kPlain)
        return words;
    for (Word& word : words)
        word = unzigzag(word);
    sumUp(words);
    if (method == Method::kDeltaOfDelta)
        sumUp(words);
    return words;
}

} // namespace

std::vector<std::byte> encodeColumn(std::span<const int64_t> values) {
    const std::vector<uint64_t> words(values.begin(), values.end());
    const auto first = differences(words);
    auto delta = pack(Method::kDelta, first);
    auto second = pack(Method::kDeltaOfDelta, differences(first));
    return second.size() < delta.size() ? second : delta;
}

std::vector<std::byte> encodeColumn(std::span<const float> values) {
    std::vector<uint32_t> words(values.size());
    for (size_t i = 0; i < values.size(); ++i)
        words[i] = std::bit_cast<uint32_t>(values[i]);
    auto plain = pack(Method::kPlain, words);
    auto delta = pack(Method::kDelta, differences(words));
    return delta.size() < plain.size() ? delta : plain;
}

Result<std::vector<int64_t>> decodeIntegers(std::span<const std::byte> bytes, size_t count) {
    RM_ASSIGN_OR_RETURN(const auto words, unpack<uint64_t>(bytes, count));
    return std::vector<int64_t>(words.begin(), words.end());
}

Result<std::vector<float>> decodeFloats(std::span<const std::byte> bytes, size_t count) {
    RM_ASSIGN_OR_RETURN(const auto words, unpack<uint32_t>(bytes, count));
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i)
        values[i] = std::bit_cast<float>(words[i]);
    return values;
}

} // namespace rm
