// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/safetensors.h"
#include "shared/io/bytes.h"
#include "shared/io/data_files.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <set>

namespace rm {

namespace {

using Json = nlohmann::json;

constexpr uint64_t kMaxHeader = 100'000'000;
constexpr const char* kMetadataName = "__metadata__";

struct Entry {
    TensorView tensor;
    std::vector<uint64_t> offsets;
};

/// Reads the header as a stream of parser events, so that a hostile one is never built as a tree in
/// memory: parsing ends at the first thing that does not belong there.
class HeaderReader : public nlohmann::json_sax<Json> {
public:
    std::vector<Entry> entries;
    TensorMetadata metadata;
    std::string cause;

    bool null() override { return refuse("null"); }
    bool boolean(bool) override { return refuse("a truth value"); }
    bool number_integer(number_integer_t) override { return refuse("a negative number"); }
    bool number_float(number_float_t, const string_t&) override { return refuse("a fraction"); }
    bool binary(binary_t&) override { return refuse("binary data"); }

    bool number_unsigned(number_unsigned_t value) override {
        if (m_state == State::kShape && value <= number_unsigned_t(INT64_MAX))
            entries.back().tensor.shape.push_back(int64_t(value));
        else if (m_state == State::kOffsets && entries.back().offsets.size() < 2)
            entries.back().offsets.push_back(value);
        else
            return refuse("the number " + std::to_string(value));
        return true;
    }

    bool string(string_t& value) override {
        if (m_state == State::kMetadata && !m_key.empty())
            return metadata.emplace(m_key, value).second || refuse("a key twice");
        if (m_state != State::kTensor || m_key != "dtype")
            return refuse("a text");
        entries.back().tensor.dtype = value;
        return true;
    }

    bool key(string_t& value) override {
        m_key = value;
        if (m_state == State::kTop)
            return m_names.insert(value).second || refuse("the name \"" + value + "\" twice");
        if (m_state == State::kTensor)
            return m_members.insert(value).second || refuse("\"" + value + "\" twice");
        return true;
    }

    bool start_object(std::size_t) override {
        if (m_state == State::kBegin)
            m_state = State::kTop;
        else if (m_state == State::kTop)
            beginEntry();
        else
            return refuse("an object");
        return true;
    }

    bool end_object() override {
        if (m_state == State::kTensor && m_members.size() != 3)
            return refuse("other members than dtype, shape and data_offsets");
        m_state = m_state == State::kTop ? State::kEnd : State::kTop;
        return true;
    }

    bool start_array(std::size_t) override {
        if (m_state == State::kTensor && m_key == "shape")
            m_state = State::kShape;
        else if (m_state == State::kTensor && m_key == "data_offsets")
            m_state = State::kOffsets;
        else
            return refuse("an array");
        return true;
    }

    bool end_array() override {
        if (m_state == State::kOffsets && entries.back().offsets.size() != 2)
            return refuse("data_offsets that are not two numbers");
        m_state = State::kTensor;
        return true;
    }

    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception&) override {
        cause = "not JSON at byte " + std::to_string(8 + position);
        return false;
    }

private:
    enum class State { kBegin, kTop, kMetadata, kTensor, kShape, kOffsets, kEnd };

    void beginEntry() {
        m_members.clear();
        m_state = m_key == kMetadataName ? State::kMetadata : State::kTensor;
        if (m_state == State::kTensor)
            entries.emplace_back().tensor.name = m_key;
        m_key.clear();
    }

    bool refuse(const std::string& what) {
        const bool inTensor = m_state >= State::kTensor && m_state <= State::kOffsets;
        const std::string owner =
            inTensor ? "tensor \"" + entries.back().tensor.name + "\"" : "header";
        cause = owner + " has " + what;
        return false;
    }

    State m_state = State::kBegin;
    std::string m_key;
    std::set<std::string> m_names;
    std::set<std::string> m_members;
};

std::optional<uint64_t> bytesNeeded(const TensorView& tensor) {
    uint64_t bytes = safetensorsItemSize(tensor.dtype);
    for (const int64_t dimension : tensor.shape)
        if (__builtin_mul_overflow(bytes, uint64_t(dimension), &bytes))
            return std::nullopt;
    return bytes;
}

std::string faultOf(const Entry& entry, uint64_t expectedBegin, uint64_t dataBytes) {
    const uint64_t begin = entry.offsets[0], end = entry.offsets[1];
    if (entry.tensor.name.empty())
        return "has no name";
    if (safetensorsItemSize(entry.tensor.dtype) == 0)
        return "has the unknown dtype \"" + entry.tensor.dtype + "\"";
    if (begin > end || end > dataBytes)
        return "lies outside the file";
    if (begin != expectedBegin)
        return begin < expectedBegin ? "overlaps the one before" : "leaves a gap before it";
    if (bytesNeeded(entry.tensor) != end - begin)
        return "has a shape that does not fit its bytes";
    return {};
}

// Sets the views; returns what is wrong, if anything.
std::string placeTensors(std::vector<Entry>& entries, std::span<const std::byte> data) {
    std::ranges::sort(entries, {}, &Entry::offsets);
    uint64_t end = 0;
    for (Entry& entry : entries) {
        const std::string fault = faultOf(entry, end, data.size());
        if (!fault.empty())
            return "tensor \"" + entry.tensor.name + "\" " + fault;
        end = entry.offsets[1];
        entry.tensor.data = data.subspan(entry.offsets[0], end - entry.offsets[0]);
    }
    return end == data.size() ? "" : "bytes behind the last tensor";
}

} // namespace

size_t safetensorsItemSize(const std::string& dtype) {
    static const std::map<std::string, size_t> sizes = {{"BOOL", 1}, {"U8", 1},  {"F16", 2},
                                                        {"BF16", 2}, {"I32", 4}, {"F32", 4},
                                                        {"I64", 8},  {"F64", 8}};
    const auto found = sizes.find(dtype);
    return found != sizes.end() ? found->second : 0;
}

Result<std::pair<std::vector<TensorView>, TensorMetadata>>
parseSafetensors(std::span<const std::byte> file, const std::string& source) {
    const auto corrupt = [&](const std::string& cause) {
        return fail(ErrorCode::kCorrupt, "read " + source + ": " + cause);
    };
    if (file.size() < sizeof(uint64_t))
        return corrupt("too short for a safetensors file");
    const auto length = loadInt<uint64_t>(file);
    if (length > kMaxHeader || length > file.size() - sizeof(uint64_t))
        return corrupt(whyNotOfItsKind(file, "impossible header length " + std::to_string(length)));
    file = file.subspan(sizeof(uint64_t));
    HeaderReader reader;
    const auto* text = reinterpret_cast<const char*>(file.data());
    if (!Json::sax_parse(text, text + length, &reader))
        return corrupt(reader.cause);
    const std::string fault = placeTensors(reader.entries, file.subspan(length));
    if (!fault.empty())
        return corrupt(fault);
    std::vector<TensorView> tensors;
    for (Entry& entry : reader.entries)
        tensors.push_back(std::move(entry.tensor));
    return std::pair(std::move(tensors), std::move(reader.metadata));
}

} // namespace rm
