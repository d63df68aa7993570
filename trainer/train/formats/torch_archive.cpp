// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/formats/torch_archive.h"

#include "shared/io/bytes.h"
#include "shared/io/data_files.h"
#include "shared/return_if_error.h"
#include "trainer/train/formats/unpickle.h"
#include "trainer/train/session/cause.h"

#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <string_view>

namespace rm {
namespace {

using caffe2::serialize::PyTorchStreamReader;

/// The pickled integer 0x1950a86a20f9469cfc6c and the pickled version 1001, as
/// torch/serialization.py of any release writes them in its older form.
constexpr std::string_view kBegin{"\x80\x02\x8a\x0al\xfc\x9c"
                                  "F\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.",
                                  21};

/// Turns LibTorch's exceptions into errors about the file.
template <class Read>
Result<Weights> readCaught(const std::string& source, Read&& read) {
    try {
        return read();
    } catch (const std::bad_alloc&) {
        throw; // not the file's fault
    } catch (const std::exception& error) {
        return fail(ErrorCode::kCorrupt, "read " + source + ": " + causeOf(error));
    }
}

/// Reads the records of an archive up to a limit of bytes, and checks their checksums.
class Records {
public:
    Records(std::istream& in, std::string source, uint64_t maxBytes)
        : m_reader(&in)
        , m_source(std::move(source))
        , m_room(maxBytes) {}

    bool has(const std::string& name) { return m_reader.hasRecord(name); }

    Result<StorageBytes> read(const std::string& name) {
        const uint64_t wanted = m_reader.getRecordSize(name);
        if (wanted > m_room)
            return fail(ErrorCode::kExhausted, "read " + m_source + ": its record " + name +
                                                   " unpacks to " + std::to_string(wanted) +
                                                   " bytes, more than such a file should hold");
        m_room -= wanted;
        auto [data, size] = m_reader.getRecord(name);
        const auto owner = std::make_shared<at::DataPtr>(std::move(data));
        return StorageBytes{static_cast<const std::byte*>(owner->get()), size, owner};
    }

    /// Storages are read once each.
    Result<StorageBytes> storage(const std::string& key) {
        const auto known = m_storages.find(key);
        if (known != m_storages.end())
            return known->second;
        auto bytes = read("data/" + key);
        if (bytes)
            m_storages[key] = *bytes;
        return bytes;
    }

private:
    PyTorchStreamReader m_reader;
    std::string m_source;
    uint64_t m_room;
    std::map<std::string, StorageBytes> m_storages;
};

std::string_view textOf(const StorageBytes& bytes) {
    return {reinterpret_cast<const char*>(bytes.data), bytes.size};
}

Result<PlainPickle> pickleOf(Records& records, const std::string& source) {
    if (records.has("constants.pkl"))
        return fail(ErrorCode::kInvalid, "read " + source +
                                             ": a TorchScript module; save its state_dict() "
                                             "with torch.save() instead");
    if (records.has("byteorder")) {
        RM_ASSIGN_OR_RETURN(const auto order, records.read("byteorder"));
        if (textOf(order) != "little")
            return fail(ErrorCode::kInvalid,
                        "read " + source + ": written on a big-endian machine");
    }
    RM_ASSIGN_OR_RETURN(const auto pickle, records.read("data.pkl"));
    return toPlainPickle({pickle.data, pickle.size}, source);
}

/// Every text in a list, in order.
void collectTexts(const c10::IValue& value, std::vector<std::string>& texts) {
    if (value.isString())
        texts.push_back(value.toStringRef());
    else if (value.isTuple())
        for (const c10::IValue& part : value.toTupleRef().elements())
            collectTexts(part, texts);
    else if (value.isList())
        for (const c10::IValue& part : value.toListRef())
            collectTexts(part, texts);
}

/// Keys in the order in which their storages lie in `file`, each as u64 items and the items.
Result<std::map<std::string, StorageBytes>>
cutStorages(std::span<const std::byte> file, const std::vector<std::string>& keys,
            const std::map<std::string, size_t>& itemSizes, const std::string& source) {
    std::map<std::string, StorageBytes> found;
    for (const std::string& key : keys) {
        const auto itemSize = itemSizes.find(key);
        size_t size = 0;
        const bool counted = itemSize != itemSizes.end() && file.size() >= sizeof(uint64_t);
        if (!counted || __builtin_mul_overflow(loadInt<uint64_t>(file), itemSize->second, &size) ||
            size > file.size() - sizeof(uint64_t))
            return fail(ErrorCode::kCorrupt, "read " + source + ": storage " + key +
                                                 " is cut off or belongs to no tensor");
        file = file.subspan(sizeof(uint64_t));
        found[key] = {file.data(), size, nullptr};
        file = file.subspan(size);
    }
    return found;
}

/// The first pickle in `file`; afterwards `file` is the rest behind it.
Result<PlainPickle> nextPickle(std::span<const std::byte>& file, const std::string& source) {
    auto pickle = toPlainPickle(file, source);
    if (pickle)
        file = file.subspan(pickle->consumed);
    return pickle;
}

Result<Weights> readPickles(std::span<const std::byte> file, const std::string& source) {
    file = file.subspan(kBegin.size());
    RM_RETURN_IF_ERROR(nextPickle(file, source));
    RM_ASSIGN_OR_RETURN(const auto object, nextPickle(file, source));
    RM_ASSIGN_OR_RETURN(const auto order, nextPickle(file, source));
    const Unpickled unpickled = unpickle(object);
    std::vector<std::string> keys;
    collectTexts(unpickle(order).root, keys);
    RM_ASSIGN_OR_RETURN(const auto storages, cutStorages(file, keys, itemSizes(unpickled), source));
    const auto find = [&](const std::string& key) -> Result<StorageBytes> {
        const auto at = storages.find(key);
        if (at == storages.end())
            return fail(ErrorCode::kCorrupt, "read " + source + ": it has no storage " + key);
        return at->second;
    };
    auto weights = stateDictOf(unpickled, find, source);
    if (weights) // copied: the file may go, and items are not aligned
        for (Weight& tensor : *weights)
            tensor.tensor = tensor.tensor.clone();
    return weights;
}

Result<Weights> readArchive(Records& records, const std::string& source) {
    RM_ASSIGN_OR_RETURN(const auto pickle, pickleOf(records, source));
    return stateDictOf(
        unpickle(pickle), [&](const std::string& key) { return records.storage(key); }, source);
}

} // namespace

bool beginsAsTorchPickles(std::span<const std::byte> file) {
    const auto begin = std::as_bytes(std::span(kBegin));
    return file.size() >= begin.size() && std::equal(begin.begin(), begin.end(), file.begin());
}

Result<Weights> readTorchPickles(std::span<const std::byte> file, const std::string& source) {
    if (!beginsAsTorchPickles(file))
        return fail(ErrorCode::kCorrupt,
                    "read " + source + ": " + whyNotOfItsKind(file, "not a file of torch.save()"));
    return readCaught(source, [&] { return readPickles(file, source); });
}

Result<Weights> readTorchArchive(std::istream& in, const std::string& source, uint64_t maxBytes) {
    return readCaught(source, [&] {
        Records records(in, source, maxBytes);
        return readArchive(records, source);
    });
}

} // namespace rm
